import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import type { Pod } from '../../../../src/api/pod.ts';
import type { PodStatus } from '../../../../src/kubelet/pod-status/derive-pod-status.ts';
import { StatusManager } from '../../../../src/kubelet/pod-status/status-manager.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { MemoryApi } from '../../../support/memory-api.ts';
import { KeepingLogger } from '../../../support/quiet.ts';

const runningStatus: PodStatus = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
const succeededStatus: PodStatus = { phase: 'Succeeded', conditions: [{ type: 'Ready', status: 'False' }] };

describe('the status manager', () => {
  let clock: ManualClock;
  let api: MemoryApi;
  let manager: StatusManager;
  const { signal } = new AbortController();
  const name = { namespace: 'default', name: 'web' };

  const stored = (): Pod | undefined => api.peek('pods', 'default/web');
  const requests = (): readonly string[] =>
    api.requests.filter(({ resource }) => resource === 'pods').map(({ verb }) => verb);

  beforeEach(() => {
    clock = new ManualClock();
    api = new MemoryApi(clock);
    manager = new StatusManager({ api, clock, logger: new KeepingLogger(), passPeriodMs: 10_000 });
  });

  async function aPod(): Promise<Pod> {
    const pod: Pod = { metadata: name, spec: { nodeName: 'a' } };
    return await api.create('pods', pod);
  }

  async function deleted(pod: Pod): Promise<Pod> {
    await api.delete('pods', name, { uid: pod.metadata.uid ?? '', signal });
    return stored() ?? pod;
  }

  it('writes a new status once: a look and a patch that names the uid', async () => {
    const pod = await aPod();
    manager.set(pod, runningStatus, false);
    await manager.writePending(false, signal);
    assert.deepEqual(requests(), ['create', 'get', 'patch']);
    const body = JSON.stringify(api.requests.at(-1)?.body);
    assert.ok(body.includes(`"metadata":{"uid":"${pod.metadata.uid}"}`), body);
    assert.equal(stored()?.status?.phase, 'Running');
    manager.set(pod, runningStatus, false);
    await manager.writePending(false, signal);
    assert.equal(requests().length, 3);
    assert.equal(manager.pending, 0);
  });

  it('sends no patch where the server says so already', async () => {
    const pod = await aPod();
    manager.set(pod, runningStatus, false);
    await manager.writePending(false, signal);
    manager.forget(pod.metadata.uid ?? '');
    manager.set(stored() ?? pod, runningStatus, false);
    await manager.writePending(false, signal);
    assert.deepEqual(requests(), ['create', 'get', 'patch', 'get']);
  });

  it('keeps a write that failed, and repeats it', async () => {
    api.fail('patch', 'pods', 'timeout');
    manager.set(await aPod(), runningStatus, false);
    await manager.writePending(false, signal);
    assert.equal(manager.pending, 1);
    await manager.writePending(false, signal);
    assert.equal(manager.pending, 0);
    assert.equal(stored()?.status?.phase, 'Running');
  });

  it('leaves a pod alone that has taken over the name', async () => {
    const first = await aPod();
    await api.delete('pods', name, { uid: first.metadata.uid ?? '', gracePeriodSeconds: 0, signal });
    await aPod();
    manager.set(first, runningStatus, false);
    await manager.writePending(true, signal);
    assert.equal(stored()?.status, undefined);
    assert.equal(manager.pending, 0);
  });

  it('takes the object away when it is deleted and its end has come, and not before', async () => {
    const pod = await deleted(await aPod());
    manager.set(pod, runningStatus, false);
    await manager.writePending(false, signal);
    assert.ok(stored() !== undefined);
    manager.set(pod, succeededStatus, true);
    await manager.writePending(false, signal);
    assert.equal(stored(), undefined);
    assert.deepEqual(api.requests.at(-1)?.body, { uid: pod.metadata.uid, gracePeriodSeconds: 0 });
    manager.set(pod, succeededStatus, true);
    const before = requests().length;
    await manager.writePending(true, signal);
    assert.equal(requests().length, before);
  });

  it('keeps a pod that ended by itself until somebody deletes it', async () => {
    const pod = await aPod();
    manager.set(pod, succeededStatus, true);
    await manager.writePending(false, signal);
    assert.equal(stored()?.status?.phase, 'Succeeded');
    manager.set(
      { ...pod, metadata: { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } },
      succeededStatus,
      true,
    );
    assert.equal(manager.pending, 1);
  });

  it('repeats a deletion that failed', async () => {
    const pod = await deleted(await aPod());
    api.fail('delete', 'pods', 'unavailable');
    manager.set(pod, succeededStatus, true);
    await manager.writePending(false, signal);
    assert.equal(manager.pending, 1);
    await manager.writePending(false, signal);
    assert.equal(stored(), undefined);
  });

  it('repairs in a full pass what others wrote, and in no other', async () => {
    const pod = await aPod();
    manager.set(pod, runningStatus, false);
    await manager.writePending(false, signal);
    const body = { status: { conditions: [{ type: 'Ready', status: 'False' }] } };
    await api.patch('pods', name, { type: 'strategic-merge', body }, { signal });
    manager.set(stored() ?? pod, runningStatus, false);
    await manager.writePending(false, signal);
    assert.equal(stored()?.status?.conditions?.[0]?.status, 'False');
    await manager.writePending(true, signal);
    assert.equal(stored()?.status?.conditions?.[0]?.status, 'True');
  });
});
