import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { evaluateResult } from './evaluate-result.ts';
import { givenFiles, evaluateFile, readDeviations, recordsFolder } from './run.ts';
import { runVector } from './run-vector.ts';

for (const file of givenFiles()) {
  test(`results of kube-controller-manager: ${basename(file, '.json')}`, async () => {
    const results = await evaluateFile(file, readDeviations());
    assert.ok(results.length > 0, 'no vector in the file');
    const failed = results.filter(({ result }) => result === 'failed').map(({ line }) => line);
    assert.deepEqual(failed, []);
  });
}

test('every deviation refers to an existing vector', () => {
  const ids = givenFiles().flatMap((file) => {
    return (JSON.parse(readFileSync(file, 'utf8')) as readonly { readonly id: string }[]).map(({ id }) => id);
  });
  const left = [...readDeviations().keys()].filter((id) => !ids.includes(id));
  assert.deepEqual(left, []);
});

test('every deviation is listed in its record, alone or with its whole area', () => {
  const unnamed = [...readDeviations()].filter(([id, record]) => {
    const text = readFileSync(join(recordsFolder, record), 'utf8');
    const area = id.slice(0, id.lastIndexOf('-'));
    return !text.includes(`\`${id}\``) && !text.includes(`all of \`${area}\``);
  });
  assert.deepEqual(unnamed, []);
});

test('every vector listed in a record deviates', () => {
  const deviations = readDeviations();
  const named = readdirSync(recordsFolder).flatMap((record) => {
    const text = readFileSync(join(recordsFolder, record), 'utf8');
    const [, list = ''] = text.split(/^Deviating vectors?:/mu);
    return [...list.matchAll(/`([\w.-]+-\d{3})`/gu)].map(([, id = '']) => [id, record] as const);
  });
  assert.ok(named.length > 0);
  const left = named.filter(([id, record]) => deviations.get(id) !== record);
  assert.deepEqual(left, []);
});

const healthy = {
  id: 'own-001',
  area: 'own',
  name: 'two nodes are registered',
  mode: 'taint',
  controller: 'node-lifecycle',
  given: {
    t0: '2017-01-01T12:00:00Z',
    nodes: [
      { name: 'a', conditions: [{ type: 'Ready', status: 'True', heartbeatAge: 0, transitionAge: 0 }] },
      { name: 'b', conditions: [{ type: 'Ready', status: 'False', heartbeatAge: 0, transitionAge: 0 }] },
    ],
  },
  when: { steps: [{ op: 'monitor' }, { op: 'noExecutePass' }] },
} as const;

function vectorWith(change: Readonly<Record<string, unknown>>, expected: unknown = { taintedCount: 1 }): unknown {
  // oxlint-disable-next-line unicorn/no-thenable -- a key of the format, not a function
  return Object.fromEntries([...Object.entries(healthy), ['then', expected], ...Object.entries(change)]);
}

test('a valid vector passes, and a changed number makes it fail', async () => {
  const right = { events: { RegisteredNode: 2 }, taintedCount: 1, readyStatus: { a: 'True' } };
  assert.deepEqual(await runVector(vectorWith({}, right)), []);
  const wrong = { ...right, events: { RegisteredNode: 3 } };
  assert.deepEqual(await runVector(vectorWith({}, wrong)), [
    'events: expected {"RegisteredNode":3}, found "RegisteredNode": 2',
  ]);
});

const invalid = [
  ['a key of given', { given: { ...healthy.given, weather: 'fine' } }, 'given.weather: unknown key'],
  ['a key of a node', { given: { nodes: [{ name: 'a', colour: 'red' }] } }, 'given.nodes[0].colour: unknown key'],
  ['a key of a flag', { given: { flags: { speed: 1 } } }, 'given.flags.speed: unknown key'],
  ['an operation', { when: { steps: [{ op: 'dance' }] } }, 'when.steps[0]: unknown op dance'],
  ['an argument', { when: { op: 'monitor', twice: true } }, 'when monitor.twice: unknown key'],
  ['a mode', { mode: 'quiet' }, 'mode: unknown value "quiet"'],
  ['a key of the vector', { colour: 'red' }, 'colour: unknown key'],
  ['a missing part', { when: undefined }, 'when has no op'],
] as const;

for (const [what, change, problem] of invalid) {
  test(`an invalid vector never passes: ${what}`, async () => {
    assert.deepEqual(await runVector(vectorWith(change)), [problem]);
  });
}

test('an unknown expectation is a failure', async () => {
  assert.deepEqual(await runVector(vectorWith({}, { happiness: 1 })), ['then.happiness: unknown key']);
  const late = { after: [{ step: 0, joy: 1 }] };
  assert.deepEqual(await runVector(vectorWith({}, late)), ['then.after[0].joy: unknown key']);
});

