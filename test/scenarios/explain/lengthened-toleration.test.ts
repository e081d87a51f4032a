import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describePodOutlook } from '../../../src/controller/report/text/describe-outlooks.ts';
import { explainPod } from '../../support/explained.ts';
import { aWorldOf } from '../../support/zoned-world.ts';

const tolerating = (tolerationSeconds: number) =>
  [{ key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds }] as const;

test('after a toleration was lengthened explain says which of the two times counts, and why', async () => {
  const world = aWorldOf(9, 3);
  world.addPod('p', 'n0', tolerating(300));
  await using _ = world.start();
  await world.silentFor(60, 'n0');
  assert.doesNotMatch(describePodOutlook(explainPod(world, 'p')), /counts/u);
  world.changePod('p', (pod) => ({ ...pod, spec: { ...pod.spec, tolerations: tolerating(900) } }));
  await world.advance(10);
  const outlook = explainPod(world, 'p');
  assert.equal(outlook.keepsEarlierDeadline, true);
  assert.match(
    describePodOutlook(outlook),
    /counts {5}the scheduled eviction, not the countdowns below: a toleration that became longer does not postpone it/u,
  );
  world.changePod('p', (pod) => ({ ...pod, spec: { ...pod.spec, tolerations: tolerating(200) } }));
  await world.advance(1);
  assert.equal(explainPod(world, 'p').keepsEarlierDeadline, false, 'a shorter one brings it forward');
});
