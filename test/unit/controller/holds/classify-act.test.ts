import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Taint } from '../../../../src/machinery/api/taints.ts';
import type { Command } from '../../../../src/controller/model/commands.ts';
import { classifyAct } from '../../../../src/controller/holds/classify-act.ts';
import { aNodeView } from '../../../support/builders.ts';

function adding(...add: readonly Taint[]): Command {
  return { kind: 'change-taints', node: aNodeView({ name: 'n1' }), add, remove: [], lane: 'tainting' };
}

test('the NoExecute taints that evict for the health of the node are those of health and out-of-service', () => {
  const acts = { unreachable: 'add-no-execute', 'not-ready': 'add-no-execute', 'out-of-service': 'add-out-of-service' };
  for (const [key, act] of Object.entries(acts)) {
    const taint = { key: `node.kubernetes.io/${key}`, effect: 'NoExecute' };
    assert.deepEqual(classifyAct(adding(taint)), { node: 'n1', act }, key);
    assert.deepEqual(classifyAct(adding({ ...taint, effect: 'NoSchedule' }, taint)), { node: 'n1', act }, key);
  }
});

test('a NoSchedule taint and a removal evict nothing', () => {
  const taint = { key: 'node.kubernetes.io/unreachable', effect: 'NoSchedule' };
  assert.deepEqual(classifyAct(adding(taint)), { node: 'n1', act: 'add-no-schedule' });
  assert.deepEqual(classifyAct(adding()), { node: 'n1', act: 'remove-taints' });
  const kept = { key: 'nodelifecycle/flapping', effect: 'NoSchedule' };
  assert.deepEqual(classifyAct(adding(kept)), { node: 'n1', act: 'add-flapping-taint' });
});
