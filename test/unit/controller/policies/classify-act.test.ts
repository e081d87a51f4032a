import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Taint } from '../../../../src/machinery/api/taints.ts';
import type { Command } from '../../../../src/controller/model/commands.ts';
import { classifyAct } from '../../../../src/controller/policies/classify-act.ts';
import { aNodeView } from '../../../support/builders.ts';

function adding(...add: readonly Taint[]): Command {
  return { kind: 'change-taints', node: aNodeView({ name: 'n1' }), add, remove: [], lane: 'tainting' };
}

test('the NoExecute taints that evict for the health of the node are those of health and out-of-service', () => {
  for (const key of ['unreachable', 'not-ready', 'out-of-service']) {
    const taint = { key: `node.kubernetes.io/${key}`, effect: 'NoExecute' };
    assert.deepEqual(classifyAct(adding(taint)), { node: 'n1', act: 'add-taints', evicts: true }, key);
  }
});

test('a NoSchedule taint and a removal evict nothing', () => {
  const taint = { key: 'node.kubernetes.io/unreachable', effect: 'NoSchedule' };
  assert.deepEqual(classifyAct(adding(taint)), { node: 'n1', act: 'add-taints', evicts: false });
  assert.deepEqual(classifyAct(adding()), { node: 'n1', act: 'remove-taints', evicts: false });
});
