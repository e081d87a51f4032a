import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildTable } from '../../../bench/side-by-side/build-table.ts';
import { formatMarkdown, formatText } from '../../../bench/side-by-side/format-table.ts';
import type { Figures } from '../../../bench/side-by-side/figures.ts';

const saturated = { values: [1], problems: ['API server saturated'] };
const upstream: Figures = {
  cpuPerHeartbeat: { values: [160, 170, 180], problems: [] },
  start: saturated,
  rss: saturated,
};
const nlc: Figures = {
  cpuPerHeartbeat: { values: [85, 85.1, 85.2], problems: [] },
  start: { values: [2], problems: [] },
  rss: saturated,
};
const table = buildTable(2_000, { 'kube-controller-manager': upstream, nlc }).filter(({ id }) =>
  ['cpuPerHeartbeat', 'start', 'rss'].includes(id),
);

test('the text has aligned columns; a range that rounds to one value is left out', () => {
  assert.equal(
    formatText(table),
    [
      '                     kube-controller-manager  nlc           ratio                target',
      'CPU per heartbeat    170 (160 to 180) µs      85 µs         0.50 (0.47 to 0.53)  ratio 0.25, missed',
      'RSS after warm-up    not reported             not reported  –                    ratio 0.3',
      'start to first pass  not reported             not reported  –                    –',
      'not reported (RSS after warm-up; start to first pass): kube-controller-manager: API server saturated',
      'not reported (RSS after warm-up): nlc: API server saturated',
    ].join('\n'),
  );
});

test('the markdown is a table with the reasons below', () => {
  assert.equal(
    formatMarkdown(table),
    [
      '| figure | kube-controller-manager | nlc | ratio | target |',
      '| --- | --- | --- | --- | --- |',
      '| CPU per heartbeat | 170 (160 to 180) µs | 85 µs | 0.50 (0.47 to 0.53) | ratio 0.25, missed |',
      '| RSS after warm-up | not reported | not reported | – | ratio 0.3 |',
      '| start to first pass | not reported | not reported | – | – |',
      '',
      '- not reported (RSS after warm-up; start to first pass): kube-controller-manager: API server saturated',
      '- not reported (RSS after warm-up): nlc: API server saturated',
    ].join('\n'),
  );
});
