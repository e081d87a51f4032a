// Tolerations that compare a number (`Lt`, `Gt`): they exist only where the API server admits them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describePodOutlook } from '../../../src/controller/report/text/describe-outlooks.ts';
import { explainPod } from '../../support/explained.ts';
import { aWorldOf } from '../../support/zoned-world.ts';

const key = 'example.com/sla';

function tolerating(operator: 'Lt' | 'Gt', value: string, tolerationSeconds?: number): object {
  const forSeconds = tolerationSeconds === undefined ? {} : { tolerationSeconds };
  return { key, operator, value, effect: 'NoExecute', ...forSeconds };
}

test('a pod stays while the value of the taint is above its own, and goes when it is not', async () => {
  await using world = aWorldOf(9, 3);
  world.addPod('lenient', 'n0', [tolerating('Gt', '700')]);
  world.addPod('strict', 'n0', [tolerating('Gt', '900')]);
  world.addPod('below', 'n0', [tolerating('Lt', '900')]);
  world.addPod('for-a-minute', 'n0', [tolerating('Gt', '700', 60)]);
  world.addPod('unreadable', 'n0', [tolerating('Gt', '0700')]);
  world.start();
  world.setTaints('n0', [{ key, value: '800', effect: 'NoExecute' }]);
  await world.advance(30);
  assert.deepEqual([...world.evicted()].sort(), ['strict', 'unreadable']);
  assert.doesNotMatch(describePodOutlook(explainPod(world, 'lenient')), /not tolerated/);
  await world.advance(40);
  assert.deepEqual([...world.evicted()].sort(), ['for-a-minute', 'strict', 'unreadable']);
  world.setTaints('n0', [{ key, value: '650', effect: 'NoExecute' }]);
  await world.advance(30);
  assert.deepEqual([...world.evicted()].sort(), ['for-a-minute', 'lenient', 'strict', 'unreadable']);
});

test('a deletion that a pause holds is not made when the taint has a value meanwhile that the pod tolerates', async () => {
  await using world = aWorldOf(9, 3);
  world.addPod('lenient', 'n0', [tolerating('Gt', '700')]);
  world.addPod('strict', 'n0', [tolerating('Gt', '900')]);
  world.start();
  world.changeOptions({ paused: true });
  world.setTaints('n0', [{ key, value: '600', effect: 'NoExecute' }]);
  await world.advance(30);
  assert.deepEqual(world.evicted(), []);
  world.setTaints('n0', [{ key, value: '800', effect: 'NoExecute' }]);
  await world.advance(10);
  world.changeOptions({ paused: false });
  await world.advance(60);
  assert.deepEqual(world.evicted(), ['strict']);
});
