// The explanations of a controller in its small world.
import assert from 'node:assert/strict';
import { deriveNodeOutlook } from '../../../../src/controller/explain/derive-node-outlook.ts';
import { derivePodOutlook } from '../../../../src/controller/explain/derive-pod-outlook.ts';
import { deriveStatus } from '../../../../src/controller/explain/derive-status.ts';
import type { NodeOutlook, PodOutlook, StatusOutlook } from '../../../../src/controller/explain/outlook.ts';
import { LiveSnapshot } from '../../../../src/controller/snapshot.ts';
import type { ControllerWorld } from '../../../support/controller-world.ts';

export function snapshotOf(world: ControllerWorld): LiveSnapshot {
  const { options, controllers, podGc } = world;
  return new LiveSnapshot({
    options,
    controllers,
    podGc,
    stages: world.lifecycle.stages,
    informers: { nodes: world.nodes, leases: world.leases, pods: world.pods },
    leadership: { holds: () => world.leading },
    holder: () => (world.leading ? 'us' : 'them'),
    clock: world.clock,
  });
}

export function explainNode(world: ControllerWorld, name: string): NodeOutlook {
  const snapshot = snapshotOf(world);
  const facts = snapshot.node(name);
  assert.ok(facts, `node ${name} is known`);
  return deriveNodeOutlook(facts, snapshot.circumstances());
}

export function explainPod(world: ControllerWorld, name: string): PodOutlook {
  const snapshot = snapshotOf(world);
  const facts = snapshot.pod('default', name);
  assert.ok(facts, `pod ${name} is known`);
  return derivePodOutlook(facts, snapshot.circumstances());
}

export function statusOf(world: ControllerWorld): StatusOutlook {
  const snapshot = snapshotOf(world);
  return deriveStatus(snapshot.status(), snapshot.circumstances());
}
