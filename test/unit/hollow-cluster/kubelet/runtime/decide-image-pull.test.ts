import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decideImagePull } from '../../../../../src/hollow-cluster/kubelet/runtime/decide-image-pull.ts';

describe('the pull of an image', () => {
  for (const { image = 'img:1', policy, present, missing } of [
    { policy: 'Always', present: 'pull', missing: 'pull' },
    { policy: 'IfNotPresent', present: 'use-present', missing: 'pull' },
    { policy: 'Never', present: 'use-present', missing: 'refuse' },
    { policy: undefined, present: 'use-present', missing: 'pull' },
    { image: 'img', policy: undefined, present: 'pull', missing: 'pull' },
    { image: 'reg:5000/img', policy: undefined, present: 'pull', missing: 'pull' },
    { image: 'reg:5000/img:latest', policy: undefined, present: 'pull', missing: 'pull' },
    { image: 'img@sha256:0', policy: undefined, present: 'use-present', missing: 'pull' },
    { image: 'img', policy: 'Never', present: 'use-present', missing: 'refuse' },
  ] as const) {
    it(`of ${image} with policy ${policy}: ${present} if it is present, ${missing} otherwise`, () => {
      const container = { name: 'c', image, ...(policy === undefined ? {} : { imagePullPolicy: policy }) };
      assert.deepEqual([decideImagePull(container, true), decideImagePull(container, false)], [present, missing]);
    });
  }
});
