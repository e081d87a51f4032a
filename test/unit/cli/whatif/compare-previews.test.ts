import assert from 'node:assert/strict';
import { test } from 'node:test';
import { controlsIn } from '../../../support/control-characters.ts';
import { comparePreviews } from '../../../../src/cli/whatif/compare-previews.ts';
import { describeWhatif } from '../../../../src/cli/whatif/describe-whatif.ts';
import type { ClusterPreview, NodePreview, PolicyPreview } from '../../../../src/cli/whatif/preview.ts';

const calm: NodePreview = {
  policy: null,
  conflict: [],
  mode: 'Enforce',
  gracePeriodSeconds: 50,
  earlyFromSeconds: null,
  zone: 'eu/a',
  ready: 'True',
  markedUnknown: 'later',
  unknownFrom: '2026-11-24T12:00:50Z',
  noExecute: 'none',
  outOfService: 'none',
  flapping: 'none',
  keptUntil: null,
  hold: null,
  podsEvicted: 0,
  podsHeld: 0,
  podsMarked: 0,
};
const due: NodePreview = { ...calm, ready: 'Unknown', markedUnknown: 'now', noExecute: 'added', podsEvicted: 3 };
const options = { atMs: Date.parse('2026-11-24T12:00:00Z'), all: false } as const;

function aPreview(nodes: Readonly<Record<string, NodePreview>>, over: Partial<ClusterPreview> = {}): ClusterPreview {
  return {
    nodes: new Map(Object.entries(nodes)),
    zones: new Map(),
    policies: new Map(),
    podsNotKept: null,
    fullDisruption: false,
    ...over,
  };
}

test('equal previews: nothing changes, and all is shown only on demand', () => {
  const preview = aPreview({ n: calm });
  const report = comparePreviews(preview, preview, options);
  assert.deepEqual([report.total, report.changedNodes, report.nodes], [1, 0, []]);
  assert.equal(comparePreviews(preview, preview, { ...options, all: true }).nodes.length, 1);
  assert.equal(
    describeWhatif(report),
    '0 of 1 nodes change at 2026-11-24T12:00:00Z: 0 marked Unknown; 0 NoExecute taints added, 0 held; pods marked NotReady 0 -> 0; pods evicted 0 -> 0, held 0 -> 0; 0 breakers open; 0 conflicts\n',
  );
});

test('a shorter grace period: nodes are marked and tainted at once, others are due sooner', () => {
  const now = aPreview({ a: calm, b: calm, c: { ...calm, unknownFrom: '2026-11-24T12:00:40Z' } });
  const then = aPreview({ a: due, b: { ...calm, unknownFrom: '2026-11-24T12:00:20Z' }, c: calm });
  const { effects, changedNodes } = comparePreviews(now, then, options);
  assert.equal(changedNodes, 3);
  assert.deepEqual(effects.markedUnknown, ['a']);
  assert.deepEqual(effects.unknownSooner, ['b']);
  assert.deepEqual(effects.unknownLater, ['c']);
  assert.deepEqual(effects.taintsAdded, ['a']);
  assert.deepEqual(effects.evictionsBegin, ['a']);
  assert.deepEqual(effects.podsEvicted, { before: 0, after: 3 });
});

test('where taints are added, the report says that their wait for other nodes is not predicted, and else it does not', () => {
  const text = (after: NodePreview): string =>
    describeWhatif(comparePreviews(aPreview({ n: calm }), aPreview({ n: after }), options));
  assert.match(text(due), /^ {2}not predicted: a taint that is added waits, for 5 minutes at most/mu);
  assert.doesNotMatch(text({ ...due, noExecute: 'held' }), /not predicted/u);
});

test('pods that are marked NotReady, or no longer, are an effect of their nodes', () => {
  const [some, none] = [
    { ...calm, podsMarked: 2 },
    { ...calm, podsMarked: 0 },
  ];
  const report = comparePreviews(
    aPreview({ a: none, b: some, c: some }),
    aPreview({ a: some, b: none, c: some }),
    options,
  );
  const { marksBegin, marksEnd, podsMarked } = report.effects;
  assert.deepEqual([marksBegin, marksEnd, podsMarked], [['a'], ['b'], { before: 4, after: 4 }]);
  const text = describeWhatif(report);
  assert.match(text, /^2 of 3 nodes change .*; pods marked NotReady 4 -> 4; /mu);
  assert.match(text, /^ {2}pods marked NotReady: a$/mu);
  assert.match(text, /^ {2}pods no longer marked NotReady: b$/mu);
  assert.match(text, /^ {2}a: pods marked NotReady 0 -> 2$/mu);
});

