import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type NodeView, transformNode } from '../../../../src/machinery/api/node.ts';
import { type PodView, transformPod } from '../../../../src/machinery/api/pod.ts';
import { taintKeys } from '../../../../src/machinery/api/taints.ts';
import { EmptyingNodes } from '../../../../src/controller/policies/emptying-nodes.ts';
import { aPolicy } from '../../../support/builders.ts';

const policy = aPolicy({ name: 'pool', maxConcurrentEvictions: 2 });

interface NodeState {
  readonly tainted: boolean;
  readonly inPolicy: boolean;
  readonly pods: readonly ('plain' | 'daemon' | 'terminating')[];
}

class Stand {
  nowMs = 1_000;
  /** Questions for the pods of a node. */
  asked = 0;
  claims = policy;
  readonly states = new Map<string, NodeState>();
  readonly adding = new Map<string, number>();
  readonly emptying = new EmptyingNodes({
    options: { current: () => this.settings },
    policies: {
      claimsOf: (node) => (this.states.get(node)?.inPolicy === true ? [this.claims] : []),
      keeperOf: () => undefined,
    },
    nodes: { get: (name) => this.#node(name) },
    names: () => this.states.keys(),
    podsOn: (name) => {
      this.asked += 1;
      return (this.states.get(name)?.pods ?? []).map(aPod);
    },
    beingTainted: () => [{ next: 'of-status', nodes: this.adding }],
    clock: { nowMs: () => this.nowMs, monotonicMs: () => this.nowMs },
  });
  settings = { policies: [policy], nodeMonitorGracePeriodMs: 1, nodeStartupGracePeriodMs: 1, paused: false };

  set(name: string, state: NodeState): void {
    this.states.set(name, state);
    const node = this.#node(name);
    if (node !== undefined) this.emptying.note(node);
  }

  isHeld(name: string): boolean {
    const isHeld = this.emptying.fullFor(name) !== undefined;
    this.emptying.noteTaint(name, isHeld);
    return isHeld;
  }

  #node(name: string): NodeView | undefined {
    const state = this.states.get(name);
    if (state === undefined) return undefined;
    const taints = state.tainted ? [{ key: taintKeys.notReady, effect: 'NoExecute' }] : [];
    const conditions = [{ type: 'Ready', status: 'False' }];
    return transformNode({ metadata: { name, uid: name }, spec: { taints }, status: { conditions } });
  }
}

function aPod(kind: NodeState['pods'][number], place: number): PodView {
  return transformPod({
    metadata: {
      name: `p${place}`,
      namespace: 'd',
      uid: `u${place}`,
      ...(kind === 'terminating' ? { deletionTimestamp: '2026-11-23T12:00:00Z' } : {}),
    },
    spec: { nodeName: 'n', tolerations: kind === 'daemon' ? [{ operator: 'Exists' }] : [] },
  });
}

const full: NodeState = { tainted: true, inPolicy: true, pods: ['plain', 'daemon'] };
const waiting: NodeState = { ...full, tainted: false };

test('two nodes are being emptied: a third one waits, and a node of no policy does not', () => {
  const stand = new Stand();
  for (const name of ['a', 'b']) stand.set(name, full);
  stand.set('c', waiting);
  stand.set('d', { ...waiting, inPolicy: false });
  assert.deepEqual(
    ['a', 'c', 'd'].map((name) => stand.isHeld(name)),
    [false, true, false],
  );
  assert.deepEqual(stand.emptying.statuses(), [{ policy: 'pool', max: 2, nodes: ['a', 'b'] }]);
  assert.deepEqual(stand.emptying.fullFor('c'), { policy: 'pool', max: 2 });
  assert.equal(stand.emptying.fullFor('a'), undefined);
});

test('pods that terminate, and those that tolerate the taint for ever, do not count', () => {
  const stand = new Stand();
  stand.set('a', full);
  stand.set('b', { ...full, pods: ['daemon', 'terminating'] });
  stand.set('c', waiting);
  assert.equal(stand.isHeld('c'), false);
});

test('a write under way counts, and is not held itself', () => {
  const stand = new Stand();
  for (const name of ['a', 'b', 'c']) stand.set(name, waiting);
  assert.equal(stand.isHeld('a'), false);
  for (const name of ['a', 'b']) stand.adding.set(name, Infinity);
  assert.deepEqual(
    ['a', 'b', 'c'].map((name) => stand.isHeld(name)),
    [false, false, true],
  );
});

