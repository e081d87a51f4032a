import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Container, ResourceRequirements } from '../../../../src/api/pod.ts';
import { derivePodResources } from '../../../../src/kubelet/pod-status/derive-pod-resources.ts';
import { computeQosClass, deriveQosClass } from '../../../../src/kubelet/pod-status/derive-qos-class.ts';
import { makePod } from '../../../support/runtime-world.ts';

const container = (resources: ResourceRequirements, more: Partial<Container> = {}): Container => ({
  name: 'c',
  resources,
  ...more,
});
const both = { cpu: '1', memory: '1Gi' };

describe('the quality of service of a pod', () => {
  const rows: readonly [string, readonly Container[], string][] = [
    ['nothing is asked for', [container({})], 'BestEffort'],
    ['only what does not count is asked for', [container({ requests: { 'ephemeral-storage': '1Gi' } })], 'BestEffort'],
    ['zero is nothing', [container({ requests: { cpu: '0' } })], 'BestEffort'],
    ['limits and requests are the same', [container({ requests: both, limits: both })], 'Guaranteed'],
    [
      'the same in other words',
      [container({ requests: { cpu: '1000m', memory: '1024Mi' }, limits: both })],
      'Guaranteed',
    ],
    ['one container has no limits', [container({ requests: both, limits: both }), container({})], 'Burstable'],
    ['only requests', [container({ requests: both })], 'Burstable'],
    ['only CPU', [container({ requests: { cpu: '1' }, limits: { cpu: '1' } })], 'Burstable'],
    [
      'less is asked for than may be used',
      [container({ requests: { ...both, cpu: '500m' }, limits: both })],
      'Burstable',
    ],
    ['limits without requests', [container({ limits: both })], 'Burstable'],
  ];
  for (const [title, containers, expected] of rows) {
    it(`${title}: ${expected}`, () => {
      assert.equal(computeQosClass(makePod('web', { containers })), expected);
    });
  }

  it('counts init containers too', () => {
    const containers = [container({ requests: both, limits: both })];
    assert.equal(computeQosClass(makePod('web', { containers, initContainers: [container({})] })), 'Burstable');
  });

  it('is what the API server said, where it did', () => {
    assert.equal(deriveQosClass({ ...makePod('web'), status: { qosClass: 'Guaranteed' } }), 'Guaranteed');
    assert.equal(deriveQosClass(makePod('web')), 'BestEffort');
  });
});

describe('what a pod asks for as a whole', () => {
  it('is nothing where nobody asks for anything', () => {
    assert.deepEqual(derivePodResources(makePod('web')), {});
  });

  it('is the sum of its containers, told in the shortest words', () => {
    const containers = [
      container({ requests: { cpu: '9000', memory: '512Mi' }, limits: { memory: '1Gi' } }),
      container({ requests: { cpu: '500m', memory: '512Mi' } }),
    ];
    assert.deepEqual(derivePodResources(makePod('web', { containers })), {
      requests: { cpu: '9000500m', memory: '1Gi' },
      limits: { memory: '1Gi' },
    });
    const big = makePod('big', { containers: [container({ requests: { cpu: '9000' } })] });
    assert.deepEqual(derivePodResources(big), { requests: { cpu: '9k' } });
  });

  it('is the greediest init container with the sidecars before it, where that is more', () => {
    const pod = makePod('web', {
      containers: [container({ requests: { cpu: '1' } })],
      initContainers: [
        container({ requests: { cpu: '1' } }, { restartPolicy: 'Always' }),
        container({ requests: { cpu: '4', memory: '1Gi' } }),
        container({ requests: { cpu: '1' } }, { restartPolicy: 'Always' }),
      ],
    });
    assert.deepEqual(derivePodResources(pod), { requests: { cpu: '5', memory: '1Gi' } });
  });

  it('has the overhead on top, and limits only where there are any', () => {
    const overhead = { cpu: '250m', memory: '64Mi' };
    const containers = [container({ requests: { cpu: '1' }, limits: { memory: '64Mi' } })];
    assert.deepEqual(derivePodResources(makePod('web', { containers, overhead })), {
      requests: { cpu: '1250m', memory: '64Mi' },
      limits: { memory: '128Mi' },
    });
  });
});
