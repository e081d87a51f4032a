import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { findCondition, listConditions } from '../../../../../src/machinery/api/conditions.ts';
import type { ContainerStatus, Pod } from '../../../../../src/machinery/api/pod.ts';
import { configAnnotations } from '../../../../../src/hollow-cluster/kubelet/pod-config/classify-pod.ts';
import { PodManager } from '../../../../../src/hollow-cluster/kubelet/pod-config/pod-manager.ts';
import type { PodStatus } from '../../../../../src/hollow-cluster/kubelet/pod-status/build-api-status.ts';
import { PodStatusManager } from '../../../../../src/hollow-cluster/kubelet/pod-status/pod-status-manager.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';
import { MemoryApi } from '../../../../support/memory-api.ts';
import { RecordingLogger } from '../../../../support/fakes.ts';

const secondMs = 1_000;
const running: ContainerStatus = {
  name: 'c',
  ready: true,
  restartCount: 0,
  image: 'i',
  imageID: 'x',
  state: { running: { startedAt: '2026-01-02T03:04:05Z' } },
};
const exited = (exitCode: number, message = ''): ContainerStatus => ({
  ...running,
  ready: false,
  state: { terminated: { exitCode, message } },
});
const runningStatus: PodStatus = {
  phase: 'Running',
  conditions: [{ type: 'Ready', status: 'True' }],
  containerStatuses: [running],
};
const failedStatus: PodStatus = {
  phase: 'Failed',
  conditions: [{ type: 'Ready', status: 'True' }],
  containerStatuses: [exited(1)],
};

