import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Taint } from '../../../../src/machinery/api/taints.ts';
import { decideNodeWork } from '../../../../src/controller/node-work/decide-node-work.ts';
import { aNodeView } from '../../../support/builders.ts';

const notReady = { key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' } as const;
const unlabelled = { 'kubernetes.io/os': 'linux' };
const pressure = { type: 'MemoryPressure', status: 'True' };

interface Evidence {
  readonly fullDisruption?: boolean;
  readonly needsAnnotation?: boolean;
  readonly taints?: readonly Taint[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
}

type Row = readonly [title: string, isHealthy: boolean, evidence: Evidence, work: readonly string[]];

const rows: readonly Row[] = [
  ['a healthy node', true, {}, ['recovery']],
  ['a healthy node without the older labels', true, { labels: unlabelled }, ['recovery', 'housekeeping']],
  ['a healthy node under memory pressure', true, { conditions: [pressure] }, ['recovery', 'housekeeping']],
  [
    'a healthy node that carries a health taint and lacks labels: the taint first',
    true,
    { labels: unlabelled, taints: [notReady] },
    ['recovery'],
  ],
  ['a healthy node whose annotation is to be removed', true, { needsAnnotation: true }, ['recovery', 'housekeeping']],
  ['an unhealthy node', false, {}, ['detection']],
  ['an unhealthy node without the older labels', false, { labels: unlabelled }, ['detection', 'housekeeping']],
  ['an unhealthy node while all zones are fully disrupted', false, { fullDisruption: true }, ['recovery', 'detection']],
];

for (const [title, isHealthy, { fullDisruption = false, needsAnnotation = false, ...node }, work] of rows)
  test(`${title}: ${work.join(', ')}`, () => {
    assert.deepEqual(decideNodeWork(aNodeView(node), { isHealthy, fullDisruption, needsAnnotation }), work);
  });
