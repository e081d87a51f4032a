import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeView } from '../../../../src/machinery/api/node.ts';
import { defaultControllerOptions } from '../../../../src/controller/model/options.ts';
import {
  NodePolicies,
  type PolicyOptions,
  selectMaintenanceSignals,
} from '../../../../src/controller/policies/node-policies.ts';
import { selectShortestGrace } from '../../../../src/controller/policies/policy-stage.ts';
import { aNodeView, aPolicy, inZone } from '../../../support/builders.ts';
import { formatTime } from '../../../../src/machinery/api/timestamps.ts';

const zone = (name: string): NodeView['labels'] => ({ 'topology.kubernetes.io/zone': name });

class Stand {
  readonly nodes = new Map<string, NodeView>();
  options: PolicyOptions = defaultControllerOptions;
  readonly policies = new NodePolicies({
    options: { current: () => this.options },
    nodes: { get: (name) => this.nodes.get(name) },
    isAlive: () => true,
    clock: { nowMs: () => 0, monotonicMs: () => 0 },
  });

  constructor() {
    for (const name of ['a', 'b']) this.put(name, zone(name));
  }

  put(name: string, labels: NodeView['labels']): void {
    this.nodes.set(name, aNodeView({ name, labels }));
  }
}

test('each change of labels or options is seen at the next call, without any event', () => {
  const stand = new Stand();
  assert.equal(stand.policies.current('a'), stand.options, 'without policies: the options themselves');
  stand.options = { ...stand.options, policies: [aPolicy({ nodeMonitorGracePeriodMs: 7 })] };
  assert.deepEqual(stand.policies.current('a'), { nodeMonitorGracePeriodMs: 7, nodeStartupGracePeriodMs: 60_000 });
  assert.equal(stand.policies.current('b').nodeMonitorGracePeriodMs, 50_000);
  stand.put('b', zone('a'));
  assert.equal(stand.policies.current('b').nodeMonitorGracePeriodMs, 7);
  stand.options = { ...stand.options, policies: [aPolicy({ nodeMonitorGracePeriodMs: 9 })] };
  assert.equal(stand.policies.current('b').nodeMonitorGracePeriodMs, 9);
  stand.options = { ...stand.options, nodeStartupGracePeriodMs: 1 };
  assert.equal(stand.policies.current('b').nodeStartupGracePeriodMs, 1);
});

test('what is remembered is bounded by the nodes that exist, and nothing without policies', () => {
  const stand = new Stand();
  const ask = (...names: readonly string[]): void => {
    for (const name of names) stand.policies.selectionOf(name);
  };
  ask('a', 'b', 'gone');
  assert.equal(stand.policies.size, 0);
  stand.options = { ...stand.options, policies: [aPolicy()] };
  ask('a', 'b', 'gone');
  assert.equal(stand.policies.size, 2);
  stand.nodes.delete('a');
  ask('a');
  assert.equal(stand.policies.size, 1);
  stand.policies.forget('b');
  assert.equal(stand.policies.size, 0);
  ask('b');
  stand.options = { ...stand.options, policies: [] };
  ask('b');
  assert.equal(stand.policies.size, 0);
});

test('a node that does not exist is held by a pause of all nodes only', () => {
  const stand = new Stand();
  stand.options = { ...stand.options, policies: [aPolicy({ mode: 'Observe', selector: inZone('a', 'b') })] };
  assert.equal(stand.policies.modeOf('a')?.mode, 'Observe');
  assert.equal(stand.policies.modeOf('gone'), undefined);
  stand.options = { ...stand.options, paused: true };
  assert.equal(stand.policies.modeOf('gone')?.mode, 'Paused');
});

test('of policies that claim a node equally the strictest mode holds, and the annotation where none does', () => {
  const stand = new Stand();
  const policies = [aPolicy({ mode: 'Observe' }), aPolicy({ name: 'other', mode: 'Paused' })];
  stand.options = { ...stand.options, policies };
  assert.equal(stand.policies.selectionOf('a').kind, 'conflict');
  assert.deepEqual(stand.policies.modeOf('a')?.mode, 'Observe');
  stand.options = { ...stand.options, policies: policies.map((policy) => ({ ...policy, mode: 'Enforce' as const })) };
  assert.equal(stand.policies.modeOf('a'), undefined);
  stand.nodes.set('a', aNodeView({ name: 'a', labels: zone('a'), pause: 'true' }));
  assert.equal(stand.policies.modeOf('a')?.source.kind, 'annotation');
});

test('two states of a node differ by their pause or their policy, not by other labels', () => {
  const stand = new Stand();
  const of = (labels: NodeView['labels'], pause?: string): NodeView =>
    aNodeView({ labels, ...(pause === undefined ? {} : { pause }) });
  assert.equal(stand.policies.differ(of(zone('a')), of(zone('b'))), false, 'no policies');
  assert.equal(stand.policies.differ(of({}), of({}, 'true')), true);
  stand.options = { ...stand.options, policies: [aPolicy()] };
  assert.equal(stand.policies.differ(of(zone('a')), of(zone('b'))), true);
  assert.equal(stand.policies.differ(of(zone('a')), of({ ...zone('a'), other: 'x' })), false);
});

test('the shortest monitor grace period of all policies; the same options where none is shorter', () => {
  const long = aPolicy({ nodeMonitorGracePeriodMs: 90_000, nodeStartupGracePeriodMs: 1 });
  const options = { ...defaultControllerOptions, policies: [long, aPolicy()] };
  assert.equal(selectShortestGrace(options), options);
  const short = { ...options, policies: [long, aPolicy({ nodeMonitorGracePeriodMs: 20_000 })] };
  assert.equal(selectShortestGrace(short).nodeMonitorGracePeriodMs, 20_000);
});

const wallMs = Date.parse('2026-01-02T03:00:00Z');
const at = (offsetMs: number): string => formatTime(wallMs + offsetMs);
const rule = { conditions: ['Drained'], taints: ['example.com/m'], maxDurationMs: 60_000 };

test('signals are True conditions and taints that the rule names, with their times', () => {
  const conditions = [
    { type: 'Drained', status: 'True', lastTransitionTime: at(0) },
    { type: 'DrainInProgress', status: 'True' },
  ];
  const taints = [
    { key: 'example.com/m', effect: 'NoSchedule', timeAdded: at(1_000) },
    { key: 'example.com/m', effect: 'NoExecute' },
    { key: 'example.com/other', effect: 'NoExecute' },
  ];
  assert.deepEqual(selectMaintenanceSignals(rule, { conditions, taints }), [
    { kind: 'condition', name: 'Drained', at: at(0) },
    { kind: 'taint', name: 'example.com/m', at: at(1_000) },
    { kind: 'taint', name: 'example.com/m', at: undefined },
  ]);
  for (const status of ['False', 'Unknown', 'true', ''])
    assert.deepEqual(selectMaintenanceSignals(rule, { conditions: [{ type: 'Drained', status }], taints: [] }), []);
});
