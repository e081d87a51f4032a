import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import type { Pod } from '../../../../src/api/pod.ts';
import type { PodStatus } from '../../../../src/kubelet/pod-status/derive-pod-status.ts';
import { agreesWithApi, derivePodStatusPatch } from '../../../../src/kubelet/pod-status/diff-pod-status.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { MemoryApi } from '../../../support/memory-api.ts';

const ours: PodStatus = {
  phase: 'Running',
  hostIP: '10.0.0.1',
  startTime: '2026-01-01T00:00:00Z',
  conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }],
  containerStatuses: [{ name: 'a', ready: true, restartCount: 0, image: 'i', imageID: 'x', state: { running: {} } }],
};

describe('the patch of a pod status', () => {
  it('is empty when the server says the same and more', () => {
    const api = {
      ...ours,
      qosClass: 'BestEffort',
      conditions: [...(ours.conditions ?? []), { type: 'Gate', status: 'True' }],
    };
    assert.equal(derivePodStatusPatch(api, ours), undefined);
    assert.ok(agreesWithApi(api, ours));
  });

  it('takes back what others wrote: a condition with its words, and a reason', () => {
    const api = {
      ...ours,
      reason: 'NodeLost',
      conditions: [{ type: 'Ready', status: 'False', reason: 'Lost', message: 'node lost' }],
    };
    assert.deepEqual(derivePodStatusPatch(api, ours), {
      reason: null,
      message: null,
      '$setElementOrder/conditions': [{ type: 'Ready' }],
      conditions: [
        { reason: null, message: null, type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' },
      ],
    });
  });

  it('leaves the reason of an end alone', () => {
    const api = { ...ours, phase: 'Failed', reason: 'Evicted' };
    assert.ok(agreesWithApi(api, { ...ours, phase: 'Failed', reason: 'Evicted' }));
  });

  it('brings any server to agree, and takes no foreign condition away', async () => {
    const status = fc.constantFrom('True', 'False', 'Unknown');
    const words = fc.option(fc.constantFrom('A', 'B'), { nil: undefined });
    const conditionOf = (type: string) => fc.record({ type: fc.constant(type), status, reason: words, message: words });
    const anyStatus = fc.record(
      {
        phase: fc.constantFrom('Pending', 'Running'),
        reason: fc.constantFrom('NodeLost', 'Odd'),
        hostIP: fc.constantFrom('10.0.0.1', '10.0.0.2'),
        conditions: fc.tuple(conditionOf('Ready'), conditionOf('Gate'), conditionOf('PodScheduled')),
      },
      { requiredKeys: [] },
    );
    const ownStatus = fc.record({
      phase: fc.constantFrom('Pending', 'Running', 'Failed'),
      conditions: fc.tuple(conditionOf('PodScheduled'), conditionOf('Ready')),
    });
    await fc.assert(
      fc.asyncProperty(anyStatus, ownStatus, async (before, wanted) => {
        const api = new MemoryApi(new ManualClock());
        const wantedStatus: PodStatus = JSON.parse(JSON.stringify(wanted));
        const created: Pod = JSON.parse(JSON.stringify({ metadata: { name: 'p' }, status: before }));
        await api.create('pods', created);
        const body = { status: derivePodStatusPatch(created.status, wantedStatus) ?? {} };
        const { signal } = new AbortController();
        const patched: Pod = await api.patch('pods', { name: 'p' }, { type: 'strategic-merge', body }, { signal });
        assert.ok(agreesWithApi(patched.status, wantedStatus), JSON.stringify(patched.status));
        const gates = (status: Pod['status']) => (status?.conditions ?? []).filter(({ type }) => type === 'Gate');
        assert.deepEqual(gates(patched.status), gates(created.status));
      }),
    );
  });
});
