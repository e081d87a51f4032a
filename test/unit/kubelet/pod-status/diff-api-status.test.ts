import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import type { ContainerStatus, Pod } from '../../../../src/api/pod.ts';
import type { PodStatus } from '../../../../src/kubelet/pod-status/derive-api-status.ts';
import { deriveTerminatedStatus } from '../../../../src/kubelet/pod-status/derive-terminated-status.ts';
import { sameMeaning } from '../../../../src/kubelet/pod-status/derive-same-meaning.ts';
import { agreesWith, deriveStatusPatch } from '../../../../src/kubelet/pod-status/diff-api-status.ts';
import { mergeApiStatus } from '../../../../src/kubelet/pod-status/merge-api-status.ts';
import { decideIllegalTransition } from '../../../../src/kubelet/pod-status/decide-transition.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { MemoryApi } from '../../../support/memory-api.ts';

const since = '2026-01-01T00:00:00Z';
const ours: PodStatus = {
  phase: 'Running',
  hostIP: '10.0.0.1',
  startTime: since,
  podIPs: [{ ip: '10.1.0.1' }],
  conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: since }],
  containerStatuses: [
    { name: 'a', ready: true, restartCount: 0, image: 'i', imageID: 'x', state: { running: { startedAt: since } } },
  ],
};

