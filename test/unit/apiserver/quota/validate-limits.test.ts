import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validateClaimLimits, validatePodLimits } from '../../../../src/apiserver/quota/validate-limits.ts';

const range = (...limits: readonly object[]) => ({ metadata: {}, spec: { limits } });
const container = (requests: object, limits: object = {}) => ({ name: 'c', resources: { requests, limits } });
const podOf = (containers: readonly object[], more: object = {}) => ({ metadata: {}, spec: { containers, ...more } });

test('bounds are compared in thousandths, and large ones as whole numbers', () => {
  const above = (cpu: string, max: string): number =>
    validatePodLimits(podOf([container({}, { cpu })]), range({ type: 'Container', max: { cpu: max } })).length;
  assert.equal(above('1001m', '1'), 1);
  assert.equal(above('1000100u', '1000900u'), 0, 'both are rounded up to 1001m');
  assert.equal(above('10000001u', '10'), 1);
  assert.equal(above('9999999999999999100m', '9999999999999999500m'), 0, 'as whole numbers both are the same');
});

test('init containers are limited as containers are, and count in the sums of pods', () => {
  const pod = podOf([container({ cpu: '1' }, { cpu: '1' })], {
    initContainers: [container({ cpu: '3' }, { cpu: '3' })],
  });
  const max = { cpu: '2' };
  assert.deepEqual(validatePodLimits(pod, range({ type: 'Container', max })), [
    'maximum cpu usage per Container is 2, but limit is 3',
  ]);
  assert.deepEqual(validatePodLimits(pod, range({ type: 'Pod', max })), [
    'maximum cpu usage per Pod is 2, but limit is 3',
  ]);
});

test('limits of the pod level replace those of containers, and the overhead does not count', () => {
  const pod = podOf([container({ cpu: '1' }, { cpu: '1' })], {
    resources: { requests: { cpu: '2' }, limits: { cpu: '2' } },
    overhead: { cpu: '5' },
  });
  assert.deepEqual(validatePodLimits(pod, range({ type: 'Pod', max: { cpu: '2' } })), []);
});

test('a limit below the minimum is a problem, and so is a request above the maximum', () => {
  const pod = podOf([container({ cpu: '3' }, { cpu: '1' })]);
  assert.deepEqual(validatePodLimits(pod, range({ type: 'Container', min: { cpu: '2' }, max: { cpu: '2' } })), [
    'minimum cpu usage per Container is 2, but limit is 1',
    'maximum cpu usage per Container is 2, but request is 3',
  ]);
});

test('only the limits of claims are those of claims', () => {
  const claim = { metadata: {}, spec: { resources: { requests: { storage: '1Gi' } } } };
  const limits = { type: 'PersistentVolumeClaim', max: { storage: '1Mi', 'example.com/iops': '1' } };
  assert.deepEqual(validateClaimLimits(claim, range({ ...limits, type: 'Container' })), []);
  assert.deepEqual(validateClaimLimits(claim, range(limits)), [
    'maximum storage usage per PersistentVolumeClaim is 1Mi, but request is 1Gi',
    'maximum example.com/iops usage per PersistentVolumeClaim is 1.  No request is specified',
  ]);
  assert.deepEqual(validatePodLimits(podOf([]), range(limits)), []);
});