test('a change without an event is found at the next question, or after a minute', () => {
  const stand = new Stand();
  for (const name of ['a', 'b']) stand.set(name, full);
  stand.set('c', waiting);
  assert.equal(stand.isHeld('c'), true);
  stand.states.set('a', { ...full, pods: [] });
  stand.nowMs += 100;
  assert.equal(stand.isHeld('c'), false);
  stand.states.set('e', full);
  stand.nowMs += 60_000;
  assert.equal(stand.isHeld('c'), true);
});

test('whatever happens, a node is held exactly if as many others are being emptied as may be', () => {
  const state = fc.record({
    tainted: fc.boolean(),
    inPolicy: fc.boolean(),
    pods: fc.array(fc.constantFrom('plain', 'daemon', 'terminating'), { maxLength: 3 }),
  }) satisfies fc.Arbitrary<NodeState>;
  const name = fc.constantFrom('a', 'b', 'c', 'd', 'e');
  const step = fc.oneof(
    fc.record({ name, state }),
    fc.record({ name, adding: fc.boolean() }),
    fc.record({ name, gone: fc.constant(true) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const stand = new Stand();
      for (const one of steps) {
        stand.nowMs += 1_000;
        if ('state' in one) stand.set(one.name, one.state);
        else if ('gone' in one) {
          stand.states.delete(one.name);
          stand.emptying.forget(one.name);
        } else if (one.adding) stand.adding.set(one.name, Infinity);
        else stand.adding.delete(one.name);
        for (const asked of stand.states.keys()) assert.equal(stand.isHeld(asked), isExpected(stand, asked), asked);
      }
    }),
  );
});

function isExpected(stand: Stand, name: string): boolean {
  const { states, adding } = stand;
  const evicts = (each: string): boolean => states.get(each)?.pods.includes('plain') === true;
  const isOf = (each: string): boolean => states.get(each)?.inPolicy === true;
  const isTainted = (each: string): boolean => states.get(each)?.tainted === true;
  if (!isOf(name) || !evicts(name) || isTainted(name)) return false;
  const others = [...states.keys()].filter(
    (other) => other !== name && isOf(other) && evicts(other) && (isTainted(other) || adding.has(other)),
  );
  return others.length >= 2;
}

test('many questions of one moment cost as much as one for each set of policies', () => {
  const stand = new Stand();
  for (let place = 0; place < 300; place += 1) {
    stand.set(`drained-${place}`, { tainted: true, inPolicy: true, pods: ['terminating'] });
    stand.set(`waiting-${place}`, { tainted: false, inPolicy: true, pods: ['plain'] });
  }
  const isFull = stand.emptying.askFull();
  assert.equal(isFull('waiting-0'), false);
  stand.asked = 0;
  for (let place = 1; place < 300; place += 1) assert.equal(isFull(`waiting-${place}`), false);
  assert.ok(stand.asked < 300, `${stand.asked} questions for pods`);
  stand.set('busy-1', { tainted: true, inPolicy: true, pods: ['plain'] });
  stand.set('busy-2', { tainted: true, inPolicy: true, pods: ['plain'] });
  assert.equal(stand.emptying.askFull()('waiting-1'), true);
});

test('what is left to evict: pods that terminate count as begun only where fencing may end them', () => {
  const stand = new Stand();
  const drains = (pods: NodeState['pods'], tainted: boolean): string => {
    stand.set('n', { tainted, inPolicy: true, pods });
    return stand.emptying.drainOf('n');
  };
  assert.deepEqual([drains(['plain'], true), drains(['plain'], false)], ['begun', 'waiting']);
  assert.deepEqual(
    [drains([], true), drains(['daemon'], false), drains(['terminating'], true)],
    ['nothing', 'nothing', 'nothing'],
  );
  stand.claims = aPolicy({ name: 'pool', outOfService: { conditions: [], taints: [] } });
  assert.deepEqual([drains(['terminating'], true), drains(['terminating'], false)], ['begun', 'nothing']);
  assert.equal(stand.emptying.drainOf('gone'), 'nothing');
});
