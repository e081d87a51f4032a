import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import type { ContainerStatus, Pod } from '../../../../../src/machinery/api/pod.ts';
import type { PodStatus } from '../../../../../src/hollow-cluster/kubelet/pod-status/build-api-status.ts';
import {
  buildTerminatedStatus,
  decideIllegalTransition,
} from '../../../../../src/hollow-cluster/kubelet/pod-status/build-next-status.ts';
import {
  agreesWith,
  diffStatusPatch,
  mergeApiStatus,
  semanticallyEqual,
} from '../../../../../src/hollow-cluster/kubelet/pod-status/diff-api-status.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';
import { MemoryApi } from '../../../../support/memory-api.ts';

const since = '2026-01-01T00:00:00Z';
const kubeletStatus: PodStatus = {
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
  it('is absent if the server has the same status, with or without empty fields', () => {
    const [container] = kubeletStatus.containerStatuses ?? [];
    const stored = { ...kubeletStatus, reason: '', containerStatuses: [{ ...container, lastState: {} }] } as PodStatus;
    assert.equal(diffStatusPatch(stored, kubeletStatus), undefined);
    assert.ok(agreesWith(stored, kubeletStatus));
  });

  it('sets empty resources once, and resets resources that are no longer requested', () => {
    const nothing: PodStatus = { ...kubeletStatus, resources: {} };
    assert.deepEqual(diffStatusPatch(kubeletStatus, nothing), { resources: {} });
    assert.equal(diffStatusPatch(nothing, nothing), undefined);
    const asking: PodStatus = { ...kubeletStatus, resources: { requests: { cpu: '1' } } };
    assert.deepEqual(diffStatusPatch(asking, nothing), { resources: null });
    assert.ok(agreesWith(kubeletStatus, nothing), 'it causes no further write');
  });

  it('resets changes of other clients: a condition, a reason, an address', () => {
    const stored = {
      ...kubeletStatus,
      reason: 'NodeLost',
      podIPs: [{ ip: '10.9.9.9' }],
      conditions: [{ type: 'Ready', status: 'False', reason: 'Lost', message: 'lost', lastTransitionTime: since }],
    };
    assert.deepEqual(diffStatusPatch(stored, kubeletStatus), {
      reason: null,
      '$setElementOrder/podIPs': [{ ip: '10.1.0.1' }],
      podIPs: [{ ip: '10.1.0.1' }, { $patch: 'delete', ip: '10.9.9.9' }],
      '$setElementOrder/conditions': [{ type: 'Ready' }],
      conditions: [{ type: 'Ready', status: 'True', reason: null, message: null }],
    });
  });

  it('does not touch fields that the kubelet does not own', () => {
    const stored = { ...kubeletStatus, nominatedNodeName: 'n2', qosClass: 'Burstable' } as PodStatus;
    assert.equal(diffStatusPatch(stored, kubeletStatus), undefined);
  });

  it('ignores times of conditions and conditions of other clients', () => {
    const later = {
      ...kubeletStatus,
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2027-01-01T00:00:00Z' }],
    };
    const more = { ...kubeletStatus, conditions: [...(kubeletStatus.conditions ?? []), { type: 'x', status: 'True' }] };
    for (const stored of [later, more]) {
      assert.equal(agreesWith(stored, kubeletStatus), true);
    }
    assert.equal(agreesWith({ ...kubeletStatus, conditions: [] }, kubeletStatus), false);
  });

  it('makes any stored status agree, and removes no condition of other clients', async () => {
    const text = fc.constantFrom('True', 'False', 'Unknown');
    const words = fc.option(fc.constantFrom('A', 'B'), { nil: undefined });
    const conditionOf = (type: string) =>
      fc.record({ type: fc.constant(type), status: text, reason: words, message: words });
    const anyStatus = fc.record(
      {
        phase: fc.constantFrom('Pending', 'Running'),
        reason: fc.constantFrom('NodeLost', 'Other'),
        hostIP: fc.constantFrom('10.0.0.1', '10.0.0.2'),
        conditions: fc.tuple(conditionOf('Ready'), conditionOf('Gate'), conditionOf('PodScheduled')),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(anyStatus, anyStatus, async (stored, wanted) => {
        const merged = mergeApiStatus({
          stored: stored as PodStatus,
          wanted: { ...kubeletStatus, ...(wanted as PodStatus) },
          mayRun: false,
          nowMs: 0,
        });
        const after = await patched(stored as PodStatus, merged);
        assert.ok(agreesWith(after, merged));
        assert.equal(diffStatusPatch(after, merged), undefined);
        const gate = (status: PodStatus) => status.conditions?.find(({ type }) => type === 'Gate');
        assert.ok(semanticallyEqual(gate(after), gate(stored as PodStatus)));
      }),
    );
  });
});

