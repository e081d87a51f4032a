import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseExplanation } from '../../../../src/dashboard/node-page/parse-explanation.ts';

test('a page of nlc explain has a title, labels with texts, and details', () => {
  const text = [
    'node n1: Ready is Unknown; silent for 12s',
    '  next       pod a is evicted: in about 3s',
    '  held       paused by the config file',
    '  held       the zone is stopped',
    '  evictions  1 scheduled, 0 predicted',
    '    default/a tolerates it for 300s',
    '  history',
    '    2026-11-24T12:00:00Z  the node is silent',
    '',
  ].join('\n');
  assert.deepEqual(parseExplanation(text), {
    title: 'node n1: Ready is Unknown; silent for 12s',
    rows: [
      { label: 'next', text: 'pod a is evicted: in about 3s', details: [] },
      { label: 'held', text: 'paused by the config file', details: [] },
      { label: 'held', text: 'the zone is stopped', details: [] },
      { label: 'evictions', text: '1 scheduled, 0 predicted', details: ['default/a tolerates it for 300s'] },
      { label: 'history', text: '', details: ['2026-11-24T12:00:00Z  the node is silent'] },
    ],
  });
});

test('an empty page, and a detail without a label', () => {
  assert.deepEqual(parseExplanation(''), { title: '', rows: [] });
  assert.deepEqual(parseExplanation('t\n    x').rows, []);
});
