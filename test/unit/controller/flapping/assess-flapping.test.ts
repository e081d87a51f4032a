import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeView } from '../../../../src/machinery/api/node.ts';
import { flappingTaintKey } from '../../../../src/machinery/api/taints.ts';
import { assessFlapping } from '../../../../src/controller/flapping/assess-flapping.ts';
import type { DueKeeping } from '../../../../src/controller/model/flapping.ts';

const nowMs = Date.parse('2026-11-24T12:00:00Z');
const taints: NodeView['taints'] = [{ key: flappingTaintKey, effect: 'NoSchedule' }];
const applied = {
  policy: 'p',
  rule: { recoveries: 3, withinMs: 1, initialMs: 1, maxMs: 3_600_000, budget: { percent: undefined, count: 1 } },
};
const due: DueKeeping = { level: 2, recoveries: 4, recoveredAtMs: 0, untilMs: 1 };

function until(time: string): string {
  return `{"level":1,"until":"2026-11-24T${time}Z"}`;
}

function kindOf(node: Partial<NodeView>, over: Partial<Parameters<typeof assessFlapping>[1]> = {}): string {
  return assessFlapping({ taints: [], ...node }, { applied, due: undefined, wallMs: nowMs, ...over }).kind;
}

const marked = { taints, flapping: until('12:05:00') };

/** The state of the node, what is known of it, and the result. */
const rows: readonly (readonly [string, Parameters<typeof kindOf>, string])[] = [
  ['a node without anything', [{}], 'none'],
  ['a node that is to be kept', [{}, { due }], 'due'],
  ['a kept node', [marked], 'kept'],
  ['its time has come', [{ taints, flapping: until('12:00:00') }], 'over'],
  ['the annotation was removed', [{ taints }], 'cleared'],
  ['the taint was removed', [{ flapping: until('12:05:00') }], 'cleared'],
  ['a malformed annotation', [{ taints, flapping: 'x' }], 'malformed'],
  ['an end within the maximum and what clocks differ', [{ taints, flapping: until('13:01:00') }], 'kept'],
  ['an end beyond it', [{ taints, flapping: until('13:01:01') }], 'too-long'],
  ['a kept node that recovered again', [marked, { due }], 'due'],
  ['the same at the end of its time', [{ taints, flapping: until('12:00:00') }, { due }], 'due'],
  ['a cleared node that recovered again', [{ taints }, { due }], 'cleared'],
  ['a malformed annotation of a node that recovered again', [{ taints, flapping: '' }, { due }], 'malformed'],
  ['a kept node without a policy', [marked, { applied: undefined }], 'no-rule'],
  ['a taint of a person without a policy', [{ taints }, { applied: undefined }], 'no-rule'],
  ['nothing, and no policy', [{}, { applied: undefined }], 'none'],
];

for (const [title, given, kind] of rows) {
  test(`${title}: ${kind}`, () => {
    assert.equal(kindOf(...given), kind);
  });
}