test('an expectation, operation or given that the world does not support is a failure', async () => {
  assert.deepEqual(await runVector(vectorWith({}, { outdated: true })), ['not supported: outdated']);
  assert.deepEqual(await runVector(vectorWith({ when: { steps: [{ op: 'monitor' }, { op: 'gc' }] } })), [
    'not supported: op gc for node-lifecycle',
  ]);
  assert.deepEqual(await runVector(vectorWith({ given: { ...healthy.given, threshold: 3 } })), [
    'not supported: given threshold for node-lifecycle',
  ]);
  assert.deepEqual(await runVector(vectorWith({}, { after: [{ step: 7, taintedCount: 9 }] })), ['no step 7']);
});

test('a deviation is accepted only while it exists and is recorded', () => {
  const deviations = new Map([['own-001', '0042-own.md']]);
  const trial = { vector: healthy, deviations, isRecorded: () => true };
  assert.equal(evaluateResult({ ...trial, failures: ['x'] }).result, 'deviating');
  assert.match(evaluateResult({ ...trial, failures: [] }).line, /must not list it/u);
  assert.equal(evaluateResult({ ...trial, failures: [] }).result, 'failed');
  assert.equal(evaluateResult({ ...trial, failures: ['x'], isRecorded: () => false }).result, 'failed');
  assert.equal(evaluateResult({ ...trial, failures: ['x'], deviations: new Map() }).result, 'failed');
  assert.equal(evaluateResult({ ...trial, failures: [], deviations: new Map() }).result, 'passed');
});

const longSilent = {
  ...healthy,
  mode: 'eviction-1.18',
  given: {
    t0: '2017-01-01T12:00:00Z',
    flags: { podEvictionTimeoutS: 300 },
    nodes: [
      { name: 'a', conditions: [{ type: 'Ready', status: 'True' }] },
      { name: 'b', conditions: [{ type: 'Ready', status: 'False' }] },
      { name: 'c', conditions: [{ type: 'Ready', status: 'False' }] },
    ],
    pods: [
      { name: 'on-a', nodeName: 'a' },
      { name: 'on-b', nodeName: 'b' },
      { name: 'on-c', nodeName: 'c' },
    ],
  },
} as const;

const allRenewed = {
  op: 'setNodeStatus',
  nodes: [
    { name: 'a', conditions: [{ type: 'Ready', status: 'True' }] },
    { name: 'b', conditions: [{ type: 'Ready', status: 'False', transitionAge: 301 }] },
    { name: 'c', conditions: [{ type: 'Ready', status: 'False', transitionAge: 301 }] },
  ],
} as const;

function longSilentWith(last: Readonly<Record<string, unknown>>, expected: unknown): unknown {
  const steps = [{ op: 'monitor' }, { op: 'advance', seconds: 301 }, allRenewed, { op: 'monitor' }, last];
  return vectorWith({ ...longSilent, when: { steps } }, expected);
}

test('in eviction mode a pass processes one node, and a drained queue all of them', async () => {
  const one = { deletedCount: 1, taintedCount: 0, metricDelta: { evictions_total: 1 } };
  assert.deepEqual(await runVector(longSilentWith({ op: 'evictionPass' }, one)), []);
  assert.deepEqual(await runVector(longSilentWith({ op: 'evictionPass' }, { deletedCount: 2 })), [
    'deletedCount: expected 2, found 1',
  ]);
  const all = { deleted: ['on-b', 'on-c'], neverDeleted: ['on-a'], podStatusReason: { 'on-b': 'NodeLost' } };
  assert.deepEqual(await runVector(longSilentWith({ op: 'drainQueueWithDeletePods' }, all)), []);
});

test('passes are repeated until the expectation holds, up to their maximum', async () => {
  const passes = (maxSeconds: number): unknown =>
    longSilentWith({ op: 'evictionPassUntil', maxSeconds }, { deletedCount: 2 });
  assert.deepEqual(await runVector(passes(60)), []);
  assert.deepEqual(await runVector(passes(9)), ['deletedCount: expected 2, found 1']);
});

test('earlier evictions of the vector are restored', async () => {
  const landing = { op: 'podEvent', old: null, new: { name: 'late', nodeName: 'b' } };
  const lands = (mark: string): unknown => {
    const change = { given: { ...longSilent.given, nodeEvictionStatus: { b: mark } }, when: landing };
    return vectorWith({ ...longSilent, ...change }, { podDeleted: { late: true } });
  };
  assert.deepEqual(await runVector(lands('evicted')), []);
  assert.deepEqual(await runVector(lands('unmarked')), ['podDeleted: expected {"late":true}, found "late": false']);
  assert.deepEqual(await runVector(lands('gone')), ['given.nodeEvictionStatus.b: unknown value "gone"']);
});

test('old spellings of taint keys are accepted', async () => {
  const tainted = (key: string): unknown =>
    vectorWith({ mode: 'taint-1.8' }, { taints: { b: { has: [{ key, effect: 'NoExecute' }] } } });
  assert.deepEqual(await runVector(tainted('node.alpha.kubernetes.io/notReady')), []);
  assert.equal((await runVector(tainted('node.alpha.kubernetes.io/unreachable'))).length, 1);
});
