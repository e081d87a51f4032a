// Texts of objects in the pages of explain: an object may contain line feeds, and what looks like lines about others.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeNodeOutlook, describePodOutlook } from '../../../src/controller/report/text/describe-outlooks.ts';
import { describeStatus } from '../../../src/controller/report/text/describe-status.ts';
import { aCondition, ControllerWorld } from '../../support/controller-world.ts';
import { controlsIn } from '../../support/control-characters.ts';
import { explainNode, explainPod, statusOf } from '../../support/explained.ts';
import { settled } from '../../support/manual-clock.ts';

const forged = 'False\nnode n2: Ready is True; not silent\n  next       nothing\u001b[2J\u009b\u202e';
const at = '2026-01-02T03:00:00Z';

test('a Ready status, a reason, an annotation and the phase of a pod with line feeds: no forged line, no control character', async () => {
  await using world = new ControllerWorld();
  world.addNode('n1', { zone: 'a' });
  world.addPod('p1', 'n1', []);
  world.renewing('n1');
  world.start();
  await settled();
  world.annotatePause('n1', forged);
  const node = world.node('n1');
  for (const status of ['False', forged]) {
    const ready = { ...aCondition('Ready', status, at), reason: forged };
    world.putNode({ ...node, status: { ...node.status, conditions: [ready] } });
    await settled();
  }
  world.changePod('p1', (pod) => ({ ...pod, status: { ...pod.status, phase: forged } as typeof pod.status & object }));
  await settled();
  const pages = [
    describeNodeOutlook(explainNode(world, 'n1')),
    describePodOutlook(explainPod(world, 'p1')),
    describeStatus(statusOf(world)),
  ];
  for (const page of pages) {
    assert.ok(
      page.split('\n').every((line) => !line.startsWith('node n2')),
      page,
    );
    assert.deepEqual(controlsIn(page), []);
  }
  assert.match(pages[0] ?? '', /^node n1: Ready is False\\nnode n2/u);
  assert.match(pages[1] ?? '', /^pod default\/p1: False\\nnode n2/u);
});
