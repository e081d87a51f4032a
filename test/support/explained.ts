// Explanations of a controller in a test world.
import assert from 'node:assert/strict';
import type { NodeOutlook } from '../../src/controller/report/pages.ts';
import type { PodOutlook } from '../../src/controller/report/pages.ts';
import type { StatusOutlook } from '../../src/controller/report/pages.ts';
import { LiveSnapshot } from '../../src/controller/report/snapshot.ts';
import { checkedPage } from './page-schema.ts';
import type { ControllerWorld } from './controller-world.ts';

export function snapshotOf(world: ControllerWorld): LiveSnapshot {
  return new LiveSnapshot({
    options: { current: () => world.options },
    controllers: world.controllers,
    podGc: { current: () => world.podGc },
    stages: world.lifecycle.stages,
    informers: { nodes: world.nodes, leases: world.leases, pods: world.pods },
    leadership: { holds: () => world.leading },
    holder: () => (world.leading ? 'this-replica' : 'other-replica'),
    clock: world.clock,
  });
}

export function explainNode(world: ControllerWorld, name: string): NodeOutlook {
  const outlook = snapshotOf(world).node(name);
  assert.ok(outlook, `node ${name} is known`);
  return isMalformed(outlook) ? outlook : checkedPage('/explain/nodes/NAME', outlook);
}

/** The page shows what a malformed object contains, whatever its type. */
function isMalformed({ problems }: Pick<NodeOutlook, 'problems'>): boolean {
  return problems.length > 0;
}

export function explainPod(world: ControllerWorld, name: string): PodOutlook {
  const outlook = snapshotOf(world).pod('default', name);
  assert.ok(outlook, `pod ${name} is known`);
  return isMalformed(outlook) ? outlook : checkedPage('/explain/pods/NAMESPACE/NAME', outlook);
}

export function statusOf(world: ControllerWorld): StatusOutlook {
  return checkedPage('/status', snapshotOf(world).status());
}
