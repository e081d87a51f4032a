import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { judge } from './judge.ts';
import { givenFiles, judgeFile, readDeviations, recordsFolder } from './run.ts';
import { runVector } from './run-vector.ts';

for (const file of givenFiles()) {
  test(`the reference's answers: ${basename(file, '.json')}`, async () => {
    const verdicts = await judgeFile(file, readDeviations());
    assert.ok(verdicts.length > 0, 'no vector in the file');
    const failed = verdicts.filter(({ result }) => result === 'failed').map(({ line }) => line);
    assert.deepEqual(failed, []);
  });
}

test('every deviation names a vector that there is', () => {
  const ids = givenFiles().flatMap((file) => {
    return (JSON.parse(readFileSync(file, 'utf8')) as readonly { readonly id: string }[]).map(({ id }) => id);
  });
  assert.deepEqual(
    [...readDeviations().keys()].filter((id) => !ids.includes(id)),
    [],
  );
});

test('every deviation is named in its record, alone or with all of its area', () => {
  const unnamed = [...readDeviations()].filter(([id, record]) => {
    const text = readFileSync(join(recordsFolder, record), 'utf8');
    const area = id.slice(0, id.lastIndexOf('-'));
    return !text.includes(`\`${id}\``) && !text.includes(`all of \`${area}\``);
  });
  assert.deepEqual(unnamed, []);
});