describe("the kubelet's status merged with that of the API server", () => {
  const disruption = { type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet' };
  const failed: PodStatus = {
    ...kubeletStatus,
    phase: 'Failed',
    reason: 'Evicted',
    conditions: [...(kubeletStatus.conditions ?? []), disruption],
  };

  it('contains DisruptionTarget together with the terminal phase, not before', () => {
    const alive = mergeApiStatus({ stored: kubeletStatus, wanted: failed, mayRun: true, nowMs: 0 });
    assert.deepEqual([alive.phase, alive.reason], ['Running', undefined]);
    assert.ok(!alive.conditions?.some(({ type }) => type === 'DisruptionTarget'));
    const ended = mergeApiStatus({ stored: kubeletStatus, wanted: failed, mayRun: false, nowMs: 0 });
    assert.deepEqual([ended.phase, ended.reason], ['Failed', 'Evicted']);
    const disruptionTarget = ended.conditions?.find(({ type }) => type === 'DisruptionTarget');
    assert.equal(disruptionTarget?.lastTransitionTime, '1970-01-01T00:00:00Z');
  });

  it('keeps a DisruptionTarget of another client', () => {
    const foreign = { type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' };
    const stored = { ...kubeletStatus, conditions: [foreign] };
    const merged = mergeApiStatus({ stored, wanted: kubeletStatus, mayRun: true, nowMs: 0 });
    assert.deepEqual(merged.conditions?.[0], foreign);
  });

  it('is not ready if the pod has succeeded', () => {
    const merged = mergeApiStatus({
      stored: kubeletStatus,
      wanted: { ...kubeletStatus, phase: 'Succeeded' },
      mayRun: false,
      nowMs: 0,
    });
    assert.deepEqual([merged.conditions?.[0]?.status, merged.conditions?.[0]?.reason], ['False', 'PodCompleted']);
  });
});

describe('the final status of a pod', () => {
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

  it('marks containers without an observed end as lost, if the pod was initialized', () => {
    const pod: Pod = { metadata: {}, spec: { initContainers: [{ name: 'i1' }, { name: 'i2' }, { name: 'i3' }] } };
    const inits = [named('i1', { terminated: { exitCode: 0 } }), named('i2', { running: {} }), named('i3')];
    const early = buildTerminatedStatus(
      pod,
      { phase: 'Pending', initContainerStatuses: inits, containerStatuses: [waiting] },
      false,
    );
    assert.deepEqual(reasons(early.initContainerStatuses), [undefined, 'ContainerStatusUnknown', undefined]);
    assert.deepEqual(reasons(early.containerStatuses), [undefined]);
    assert.equal(early.phase, 'Failed');
    const done = inits.map((status) => ({ ...status, state: { terminated: { exitCode: 0 } } }));
    const late = buildTerminatedStatus(
      pod,
      { phase: 'Pending', initContainerStatuses: done, containerStatuses: [waiting] },
      false,
    );
    assert.deepEqual(reasons(late.containerStatuses), ['ContainerStatusUnknown']);
  });

  it('has no times for a lost container', () => {
    const { containerStatuses } = buildTerminatedStatus({ metadata: {} }, { containerStatuses: [waiting] }, false);
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

  it('keeps the phase of a static pod, and a terminal phase', () => {
    const pod: Pod = { metadata: {}, spec: {} };
    assert.equal(buildTerminatedStatus(pod, { phase: 'Running' }, true).phase, 'Running');
    assert.equal(buildTerminatedStatus(pod, { phase: 'Succeeded' }, false).phase, 'Succeeded');
  });
});

describe('a restart of a terminated container', () => {
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
    it(`is ${legal ? 'legal' : 'illegal'} after exit code ${exitCode} with restart policy ${restartPolicy}`, () => {
      const pod: Pod = { metadata: {}, spec: { restartPolicy } };
      assert.equal(decideIllegalTransition(pod, ended(exitCode), alive), legal ? undefined : 'c');
    });
  }

  it('is legal for sidecars', () => {
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

/** The stored status after the patch from one status to the other. */
async function patched(stored: PodStatus, wanted: PodStatus): Promise<PodStatus> {
  const api = new MemoryApi(new ManualClock());
  const { signal } = new AbortController();
  const pod: Pod = { metadata: { name: 'p', namespace: 'd' }, status: stored };
  await api.create('pods', pod);
  const status = diffStatusPatch(stored, wanted);
  const patch = { type: 'strategic-merge', body: { status } } as const;
  if (status !== undefined) await api.patch('pods', { namespace: 'd', name: 'p' }, patch, { signal });
  const after: Pod | undefined = api.peek('pods', 'd/p');
  return after?.status ?? {};
}