test('a breaker that opens: taints and evictions are held', () => {
  const held = { ...due, noExecute: 'held', podsEvicted: 0, podsHeld: 3 } as const;
  const breaker = { unhealthy: 2, limit: 1, open: true };
  const policy = { mode: 'Enforce', nodes: 2, conflicts: 0, breaker, flapping: null } as const;
  const idle = { ...policy, nodes: 0, breaker: null } as const;
  const policies = new Map<string, PolicyPreview>([
    ['batch', policy],
    ['typo', idle],
  ]);
  const then = aPreview({ n: held }, { policies });
  const report = comparePreviews(aPreview({ n: due }), then, options);
  assert.deepEqual(report.effects.taintsHeld, ['n']);
  assert.deepEqual(report.effects.evictionsHeld, ['n']);
  assert.deepEqual(report.effects.breakersOpen, ['batch']);
  assert.deepEqual(report.effects.policiesWithoutNodes, ['typo']);
  const text = describeWhatif(report);
  assert.match(text, /^ {2}NoExecute taint held or stopped: n$/mu);
  assert.match(text, /^ {2}policy matches no node: typo$/mu);
  assert.match(
    text,
    /^ {2}batch: new: mode Enforce; nodes 2; conflicts 0; breaker open \(2 unhealthy, limit 1\); flapping none$/mu,
  );
  assert.match(text, /^ {2}n: NoExecute taint added -> held; pods evicted 3 -> 0; pods held 0 -> 3$/mu);
});

test('a pause that ends releases evictions; a conflict is named', () => {
  const paused = { ...due, markedUnknown: 'held', noExecute: 'held', podsEvicted: 0, podsHeld: 3 } as const;
  const then = aPreview({ n: due, m: { ...calm, conflict: ['x', 'y'] } });
  const report = comparePreviews(aPreview({ n: paused, m: calm }), then, options);
  assert.deepEqual(report.effects.evictionsBegin, ['n']);
  assert.match(describeWhatif(report), /^ {2}no policy, because of a conflict: m \(x and y\)$/mu);
});

test('flapping nodes: those that are kept and released, and that recoveries so far are not known', () => {
  const kept = { ...calm, flapping: 'kept', keptUntil: '2026-11-24T12:10:00Z' } as const;
  const released = { ...calm, flapping: 'released' } as const;
  const policy = { mode: 'Enforce', nodes: 2, conflicts: 0, breaker: null, flapping: { kept: 1, limit: 2 } } as const;
  const before = aPreview(
    { a: kept, b: released, c: kept },
    { policies: new Map([['edge', { ...policy, flapping: null }]]) },
  );
  const after = aPreview({ a: released, b: kept, c: kept }, { policies: new Map([['edge', policy]]) });
  const report = comparePreviews(before, after, options);
  const { flappingKept, flappingReleased, recoveriesNotKnown } = report.effects;
  assert.deepEqual([flappingKept, flappingReleased, recoveriesNotKnown], [['b'], ['a'], ['edge']]);
  const text = describeWhatif(report);
  assert.match(text, /^ {2}flapping, kept from new pods: b$/mu);
  assert.match(text, /^ {2}flapping, released: a$/mu);
  assert.match(text, /^ {2}recoveries so far are not known, of policy: edge$/mu);
  assert.match(text, /^ {2}edge: flapping none -> 1 kept of at most 2$/mu);
  assert.match(text, /^ {2}b: flapping released -> kept until 2026-11-24T12:10:00Z$/mu);
});

test('a node under one configuration only does not break the comparison', () => {
  const report = comparePreviews(aPreview({ old: calm }), aPreview({}), options);
  assert.deepEqual([report.changedNodes, report.nodes[0]?.after], [1, null]);
});

test('names of nodes, zones and policies reach the terminal as escapes, and begin no line', () => {
  const name = 'n\u001b[2J\u009b\u202e\n9 of 9 nodes change';
  const now = aPreview({ [name]: calm });
  const then = aPreview({ [name]: { ...due, zone: name, policy: name } });
  const text = describeWhatif(comparePreviews(now, then, { ...options, all: true }));
  assert.deepEqual(controlsIn(text), []);
  assert.ok(!/^9 of 9/mu.test(text), text);
  assert.ok(text.includes('\\x1b[2J'), text);
});

test('of more nodes than are shown those with effects come first', () => {
  const names = Array.from({ length: 60 }, (_, index) => `n-${String(index).padStart(2, '0')}`);
  const now = aPreview(Object.fromEntries(names.map((name) => [name, calm])));
  const renamed = { ...calm, policy: 'pool' };
  const then = aPreview(Object.fromEntries(names.map((name) => [name, name === 'n-59' ? due : renamed])));
  const text = describeWhatif(comparePreviews(now, then, options));
  assert.match(text, /nodes:\n {2}n-59: /u);
  assert.match(text, /and 10 more: --output=json has all/u);
});