test('every vector that a record names deviates', () => {
  const deviations = readDeviations();
  const named = readdirSync(recordsFolder).flatMap((record) => {
    const text = readFileSync(join(recordsFolder, record), 'utf8');
    const [, list = ''] = text.split(/^Deviating vectors?:/mu);
    return [...list.matchAll(/`([\w.-]+-\d{3})`/gu)].map(([, id = '']) => [id, record] as const);
  });
  assert.ok(named.length > 0);
  assert.deepEqual(
    named.filter(([id, record]) => deviations.get(id) !== record),
    [],
  );
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
  // oxlint-disable-next-line unicorn/no-thenable -- the format's own word, and no function
  return Object.fromEntries([...Object.entries(healthy), ['then', expected], ...Object.entries(change)]);
}

test('a vector that holds passes, and one number changed makes it fail', async () => {
  const right = { events: { RegisteredNode: 2 }, taintedCount: 1, readyStatus: { a: 'True' } };
  assert.deepEqual(await runVector(vectorWith({}, right)), []);
  const wrong = { ...right, events: { RegisteredNode: 3 } };
  assert.deepEqual(await runVector(vectorWith({}, wrong)), [
    'events: expected {"RegisteredNode":3}, found "RegisteredNode": 2',
  ]);
});

const strange = [
  ['a key of given', { given: { ...healthy.given, weather: 'fine' } }, 'given.weather: unknown key'],
  ['a key of a node', { given: { nodes: [{ name: 'a', colour: 'red' }] } }, 'given.nodes[0].colour: unknown key'],
  ['a key of a flag', { given: { flags: { speed: 1 } } }, 'given.flags.speed: unknown key'],
  ['an operation', { when: { steps: [{ op: 'dance' }] } }, 'when.steps[0]: unknown op dance'],
  ['an argument', { when: { op: 'monitor', twice: true } }, 'when monitor.twice: unknown key'],
  ['a mode', { mode: 'quiet' }, 'mode: unknown value "quiet"'],
  ['a key of the vector', { colour: 'red' }, 'colour: unknown key'],
  ['a missing part', { when: undefined }, 'when has no op'],
] as const;

for (const [what, change, problem] of strange) {
  test(`a strange vector never passes: ${what}`, async () => {
    assert.deepEqual(await runVector(vectorWith(change)), [problem]);
  });
}

test('an expectation that the format does not know is a failure', async () => {
  assert.deepEqual(await runVector(vectorWith({}, { happiness: 1 })), ['then.happiness: unknown key']);
  const late = { after: [{ step: 0, joy: 1 }] };
  assert.deepEqual(await runVector(vectorWith({}, late)), ['then.after[0].joy: unknown key']);
});

test('what is known but cannot be checked, done or taken up here is a failure', async () => {
  assert.deepEqual(await runVector(vectorWith({}, { outdated: true })), ['not supported: outdated']);
  assert.deepEqual(await runVector(vectorWith({ when: { steps: [{ op: 'monitor' }, { op: 'gc' }] } })), [
    'not supported: op gc for node-lifecycle',
  ]);
  assert.deepEqual(await runVector(vectorWith({ given: { ...healthy.given, threshold: 3 } })), [
    'not supported: given threshold for node-lifecycle',
  ]);
  assert.deepEqual(await runVector(vectorWith({}, { after: [{ step: 7, taintedCount: 9 }] })), ['there is no step 7']);
});

test('a deviation counts while it exists and is recorded, and no longer', () => {
  const deviations = new Map([['own-001', '0042-own.md']]);
  const trial = { vector: healthy, deviations, isRecorded: () => true };
  assert.equal(judge({ ...trial, failures: ['x'] }).result, 'deviating');
  assert.match(judge({ ...trial, failures: [] }).line, /no longer accounts for it/u);
  assert.equal(judge({ ...trial, failures: [] }).result, 'failed');
  assert.equal(judge({ ...trial, failures: ['x'], isRecorded: () => false }).result, 'failed');
  assert.equal(judge({ ...trial, failures: ['x'], deviations: new Map() }).result, 'failed');
  assert.equal(judge({ ...trial, failures: [], deviations: new Map() }).result, 'passed');
});

const longDark = {
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

const heardOfAll = {
  op: 'setNodeStatus',
  nodes: [
    { name: 'a', conditions: [{ type: 'Ready', status: 'True' }] },
    { name: 'b', conditions: [{ type: 'Ready', status: 'False', transitionAge: 301 }] },
    { name: 'c', conditions: [{ type: 'Ready', status: 'False', transitionAge: 301 }] },
  ],
} as const;

function longDarkWith(last: Readonly<Record<string, unknown>>, expected: unknown): unknown {
  const steps = [{ op: 'monitor' }, { op: 'advance', seconds: 301 }, heardOfAll, { op: 'monitor' }, last];
  return vectorWith({ ...longDark, when: { steps } }, expected);
}

test('in the older mode a pass serves one node, and a drained line all of them', async () => {
  const one = { deletedCount: 1, taintedCount: 0, metricDelta: { evictions_total: 1 } };
  assert.deepEqual(await runVector(longDarkWith({ op: 'evictionPass' }, one)), []);
  assert.deepEqual(await runVector(longDarkWith({ op: 'evictionPass' }, { deletedCount: 2 })), [
    'deletedCount: expected 2, found 1',
  ]);
  const all = { deleted: ['on-b', 'on-c'], neverDeleted: ['on-a'], podStatusReason: { 'on-b': 'NodeLost' } };
  assert.deepEqual(await runVector(longDarkWith({ op: 'drainQueueWithDeletePods' }, all)), []);
});

test('passes are repeated until what is expected holds, and no longer than they may', async () => {
  const passes = (maxSeconds: number): unknown =>
    longDarkWith({ op: 'evictionPassUntil', maxSeconds }, { deletedCount: 2 });
  assert.deepEqual(await runVector(passes(60)), []);
  assert.deepEqual(await runVector(passes(9)), ['deletedCount: expected 2, found 1']);
});

test('what eviction did before is taken up', async () => {
  const landing = { op: 'podEvent', old: null, new: { name: 'late', nodeName: 'b' } };
  const lands = (mark: string): unknown => {
    const change = { given: { ...longDark.given, nodeEvictionStatus: { b: mark } }, when: landing };
    return vectorWith({ ...longDark, ...change }, { podDeleted: { late: true } });
  };
  assert.deepEqual(await runVector(lands('evicted')), []);
  assert.deepEqual(await runVector(lands('unmarked')), ['podDeleted: expected {"late":true}, found "late": false']);
  assert.deepEqual(await runVector(lands('gone')), ['given.nodeEvictionStatus.b: unknown value "gone"']);
});

test('taint keys are read as they were spelled once', async () => {
  const tainted = (key: string): unknown =>
    vectorWith({ mode: 'taint-1.8' }, { taints: { b: { has: [{ key, effect: 'NoExecute' }] } } });
  assert.deepEqual(await runVector(tainted('node.alpha.kubernetes.io/notReady')), []);
  assert.equal((await runVector(tainted('node.alpha.kubernetes.io/unreachable'))).length, 1);
});
