import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { buildTopFrame, buildTopTables, type Line, selectNodes } from '../../../../src/cli/top/build-top-frame.ts';
import type { TopState } from '../../../../src/cli/top/decide-key.ts';
import type { TopNode, TopView } from '../../../../src/cli/top/parse-top-view.ts';

const state: TopState = { sort: 'next', reversed: false, filter: '', editing: false, offset: 0 };
const now = { elapsedSeconds: 0 };

function node(name: string, changes: Partial<TopNode> = {}): TopNode {
  const base = { zone: 'z1', state: 'unreachable', sinceSeconds: 60, pods: 3, act: 'add-taint', inSeconds: 30 };
  return { name, ...base, holds: [], ...changes };
}

function viewOf(nodes: readonly TopNode[], changes: Partial<TopView> = {}): TopView {
  return {
    at: '2026-11-24T12:00:05.000000Z',
    leader: 'c-1_uuid',
    role: 'leading',
    mode: 'taint',
    holds: [],
    zones: [
      { name: 'z1', condition: 'normal', unready: 2, size: 9, ratePerSecond: 0.1, tokens: 1, waiting: 3 },
      { name: 'z2', condition: 'fully-disrupted', unready: 4, size: 4, ratePerSecond: 0, tokens: 0, waiting: 4 },
    ],
    nodes,
    nodesTotal: nodes.length,
    evictions: [{ pod: 'default/web', node: 'n1', inSeconds: 12 }],
    evictionsTotal: 7,
    ...changes,
  };
}

const text = (lines: readonly Line[]): string => lines.map((line) => line.text).join('\n');
const size = { columns: 120, rows: 30 };

test('a frame has as many lines as the terminal has rows, with zones, nodes, pods and the keys', () => {
  const frame = buildTopFrame(viewOf([node('n1'), node('n2')]), state, size, now);
  assert.equal(frame.length, 30);
  assert.match(text(frame), /^2026-11-24T12:00:05Z  leading  leader c-1_uuid  taint mode  by next\n/);
  assert.match(text(frame), /^z1 +normal +2\/9 +0\.1 +1\.0 +3 +20s$/m);
  assert.match(text(frame), /^z2 +fully-disrupted +4\/4 +0 +0\.0 +4 +stopped$/m);
  assert.match(text(frame), /^NODE \(2\) +ZONE +STATE +SINCE +PODS +NEXT +IN +HELD BY$/m);
  assert.match(text(frame), /^n1 +z1 +unreachable +60s +3 +add-taint +30s +-$/m);
  assert.match(text(frame), /^POD \(7 due\) +NODE +IN$/m);
  assert.match(text(frame), /^default\/web +n1 +12s$/m);
  assert.match(frame.at(-1)?.text ?? '', /^q quit/);
});

test('countdowns advance between two refreshes, and end at now', () => {
  const view = viewOf([node('n1', { inSeconds: 200, sinceSeconds: 100 })]);
  assert.match(text(buildTopFrame(view, state, size, { elapsedSeconds: 5 })), /^n1 .* 105s +3 +add-taint +3m15s/m);
  assert.match(text(buildTopFrame(view, state, size, { elapsedSeconds: 500 })), /^default\/web +n1 +now$/m);
});

test('an act without a time is held; holds are shown, at most three of the cluster', () => {
  const holds = ['one', 'two', 'three', 'four', 'five'];
  const view = viewOf([node('n1', { inSeconds: undefined, holds: ['paused', 'stale'] })], { holds });
  const frame = text(buildTopFrame(view, state, size, now));
  assert.match(frame, /add-taint +held +paused,stale$/m);
  assert.match(frame, /held: one\nheld: two\nheld: three\nheld: 2 more\n/);
  assert.match(text(buildTopTables(view, state, now)), /held: five\n/);
});

test('a problem is shown over the last pages', () => {
  const frame = buildTopFrame(viewOf([]), state, size, { elapsedSeconds: 9, problem: 'no response from pod nlc/c-1' });
  assert.deepEqual(frame[1], { text: 'no response from pod nlc/c-1', style: 'bad' });
});

test('nodes are in the chosen order, and only those that match the filter', () => {
  const nodes = [
    node('b', { inSeconds: 1, sinceSeconds: 5, zone: 'z2', state: 'tainted' }),
    node('a', { inSeconds: undefined, sinceSeconds: 50, state: 'unreachable' }),
    node('c', { inSeconds: 9, sinceSeconds: undefined, zone: 'z1', state: 'not-ready' }),
  ];
  const names = (changes: Partial<TopState>): string =>
    selectNodes(viewOf(nodes), { ...state, ...changes })
      .map(({ name }) => name)
      .join('');
  assert.deepEqual(
    [names({}), names({ sort: 'name' }), names({ sort: 'since' }), names({ sort: 'zone' }), names({ sort: 'state' })],
    ['bca', 'abc', 'abc', 'acb', 'cba'],
  );
  assert.equal(names({ sort: 'name', reversed: true }), 'cba');
  assert.equal(names({ filter: 'Z2' }), 'b');
  assert.equal(names({ filter: 'unreach' }), 'a');
});

test('scrolling leaves out the first nodes, and never all of them', () => {
  const nodes = Array.from({ length: 50 }, (_, index) => node(`n${String(index).padStart(2, '0')}`));
  const frame = (offset: number): string => text(buildTopFrame(viewOf(nodes), { ...state, offset }, size, now));
  assert.match(frame(0), /^n00 /m);
  assert.doesNotMatch(frame(10), /^n09 /m);
  assert.match(frame(10), /^n10 /m);
  assert.match(frame(1_000), /^n49 /m);
});

test('whatever names the cluster has and whatever size the terminal has, each line is printable ASCII within the size', () => {
  const hostile = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 300 }),
    fc.constant('\x1b]0;x\x07\x9b2J\u202e<script>'),
  );
  fc.assert(
    fc.property(
      hostile,
      hostile,
      fc.integer({ min: 0, max: 60 }),
      fc.integer({ min: 0, max: 200 }),
      (name, hold, rows, columns) => {
        const view = viewOf([node(name, { zone: hold, holds: [name] })], { holds: [hold], leader: name, at: hold });
        const frame = buildTopFrame(
          view,
          { ...state, filter: '' },
          { rows, columns },
          { elapsedSeconds: 1, problem: name },
        );
        assert.ok(frame.length <= rows || rows === 0);
        for (const line of frame) {
          assert.match(line.text, /^[\x20-\x7e]*$/);
          assert.ok(line.text.length <= columns);
        }
      },
    ),
  );
});

test('tables without a terminal contain every node and pod', () => {
  const nodes = Array.from({ length: 300 }, (_, index) => node(`n${index}`));
  const lines = buildTopTables(viewOf(nodes, { nodesTotal: 400 }), state, now);
  assert.equal(lines.filter((line) => /^n\d+ /.test(line.text)).length, 300);
  assert.match(text(lines), /^NODE \(300, 100 not read\)/m);
});