describe('the patch of a pod status', () => {
  it('is none where the server says the same, what is empty left out or not', () => {
    const [container] = ours.containerStatuses ?? [];
    const stored = { ...ours, reason: '', containerStatuses: [{ ...container, lastState: {} }] } as PodStatus;
    assert.equal(deriveStatusPatch(stored, ours), undefined);
    assert.ok(agreesWith(stored, ours, 'modern'));
  });

  it('says once that a pod asks for nothing, and takes back what it no longer asks for', () => {
    const nothing: PodStatus = { ...ours, resources: {} };
    assert.deepEqual(deriveStatusPatch(ours, nothing), { resources: {} });
    assert.equal(deriveStatusPatch(nothing, nothing), undefined);
    const asking: PodStatus = { ...ours, resources: { requests: { cpu: '1' } } };
    assert.deepEqual(deriveStatusPatch(asking, nothing), { resources: null });
    assert.ok(agreesWith(ours, nothing, 'modern'), 'it is no reason to write again');
  });

  it('takes back what others wrote: words of a condition, a reason, an address', () => {
    const stored = {
      ...ours,
      reason: 'NodeLost',
      podIPs: [{ ip: '10.9.9.9' }],
      conditions: [{ type: 'Ready', status: 'False', reason: 'Lost', message: 'lost', lastTransitionTime: since }],
    };
    assert.deepEqual(deriveStatusPatch(stored, ours), {
      reason: null,
      '$setElementOrder/podIPs': [{ ip: '10.1.0.1' }],
      podIPs: [{ ip: '10.1.0.1' }, { $patch: 'delete', ip: '10.9.9.9' }],
      '$setElementOrder/conditions': [{ type: 'Ready' }],
      conditions: [{ type: 'Ready', status: 'True', reason: null, message: null }],
    });
  });

  it('leaves fields alone that it does not know', () => {
    const stored = { ...ours, nominatedNodeName: 'n2', qosClass: 'Burstable' } as PodStatus;
    assert.equal(deriveStatusPatch(stored, ours), undefined);
  });

  it('finds no difference in times of conditions, nor in conditions of others, but in the classic style', () => {
    const later = {
      ...ours,
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2027-01-01T00:00:00Z' }],
    };
    const more = { ...ours, conditions: [...(ours.conditions ?? []), { type: 'x', status: 'True' }] };
    for (const stored of [later, more]) {
      assert.equal(agreesWith(stored, ours, 'modern'), true);
      assert.equal(agreesWith(stored, ours, 'classic'), false);
    }
    assert.equal(agreesWith({ ...ours, conditions: [] }, ours, 'modern'), false);
  });

  it('brings any server to agree, and takes no condition of others away', async () => {
    const text = fc.constantFrom('True', 'False', 'Unknown');
    const words = fc.option(fc.constantFrom('A', 'B'), { nil: undefined });
    const conditionOf = (type: string) =>
      fc.record({ type: fc.constant(type), status: text, reason: words, message: words });
    const anyStatus = fc.record(
      {
        phase: fc.constantFrom('Pending', 'Running'),
        reason: fc.constantFrom('NodeLost', 'Odd'),
        hostIP: fc.constantFrom('10.0.0.1', '10.0.0.2'),
        conditions: fc.tuple(conditionOf('Ready'), conditionOf('Gate'), conditionOf('PodScheduled')),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(anyStatus, anyStatus, async (stored, wanted) => {
        const merged = mergeApiStatus({
          stored: stored as PodStatus,
          ours: { ...ours, ...(wanted as PodStatus) },
          mayRun: false,
          nowMs: 0,
        });
        const after = await patched(stored as PodStatus, merged);
        assert.ok(agreesWith(after, merged, 'modern'));
        assert.equal(deriveStatusPatch(after, merged), undefined);
        const gate = (status: PodStatus) => status.conditions?.find(({ type }) => type === 'Gate');
        assert.ok(sameMeaning(gate(after), gate(stored as PodStatus)));
      }),
    );
  });
});

describe('our status joined with that of others', () => {
  const disruption = { type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet' };
  const failed: PodStatus = {
    ...ours,
    phase: 'Failed',
    reason: 'Evicted',
    conditions: [...(ours.conditions ?? []), disruption],
  };

  it('says why a pod was disrupted with its end, and not before', () => {
    const alive = mergeApiStatus({ stored: ours, ours: failed, mayRun: true, nowMs: 0 });
    assert.deepEqual([alive.phase, alive.reason], ['Running', undefined]);
    assert.ok(!alive.conditions?.some(({ type }) => type === 'DisruptionTarget'));
    const ended = mergeApiStatus({ stored: ours, ours: failed, mayRun: false, nowMs: 0 });
    assert.deepEqual([ended.phase, ended.reason], ['Failed', 'Evicted']);
    const told = ended.conditions?.find(({ type }) => type === 'DisruptionTarget');
    assert.equal(told?.lastTransitionTime, '1970-01-01T00:00:00Z');
  });

  it('leaves a disruption alone that somebody else has told of', () => {
    const theirs = { type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' };
    const stored = { ...ours, conditions: [theirs] };
    const merged = mergeApiStatus({ stored, ours, mayRun: true, nowMs: 0 });
    assert.deepEqual(merged.conditions?.[0], theirs);
  });

  it('calls nothing ready that has succeeded', () => {
    const merged = mergeApiStatus({ stored: ours, ours: { ...ours, phase: 'Succeeded' }, mayRun: false, nowMs: 0 });
    assert.deepEqual([merged.conditions?.[0]?.status, merged.conditions?.[0]?.reason], ['False', 'PodCompleted']);
  });
});

describe('the last status of a pod', () => {
  const waiting: ContainerStatus = {
    name: 'c',
    ready: false,
    restartCount: 0,
    image: 'i',
    imageID: '',
    state: { waiting: {} },
  };
  const named = (name: string, state: ContainerStatus['state'] = { waiting: {} }): ContainerStatus => ({
    ...waiting,
    name,
    state,
  });
  const reasons = (statuses: readonly ContainerStatus[] | undefined) =>
    statuses?.map(({ state }) => state?.terminated?.reason);

  it('says of containers that nobody saw ending that they are lost, once the pod was initialized', () => {
    const pod: Pod = { metadata: {}, spec: { initContainers: [{ name: 'i1' }, { name: 'i2' }, { name: 'i3' }] } };
    const inits = [named('i1', { terminated: { exitCode: 0 } }), named('i2', { running: {} }), named('i3')];
    const early = deriveTerminatedStatus(
      pod,
      { phase: 'Pending', initContainerStatuses: inits, containerStatuses: [waiting] },
      false,
    );
    assert.deepEqual(reasons(early.initContainerStatuses), [undefined, 'ContainerStatusUnknown', undefined]);
    assert.deepEqual(reasons(early.containerStatuses), [undefined]);
    assert.equal(early.phase, 'Failed');
    const done = inits.map((status) => ({ ...status, state: { terminated: { exitCode: 0 } } }));
    const late = deriveTerminatedStatus(
      pod,
      { phase: 'Pending', initContainerStatuses: done, containerStatuses: [waiting] },
      false,
    );
    assert.deepEqual(reasons(late.containerStatuses), ['ContainerStatusUnknown']);
  });

  it('knows no times of a lost container, and says so', () => {
    const { containerStatuses } = deriveTerminatedStatus({ metadata: {} }, { containerStatuses: [waiting] }, false);
    assert.deepEqual(containerStatuses?.[0]?.state, {
      terminated: {
        exitCode: 137,
        reason: 'ContainerStatusUnknown',
        message: 'The container could not be located when the pod was terminated',
        startedAt: null,
        finishedAt: null,
      },
    });
  });

  it('keeps the phase of a static pod, and an end that was told', () => {
    const pod: Pod = { metadata: {}, spec: {} };
    assert.equal(deriveTerminatedStatus(pod, { phase: 'Running' }, true).phase, 'Running');
    assert.equal(deriveTerminatedStatus(pod, { phase: 'Succeeded' }, false).phase, 'Succeeded');
  });
});

describe('the way back to life', () => {
  const ended = (exitCode: number): PodStatus => ({
    containerStatuses: [
      { name: 'c', ready: false, restartCount: 0, image: '', imageID: '', state: { terminated: { exitCode } } },
    ],
  });
  const alive: PodStatus = {
    containerStatuses: [{ name: 'c', ready: true, restartCount: 1, image: '', imageID: '', state: { running: {} } }],
  };

  for (const { restartPolicy, exitCode, legal } of [
    { restartPolicy: 'Always', exitCode: 0, legal: true },
    { restartPolicy: 'OnFailure', exitCode: 0, legal: false },
    { restartPolicy: 'OnFailure', exitCode: 1, legal: true },
    { restartPolicy: 'Never', exitCode: 0, legal: false },
    { restartPolicy: 'Never', exitCode: 1, legal: false },
  ]) {
    it(`is ${legal ? 'open' : 'closed'} after exit code ${exitCode} with restart policy ${restartPolicy}`, () => {
      const pod: Pod = { metadata: {}, spec: { restartPolicy } };
      assert.equal(decideIllegalTransition(pod, ended(exitCode), alive), legal ? undefined : 'c');
    });
  }

  it('is open to sidecars', () => {
    const pod: Pod = {
      metadata: {},
      spec: { restartPolicy: 'Never', initContainers: [{ name: 'c', restartPolicy: 'Always' }] },
    };
    const inits = (status: PodStatus): PodStatus => ({ initContainerStatuses: status.containerStatuses ?? [] });
    assert.equal(decideIllegalTransition(pod, inits(ended(0)), inits(alive)), undefined);
    assert.equal(
      decideIllegalTransition({ metadata: {}, spec: { restartPolicy: 'Never' } }, inits(ended(0)), inits(alive)),
      'c',
    );
  });
});

/** What the API server has after it was patched from one status to the other. */
async function patched(stored: PodStatus, wanted: PodStatus): Promise<PodStatus> {
  const api = new MemoryApi(new ManualClock());
  const { signal } = new AbortController();
  const pod: Pod = { metadata: { name: 'p', namespace: 'd' }, status: stored };
  await api.create('pods', pod);
  const status = deriveStatusPatch(stored, wanted);
  const patch = { type: 'strategic-merge', body: { status } } as const;
  if (status !== undefined) await api.patch('pods', { namespace: 'd', name: 'p' }, patch, { signal });
  const after: Pod | undefined = api.peek('pods', 'd/p');
  return after?.status ?? {};
}