describe('the pod status manager', () => {
  let clock: ManualClock;
  let api: MemoryApi;
  let pods: PodManager;
  let logger: RecordingLogger;
  let manager: PodStatusManager;
  let mayRun: boolean;
  const { signal } = new AbortController();

  const requests = (): readonly string[] =>
    api.requests.filter(({ resource, verb }) => resource === 'pods' && verb !== 'create').map(({ verb }) => verb);
  const stored = (name = 'web'): Pod | undefined => api.peek('pods', `default/${name}`);
  const ready = (pod: Pod | undefined) => findCondition(listConditions(pod?.status?.conditions), 'Ready');
  const patched = (): Record<string, unknown> => {
    const body = api.requests.findLast(({ verb }) => verb === 'patch')?.body as { status: Record<string, unknown> };
    return body.status;
  };

  function begin(): PodStatusManager {
    return new PodStatusManager({
      api,
      clock,
      logger,
      pods,
      passPeriodMs: 10 * secondMs,
      mayRun: () => mayRun,
    });
  }

  beforeEach(() => {
    clock = new ManualClock();
    api = new MemoryApi(clock);
    pods = new PodManager();
    logger = new RecordingLogger();
    mayRun = false;
    manager = begin();
  });

  async function aPod(name = 'web', spec: Pod['spec'] = {}): Promise<Pod> {
    const wanted: Pod = { metadata: { name, namespace: 'default' }, spec: { nodeName: 'n', ...spec } };
    const pod = await api.create('pods', wanted);
    pods.add(pod);
    return pod;
  }

  /** A client deletes it. */
  async function remove({ metadata: { uid = '' } }: Pod, gracePeriodSeconds?: number): Promise<void> {
    const grace = gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds };
    await api.delete('pods', { namespace: 'default', name: 'web' }, { uid, ...grace, signal });
  }

  /** The pod as the watch would deliver it: the API server's current one. */
  function seen(name = 'web'): Pod {
    const pod = stored(name);
    assert.ok(pod !== undefined);
    pods.add(pod);
    manager.noteChange();
    return pod;
  }

  async function others(status: PodStatus, name = 'web'): Promise<void> {
    await api.patch('pods', { namespace: 'default', name }, { type: 'strategic-merge', body: { status } }, { signal });
  }

  /** Runs for `ms`; requests of the setup are cleared. */
  async function run(ms: number, during: () => Promise<void> | void = () => {}): Promise<void> {
    const life = new AbortController();
    const running = manager.run(life.signal);
    await clock.advance(0);
    await during();
    await clock.advance(ms);
    life.abort();
    await running;
    assert.equal(clock.sleeping, 0);
  }

  it('writes a status that is set repeatedly once: one GET and one PATCH with the uid [F1]', async () => {
    const pod = await aPod();
    await run(30 * secondMs, () => {
      for (let time = 0; time < 5; time += 1) manager.set(pod, runningStatus);
    });
    assert.equal(manager.version(pod.metadata.uid ?? ''), 1);
    assert.deepEqual(requests(), ['get', 'patch']);
    const body = JSON.stringify(api.requests.at(-1)?.body);
    assert.ok(body.startsWith(`{"metadata":{"uid":"${pod.metadata.uid}"}`), body);
    assert.equal(manager.pending, 0);
  });

  it('ignores a status that differs only in the time of a condition [F2]', async () => {
    const pod = await aPod();
    manager.set(pod, runningStatus);
    await clock.advance(60 * secondMs);
    const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: '2030-01-01T00:00:00Z' }];
    manager.set(pod, { ...runningStatus, conditions });
    assert.equal(manager.version(pod.metadata.uid ?? ''), 1);
  });

  it('truncates times to seconds, so that a status does not always look changed [F3]', async () => {
    const pod = await aPod();
    const state = { running: { startedAt: '2026-01-02T03:04:05.123Z' } };
    const status = { ...runningStatus, containerStatuses: [{ ...running, state }] };
    await run(100 * secondMs, async () => {
      manager.set(pod, status);
      for (let pass = 0; pass < 10; pass += 1) {
        await clock.advance(10 * secondMs);
        seen();
        manager.set(pod, status);
      }
    });
    assert.equal(stored()?.status?.containerStatuses?.[0]?.state?.running?.startedAt, '2026-01-02T03:04:05Z');
    assert.deepEqual(requests(), ['get', 'patch']);
  });

  it('truncates termination messages to a share of 12 KiB each [F4]', async () => {
    const names = ['a', 'b', 'c'];
    const pod = await aPod('web', { containers: names.map((name) => ({ name })) });
    const containerStatuses = names.map((name) => ({ ...exited(1, 'é'.repeat(4_096)), name }));
    manager.set(pod, { phase: 'Failed', containerStatuses });
    for (const { state } of manager.status(pod.metadata.uid ?? '')?.containerStatuses ?? []) {
      assert.equal(Buffer.byteLength(state?.terminated?.message ?? ''), 4_096);
    }
  });

  it('keeps a transition time until the next transition [F5]', async () => {
    clock = new ManualClock(Date.parse('2026-01-02T10:00:00Z'));
    manager = begin();
    const pod = await aPod();
    const since = (): string | undefined => manager.status(pod.metadata.uid ?? '')?.conditions?.[0]?.lastTransitionTime;
    manager.set(pod, runningStatus);
    await clock.advance(300 * secondMs);
    manager.set(pod, { ...runningStatus, phase: 'Pending' });
    assert.equal(since(), '2026-01-02T10:00:00Z');
    await clock.advance(60 * secondMs);
    manager.set(pod, { ...runningStatus, conditions: [{ type: 'Ready', status: 'False' }] });
    assert.equal(since(), '2026-01-02T10:06:00Z');
  });

  it('drops a status that restarts a terminated container against the restart policy [F6]', async () => {
    const pod = await aPod('web', { restartPolicy: 'Never' });
    manager.set(pod, { phase: 'Running', containerStatuses: [exited(0)] });
    manager.set(pod, runningStatus);
    assert.equal(manager.version(pod.metadata.uid ?? ''), 1);
    assert.ok(logger.lines.some(({ level, fields }) => level === 'error' && fields['container'] === 'c'));
  });

  it('repeats a failed write with the next one, or with the next full pass [F7]', async () => {
    const [first, second] = [await aPod('first'), await aPod('second')];
    await run(20 * secondMs, async () => {
      api.fail('patch', 'pods', 'unavailable');
      manager.set(first, runningStatus);
      await clock.advance(2 * secondMs);
      assert.equal(manager.pending, 1);
      manager.set(second, runningStatus);
      await clock.advance(0);
      assert.equal(manager.pending, 0, 'the first was written with the second');
      api.fail('patch', 'pods', 'unavailable');
      manager.set(first, failedStatus);
      await clock.advance(7 * secondMs);
      assert.equal(stored('first')?.status?.phase, 'Running');
      await clock.advance(secondMs);
      assert.equal(stored('first')?.status?.phase, 'Failed');
    });
  });

  it('corrects changes of other clients at the next full pass, with the original transition time [F8]', async () => {
    const pod = await aPod();
    await run(40 * secondMs, async () => {
      manager.set(pod, runningStatus);
      await clock.advance(25 * secondMs);
      const since = ready(stored())?.lastTransitionTime;
      assert.ok(since !== undefined);
      seen();
      const conditions = [{ type: 'Ready', status: 'False', lastTransitionTime: '2030-01-01T00:00:00Z' }];
      await others({ conditions, reason: 'NodeLost' });
      seen();
      await clock.advance(4 * secondMs);
      assert.equal(ready(stored())?.status, 'False', 'not before the pass');
      await clock.advance(6 * secondMs);
      assert.deepEqual([ready(stored())?.status, ready(stored())?.lastTransitionTime], ['True', since]);
      assert.equal(stored()?.status?.reason, undefined);
    });
  });

  it('keeps the conditions of other clients in every patch [F9]', async () => {
    const pod = await aPod();
    const gate = { type: 'x', status: 'True', reason: 'Mine' };
    await others({ conditions: [gate] });
    await run(0, async () => {
      for (const phase of ['Running', 'Pending', 'Failed']) {
        manager.set(pod, { ...runningStatus, phase });
        await clock.advance(0);
        assert.equal(stored()?.status?.phase, phase);
        assert.deepEqual(findCondition(listConditions(stored()?.status?.conditions), 'x'), gate);
      }
    });
  });

  it('does not write to another pod with the same name, and forgets the old one [F10]', async () => {
    const pod = await aPod();
    await remove(pod, 0);
    pods.remove(pod);
    await aPod();
    manager.set(pod, runningStatus);
    await manager.writeAll(signal);
    assert.equal(stored()?.status, undefined);
    assert.equal(manager.status(pod.metadata.uid ?? ''), undefined);
  });

  it('does not write a terminal phase while something of the pod may run [F11]', async () => {
    const pod = await aPod();
    mayRun = true;
    await run(0, async () => {
      manager.set(pod, runningStatus);
      await clock.advance(0);
      manager.set(pod, { ...failedStatus, reason: 'Evicted', message: 'm' });
      await clock.advance(0);
      assert.deepEqual([stored()?.status?.phase, stored()?.status?.reason], ['Running', undefined]);
      mayRun = false;
      manager.terminate(pod);
      await clock.advance(0);
    });
    assert.deepEqual([stored()?.status?.phase, stored()?.status?.reason], ['Failed', 'Evicted']);
    assert.deepEqual([ready(stored())?.status, ready(stored())?.reason], ['False', 'PodFailed']);
  });

  it('writes the final status of a deleted pod before it deletes the object, with the uid [F12]', async () => {
    const pod = await aPod();
    await remove(pod);
    api.requests.length = 0;
    await run(0, async () => {
      const deleted = seen();
      manager.set(deleted, runningStatus);
      await clock.advance(0);
      assert.deepEqual(requests(), ['get', 'patch'], 'the worker has not finished');
      manager.set(deleted, failedStatus);
      manager.terminate(deleted);
      await clock.advance(0);
    });
    assert.deepEqual(requests(), ['get', 'patch', 'get', 'patch', 'delete']);
    assert.deepEqual(api.requests.at(-1)?.body, { uid: pod.metadata.uid, gracePeriodSeconds: 0 });
    assert.equal(stored(), undefined);
    assert.equal(manager.pending, 0);
  });

  it('repeats a failed deletion with the next full pass', async () => {
    const pod = await aPod();
    await remove(pod);
    await run(10 * secondMs, async () => {
      const deleted = seen();
      manager.set(deleted, failedStatus);
      api.fail('delete', 'pods', 'unavailable');
      manager.terminate(deleted);
      await clock.advance(0);
      assert.ok(stored() !== undefined);
      seen();
    });
    assert.equal(stored(), undefined);
  });

  it('does not write the status of a static pod without a mirror, and never deletes a mirror [F13]', async () => {
    const annotations = { [configAnnotations.source]: 'file', [configAnnotations.hash]: 'h' };
    const metadata = { name: 'web', namespace: 'default', uid: 'static', annotations };
    const pod: Pod = { metadata, spec: { nodeName: 'n' } };
    pods.add(pod);
    await run(10 * secondMs, async () => {
      manager.set(pod, runningStatus);
      await clock.advance(10 * secondMs);
      assert.deepEqual(requests(), []);
      assert.equal(manager.pending, 0);
      const mirrored = { ...annotations, [configAnnotations.source]: 'api', [configAnnotations.mirror]: 'h' };
      await api.create('pods', { ...pod, metadata: { ...metadata, annotations: mirrored } });
      seen();
      await clock.advance(9 * secondMs);
      assert.deepEqual(requests(), [], 'a new mirror causes no write before the full pass');
      await clock.advance(secondMs);
      assert.deepEqual(requests(), ['get', 'patch']);
      const uid = stored()?.metadata.uid;
      assert.ok(
        JSON.stringify(api.requests.at(-1)?.body).startsWith(JSON.stringify({ metadata: { uid } }).slice(0, -1)),
      );
      await api.delete('pods', { namespace: 'default', name: 'web' }, { uid: uid ?? '', signal });
      seen();
      manager.terminate(pod);
    });
    assert.equal(requests().filter((verb) => verb === 'delete').length, 1, 'only the deletion by the test');
  });

  it('reads each pod once after a restart, and writes only what differs [F15]', async () => {
    const many: Pod[] = [];
    for (let index = 0; index < 100; index += 1) many.push(await aPod(`p${index}`));
    for (const pod of many) manager.set(pod, runningStatus);
    await manager.writeNew(signal);
    await clock.advance(3_600 * secondMs);
    for (const { metadata } of many) seen(metadata.name);
    manager = begin();
    api.requests.length = 0;
    for (const pod of many) manager.set(pods.podByUid(pod.metadata.uid ?? '') ?? pod, runningStatus);
    await manager.writeNew(signal);
    assert.deepEqual([api.count('get', 'pods'), api.count('patch', 'pods')], [100, 0]);
    assert.ok(many.every((pod) => manager.version(pod.metadata.uid ?? '') === 1));
    assert.equal(manager.pending, 0);
  });

  it('marks a container without an observed end as lost, and its pod as failed [F16]', async () => {
    const pod = await aPod();
    manager.set(pod, runningStatus);
    manager.terminate(pod);
    await manager.writeNew(signal);
    const status = stored()?.status;
    assert.equal(status?.phase, 'Failed');
    const terminated = status?.containerStatuses?.[0]?.state?.terminated;
    assert.deepEqual([terminated?.exitCode, terminated?.reason], [137, 'ContainerStatusUnknown']);
  });

  it('patches only what differs, with the order of all conditions', async () => {
    const pod = await aPod();
    await others({ conditions: [{ type: 'x', status: 'True' }] });
    manager.set(pod, runningStatus);
    await manager.writeNew(signal);
    await clock.advance(secondMs);
    manager.set(pod, { ...runningStatus, conditions: [{ type: 'Ready', status: 'False', reason: 'R' }] });
    await manager.writeNew(signal);
    const lastTransitionTime = '2026-01-02T03:04:06Z';
    assert.deepEqual(patched(), {
      '$setElementOrder/conditions': [{ type: 'x' }, { type: 'Ready' }],
      conditions: [{ type: 'Ready', status: 'False', lastTransitionTime, reason: 'R' }],
    });
  });

  it('forgets pods that no source has', async () => {
    const pod = await aPod();
    manager.set(pod, runningStatus);
    manager.removeOrphans(new Set());
    await manager.writeAll(signal);
    assert.deepEqual(requests(), []);
  });
});
