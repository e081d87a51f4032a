import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AwaitedReplacements } from '../../../../src/controller/recovery-times/awaited-replacements.ts';
import { type PodView, transformPod } from '../../../../src/machinery/api/pod.ts';

const hourMs = 3_600_000;
const fault = { sinceMs: 0, cause: 'NodeFailure', policy: 'default' };

function aPod(uid: string, app: string): PodView {
  const conditions = [{ type: 'Ready', status: 'True' }];
  return transformPod({
    metadata: { name: uid, namespace: 'd', uid, labels: { app } },
    status: { phase: 'Running', conditions },
  });
}

test('a pod that is never replaced is given up after an hour, whatever else is evicted and created', () => {
  let replaced = 0;
  const awaited = new AwaitedReplacements(() => (replaced += 1));
  awaited.await(aPod('u-1', 'busy'), fault, 0);
  awaited.await(aPod('u-2', 'single'), fault, 0);
  awaited.await(aPod('u-3', 'busy'), fault, hourMs - 1_000);
  awaited.observe({ kind: 'added', key: 'd/u-9', object: aPod('u-9', 'other') }, hourMs + 1_000);
  assert.equal(awaited.size, 2, 'those of busy: the last one is not an hour old');
  awaited.observe({ kind: 'added', key: 'd/u-8', object: aPod('u-8', 'other') }, 2 * hourMs);
  assert.equal(awaited.size, 0);
  assert.equal(replaced, 0);
});
