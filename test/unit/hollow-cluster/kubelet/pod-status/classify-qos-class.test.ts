import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Container, ResourceRequirements } from '../../../../../src/machinery/api/pod.ts';
import { buildPodResources } from '../../../../../src/hollow-cluster/kubelet/pod-status/build-pod-resources.ts';
import {
  computeQosClass,
  classifyQosClass,
} from '../../../../../src/hollow-cluster/kubelet/pod-status/classify-qos-class.ts';
import { makePod } from '../../../../support/runtime-world.ts';

const container = (resources: ResourceRequirements, more: Partial<Container> = {}): Container => ({
  name: 'c',
  resources,
  ...more,
});
const both = { cpu: '1', memory: '1Gi' };

describe('the QoS class of a pod', () => {
  const rows: readonly [string, readonly Container[], string][] = [
    ['no requests or limits', [container({})], 'BestEffort'],
    ['only requests of other resources', [container({ requests: { 'ephemeral-storage': '1Gi' } })], 'BestEffort'],
    ['a request of 0', [container({ requests: { cpu: '0' } })], 'BestEffort'],
    ['equal limits and requests', [container({ requests: both, limits: both })], 'Guaranteed'],
    [
      'equal limits and requests in another notation',
      [container({ requests: { cpu: '1000m', memory: '1024Mi' }, limits: both })],
      'Guaranteed',
    ],
    ['one container has no limits', [container({ requests: both, limits: both }), container({})], 'Burstable'],
    ['only requests', [container({ requests: both })], 'Burstable'],
    ['only CPU', [container({ requests: { cpu: '1' }, limits: { cpu: '1' } })], 'Burstable'],
    ['requests below limits', [container({ requests: { ...both, cpu: '500m' }, limits: both })], 'Burstable'],
    ['limits without requests', [container({ limits: both })], 'Burstable'],
  ];
  for (const [title, containers, expected] of rows) {
    it(`${title}: ${expected}`, () => assert.equal(computeQosClass(makePod('web', { containers })), expected));
  }

  it('counts init containers too', () => {
    const containers = [container({ requests: both, limits: both })];
    assert.equal(computeQosClass(makePod('web', { containers, initContainers: [container({})] })), 'Burstable');
  });

  it('is the one that the API server has set', () => {
    assert.equal(classifyQosClass({ ...makePod('web'), status: { qosClass: 'Guaranteed' } }), 'Guaranteed');
    assert.equal(classifyQosClass(makePod('web')), 'BestEffort');
  });
});

describe('the resources of a pod', () => {
  it('are empty without requests and limits', () => assert.deepEqual(buildPodResources(makePod('web')), {}));

  it('are the sum over its containers, in the shortest notation', () => {
    const containers = [
      container({ requests: { cpu: '9000', memory: '512Mi' }, limits: { memory: '1Gi' } }),
      container({ requests: { cpu: '500m', memory: '512Mi' } }),
    ];
    assert.deepEqual(buildPodResources(makePod('web', { containers })), {
      requests: { cpu: '9000500m', memory: '1Gi' },
      limits: { memory: '1Gi' },
    });
    const big = makePod('big', { containers: [container({ requests: { cpu: '9000' } })] });
    assert.deepEqual(buildPodResources(big), { requests: { cpu: '9k' } });
  });

  it('are those of the largest init container with the sidecars before it, if that is more', () => {
    const pod = makePod('web', {
      containers: [container({ requests: { cpu: '1' } })],
      initContainers: [
        container({ requests: { cpu: '1' } }, { restartPolicy: 'Always' }),
        container({ requests: { cpu: '4', memory: '1Gi' } }),
        container({ requests: { cpu: '1' } }, { restartPolicy: 'Always' }),
      ],
    });
    assert.deepEqual(buildPodResources(pod), { requests: { cpu: '5', memory: '1Gi' } });
  });

  it('include the overhead, in limits only for resources with a limit', () => {
    const overhead = { cpu: '250m', memory: '64Mi' };
    const containers = [container({ requests: { cpu: '1' }, limits: { memory: '64Mi' } })];
    assert.deepEqual(buildPodResources(makePod('web', { containers, overhead })), {
      requests: { cpu: '1250m', memory: '64Mi' },
      limits: { memory: '128Mi' },
    });
  });
});
