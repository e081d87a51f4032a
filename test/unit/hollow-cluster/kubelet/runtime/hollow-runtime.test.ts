import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import type { Pod } from '../../../../../src/machinery/api/pod.ts';
import { type KillTarget, RuntimeFailure } from '../../../../../src/hollow-cluster/kubelet/runtime/pod-runtime.ts';
import { makePod, RuntimeWorld, targetOf } from '../../../../support/runtime-world.ts';

const web = makePod('web');
const uid = web.metadata.uid ?? '';

/** Starts killing; records when it was over, with which error, and the containers after that. */
function kill(world: RuntimeWorld, target: KillTarget, graceMs: number, signal = world.signal) {
  const startedAtMs = world.clock.monotonicMs();
  const outcome: { tookMs?: number; error?: string } = {};
  const done = world.runtime.killPod(target, graceMs, signal).then(
    () => {
      outcome.tookMs = world.clock.monotonicMs() - startedAtMs;
    },
    (error: unknown) => {
      outcome.error = error instanceof Error ? error.message : String(error);
    },
  );
  return { outcome, done };
}

let world: RuntimeWorld;
beforeEach(() => {
  world = new RuntimeWorld();
});

const exitCodeOf = (world: RuntimeWorld, pod: Pod, name = 'c'): number | undefined =>
  world.inspect(pod).containers.find((each) => each.name === name)?.exitCode;

const messages = (world: RuntimeWorld): readonly string[] => world.recorder.drafts.map(({ message }) => message);

describe('starting a pod', () => {
  it('pulls, creates and starts with the scripted durations, and records events [G1]', async () => {
    const world = new RuntimeWorld({ script: { pullMs: 200, startMs: 100 } });
    let done = false;
    const pass = world.runtime.syncPod(web, world.inspect(web), world.signal).then((outcome) => {
      done = true;
      return outcome;
    });
    await world.clock.advance(199);
    assert.deepEqual(world.reasons, ['Pulling']);
    assert.equal(world.stateOf(web), undefined);
    await world.clock.advance(100);
    assert.deepEqual(world.reasons, ['Pulling', 'Pulled', 'Created']);
    assert.deepEqual([world.stateOf(web), done], ['created', false]);
    await world.clock.advance(1);
    assert.deepEqual([world.stateOf(web), done], ['running', true]);
    assert.deepEqual(await pass, { waiting: [], backoffEndsAtMs: undefined, failure: undefined });
    assert.deepEqual(world.reasons, ['Pulling', 'Pulled', 'Created', 'Started']);
    assert.deepEqual(messages(world), [
      'Pulling image "img:1"',
      'Successfully pulled image "img:1" in 200ms (200ms including waiting). Image size: 1000000 bytes.',
      'Container created',
      'Container started',
    ]);
    assert.deepEqual(world.recorder.drafts[2]?.about, {
      apiVersion: 'v1',
      kind: 'Pod',
      namespace: 'ns',
      name: 'web',
      uid,
      fieldPath: 'spec.containers{c}',
    });
  });

  it('derives ids from pod, sandbox, container and attempt, and assigns each pod an address', async () => {
    await world.sync(web);
    await world.sync(makePod('db'));
    await world.sync(makePod('host', { hostNetwork: true }));
    const status = world.inspect(web);
    const seen = status.containers.map(({ id, kind, restartCount }) => `${id} ${kind} ${restartCount}`);
    assert.deepEqual(seen, ['web_ns_web-uid_0_c_0 container 0', 'web_ns_web-uid_0 sandbox 0']);
    assert.deepEqual(status.ips, ['10.128.0.1']);
    assert.deepEqual(world.inspect(makePod('db')).ips, ['10.128.0.2']);
    assert.deepEqual(world.inspect(makePod('host', { hostNetwork: true })).ips, []);
    assert.equal(world.host.list().length, 3);
  });

  it('does not pull a present image', async () => {
    world.host.addImage('img:1', 1);
    await world.sync(web);
    assert.deepEqual(messages(world).slice(0, 2), [
      'Container image "img:1" already present on machine and can be accessed by the pod',
      'Container created',
    ]);
  });

  it('pulls a present image if the policy or the tag requires it, and never with policy Never', async () => {
    for (const image of ['img', 'img:latest', 'reg:5000/img', 'img:1', 'img@sha256:0']) world.host.addImage(image, 1);
    const reasonOf = async (image: string, imagePullPolicy?: string): Promise<string | undefined> => {
      const policy = imagePullPolicy === undefined ? {} : { imagePullPolicy };
      const before = world.reasons.length;
      await world.sync(makePod(`p${before}`, { containers: [{ name: 'c', image, ...policy }] }));
      return world.reasons[before];
    };
    assert.equal(await reasonOf('img'), 'Pulling');
    assert.equal(await reasonOf('img:latest'), 'Pulling');
    assert.equal(await reasonOf('reg:5000/img'), 'Pulling');
    assert.equal(await reasonOf('img:1'), 'Pulled');
    assert.equal(await reasonOf('img@sha256:0'), 'Pulled');
    assert.equal(await reasonOf('img:1', 'Always'), 'Pulling');
    assert.equal(await reasonOf('other:1', 'Never'), 'ErrImageNeverPull');
  });

  it('runs init containers one after another, and the others when all have succeeded [G2]', async () => {
    const pod = makePod(
      'staged',
      {
        initContainers: [
          { name: 'i1', image: 'img:1' },
          { name: 'i2', image: 'img:1' },
        ],
      },
      { 'hollow-kubelet/exit-after.i1': '3s', 'hollow-kubelet/exit-after.i2': '4s' },
    );
    await world.sync(pod);
    await world.sync(pod);
    assert.deepEqual([world.stateOf(pod, 'i1'), world.stateOf(pod, 'i2')], ['running', undefined]);
    await world.clock.advance(3_000);
    await world.sync(pod);
    assert.deepEqual([world.stateOf(pod, 'i1'), world.stateOf(pod, 'i2')], ['exited', 'running']);
    assert.equal(world.stateOf(pod), undefined);
    await world.clock.advance(4_000);
    await world.sync(pod);
    assert.equal(world.stateOf(pod), 'running');
    const fields = world.recorder.drafts
      .filter(({ reason }) => reason === 'Started')
      .map(({ about }) => about.fieldPath);
    assert.deepEqual(fields, ['spec.initContainers{i1}', 'spec.initContainers{i2}', 'spec.containers{c}']);
    const before = world.inspect(pod).containers.length;
    await world.sync(pod);
    assert.equal(world.inspect(pod).containers.length, before);
  });

  it('restarts a failed init container, except with restart policy Never', async () => {
    for (const [restartPolicy, count] of Object.entries({ OnFailure: 1, Never: 0 })) {
      const world = new RuntimeWorld();
      const pod = makePod(
        'staged',
        { restartPolicy, initContainers: [{ name: 'i', image: 'img:1' }] },
        { 'hollow-kubelet/exit-code.i': '1' },
      );
      await world.sync(pod);
      await world.sync(pod);
      const init = world.inspect(pod).containers.find(({ name }) => name === 'i');
      assert.deepEqual([init?.exitCode, init?.restartCount], [1, count]);
      assert.equal(world.stateOf(pod), undefined);
      assert.equal(world.inspect(pod).containers.at(-1)?.state, restartPolicy === 'Never' ? 'exited' : 'running');
    }
  });

  it('keeps sidecars running beside the others, and restarts them', async () => {
    const sidecar = { name: 's', image: 'img:1', restartPolicy: 'Always' };
    const pod = makePod('web', { restartPolicy: 'Never', initContainers: [sidecar, { name: 'i', image: 'img:1' }] });
    await world.sync(pod);
    assert.deepEqual([world.stateOf(pod, 's'), world.stateOf(pod, 'i')], ['running', undefined]);
    await world.sync(pod);
    await world.sync(pod);
    const expected = ['running', 'exited', 'running'];
    assert.deepEqual([world.stateOf(pod, 's'), world.stateOf(pod, 'i'), world.stateOf(pod)], expected);
    world.host.exit(uid, 's', 1);
    await world.sync(pod);
    assert.equal(world.stateOf(pod, 's'), 'running');
    world.host.exit(uid, 'c', 0);
    await world.sync(pod);
    assert.equal(world.stateOf(pod, 's'), 'exited');
  });

  it('reports a container that cannot be created', async () => {
    const outcome = await world.sync(makePod('web', {}, { 'hollow-kubelet/create-failure': 'no such device' }));
    assert.deepEqual(outcome.waiting, [{ container: 'c', reason: 'CreateContainerError', message: 'no such device' }]);
    assert.equal(outcome.failure, 'failed to "StartContainer" for "c" with CreateContainerError: "no such device"');
    assert.deepEqual(messages(world).slice(-1), ['Error: no such device']);
  });

  it('starts nothing in a pod whose sandbox cannot be created, and reports the error', async () => {
    const pod = makePod('web', {}, { 'hollow-kubelet/sandbox-failure': 'no network' });
    const outcome = await world.sync(pod);
    assert.equal(
      outcome.failure,
      `failed to "CreatePodSandbox" for "web_ns(${uid})" with CreatePodSandboxError: "Failed to create sandbox for pod \\"web_ns(${uid})\\": no network"`,
    );
    assert.deepEqual(outcome.waiting, []);
    assert.deepEqual(
      world.recorder.drafts.map(({ type, reason, message, about }) => [type, reason, message, about.fieldPath]),
      [['Warning', 'FailedCreatePodSandBox', 'Failed to create pod sandbox: no network', undefined]],
    );
    assert.deepEqual(world.inspect(pod).containers, []);
  });

  it('starts nothing in a pod that is being deleted', async () => {
    await world.sync(web);
    world.host.exit(uid, 'c', 1);
    const deleted = { ...web, metadata: { ...web.metadata, deletionTimestamp: '2026-01-02T03:04:05Z' } };
    await world.sync(deleted);
    assert.equal(world.stateOf(deleted), 'exited');
  });

  it('reports that the sandbox is ready before images are pulled', async () => {
    const seen: string[] = [];
    const world: RuntimeWorld = new RuntimeWorld({
      onSandboxReady: (pod) => {
        seen.push(`${pod.metadata.name} ${world.reasons.length}`);
      },
    });
    await world.sync(web);
    await world.sync(web);
    assert.deepEqual(seen, ['web 0']);
  });

  it('replaces a container whose image changed', async () => {
    await world.sync(web);
    const changed = makePod('web', { restartPolicy: 'Never', containers: [{ name: 'c', image: 'img:2' }] });
    await world.sync(changed);
    const [latest, before] = world.inspect(changed).containers;
    assert.deepEqual([latest?.image, latest?.state, latest?.restartCount], ['img:2', 'running', 1]);
    assert.deepEqual([before?.image, before?.state], ['img:1', 'exited']);
    assert.ok(messages(world).includes('Container c definition changed, will be restarted'));
  });

  it('aborts a pull when the signal aborts, and starts nothing', async () => {
    const world = new RuntimeWorld({ script: { pullMs: 60_000 } });
    const stop = new AbortController();
    const pass = world.runtime.syncPod(web, world.inspect(web), stop.signal);
    await world.clock.advance(1_000);
    stop.abort();
    await assert.rejects(pass, RuntimeFailure);
    await world.clock.advance(60_000);
    assert.equal(world.stateOf(web), undefined);
    assert.deepEqual(world.reasons, ['Pulling']);
  });
});

describe('a container that keeps exiting', () => {
  const crashing = makePod('web', {}, { 'hollow-kubelet/exit-after': '1s', 'hollow-kubelet/exit-code': '1' });

  /** Delay of each start after the previous exit, in seconds, with a sync every second. */
  async function waits(world: RuntimeWorld, pod: Pod, count: number): Promise<readonly number[]> {
    const seen: number[] = [];
    let finishedAtMs: number | undefined;
    for (let starts = 0; seen.length < count; ) {
      await world.sync(pod);
      const runs = world.inspect(pod).containers.filter(({ name }) => name === 'c');
      if (runs[0]?.state === 'exited') finishedAtMs ??= world.clock.monotonicMs();
      else if (runs.length > starts && finishedAtMs !== undefined) {
        seen.push((world.clock.monotonicMs() - finishedAtMs) / 1_000);
        finishedAtMs = undefined;
      }
      starts = runs.length;
      await world.clock.advance(1_000);
      if (world.stateOf(pod) === 'exited') finishedAtMs ??= world.clock.monotonicMs();
    }
    return seen;
  }

  it('is restarted at once, then after 10, 20, 40, 80, 160 and 300 seconds, and so on [G3]', async () => {
    assert.deepEqual(await waits(world, crashing, 8), [0, 10, 20, 40, 80, 160, 300, 300]);
  });

  it('reports the delay and its end [G3]', async () => {
    await world.sync(crashing);
    await world.clock.advance(1_000);
    assert.equal((await world.sync(crashing)).backoffEndsAtMs, undefined);
    await world.clock.advance(1_000);
    const finishedAtMs = world.clock.monotonicMs();
    await world.clock.advance(3_000);
    const outcome = await world.sync(crashing);
    const message = `back-off 10s restarting failed container=c pod=web_ns(${uid})`;
    assert.deepEqual(outcome, {
      waiting: [{ container: 'c', reason: 'CrashLoopBackOff', message }],
      backoffEndsAtMs: finishedAtMs + 10_000,
      failure: undefined,
    });
    const event = world.recorder.drafts.at(-1);
    const seen = [event?.type, event?.reason, event?.message];
    assert.deepEqual(seen, ['Warning', 'BackOff', `Back-off restarting failed container c in pod web_ns(${uid})`]);
  });

  it('starts from the minimum again after a run of more than ten minutes [G3]', async () => {
    for (const [seconds, expected] of [
      [601, undefined],
      [599, 'CrashLoopBackOff'],
    ] as const) {
      const world = new RuntimeWorld();
      await waits(world, crashing, 4);
      world.host.exit(uid, 'c', 1);
      await world.clock.advance(300_000);
      const takeBack = world.runtime.script({ script: { exitAfterMs: undefined } });
      const patient = makePod('web');
      await world.sync(patient);
      takeBack();
      assert.equal(world.stateOf(patient), 'running');
      await world.clock.advance(seconds * 1_000);
      world.host.exit(uid, 'c', 1);
      const outcome = await world.sync(patient);
      assert.equal(outcome.waiting[0]?.reason, expected, `${seconds} s`);
    }
  });

  it('is restarted according to its policy', async () => {
    const rows: readonly [string, number, string][] = [
      ['Always', 0, 'running'],
      ['Always', 1, 'running'],
      ['OnFailure', 0, 'exited'],
      ['OnFailure', 1, 'running'],
      ['Never', 1, 'exited'],
    ];
    for (const [restartPolicy, exitCode, state] of rows) {
      const world = new RuntimeWorld();
      const pod = makePod('web', { restartPolicy });
      await world.sync(pod);
      world.host.exit(uid, 'c', exitCode);
      await world.sync(pod);
      assert.equal(world.stateOf(pod), state, `${restartPolicy} ${exitCode}`);
    }
  });

  it('has no back-off after a restart of its kubelet, and keeps running', async () => {
    await waits(world, crashing, 4);
    await world.clock.advance(1_000);
    assert.equal((await world.sync(crashing)).waiting[0]?.reason, 'CrashLoopBackOff');
    const count = world.inspect(crashing).containers.length;
    world.restartKubelet();
    assert.equal(world.inspect(crashing).containers.length, count);
    assert.deepEqual((await world.sync(crashing)).waiting, []);
  });

  it('exits when a rule is added while it runs, counted from its start', async () => {
    await world.sync(web);
    await world.clock.advance(3_000);
    const rule = { namespace: 'ns', podName: 'web', container: 'c', script: { exitAfterMs: 5_000, exitCode: 3 } };
    world.runtime.script({ ...rule, namespace: 'other' });
    world.runtime.script({ ...rule, labels: { app: 'x' } });
    assert.equal(world.runtime.nextChangeAtMs(world.clock.monotonicMs()), undefined);
    world.runtime.script(rule);
    await world.clock.advance(1_999);
    assert.equal(world.stateOf(web), 'running');
    await world.clock.advance(1);
    assert.deepEqual([world.stateOf(web), exitCodeOf(world, web)], ['exited', 3]);
  });
});

describe('killing a pod', () => {
  async function running(annotations: Readonly<Record<string, string>> = {}, pod = makePod('web', {}, annotations)) {
    await world.sync(pod);
    world.recorder.drafts.length = 0;
    return { world, pod };
  }

  it('records the event at once, lets a container stop by itself, and stops the sandbox after it [G5]', async () => {
    const { world, pod } = await running({ 'hollow-kubelet/stop-time': '4s' });
    const { outcome, done } = kill(world, targetOf(pod), 30_000);
    await world.clock.advance(0);
    const seen = world.recorder.drafts.map(({ type, reason, message }) => [type, reason, message]);
    assert.deepEqual(seen, [['Normal', 'Killing', 'Stopping container c']]);
    await world.clock.advance(3_999);
    assert.deepEqual([world.stateOf(pod), outcome.tookMs], ['running', undefined]);
    await world.clock.advance(1);
    await done;
    assert.deepEqual([outcome.tookMs, exitCodeOf(world, pod)], [4_000, 0]);
    const states = world.inspect(pod).containers.map(({ state }) => state);
    assert.deepEqual(states, ['exited', 'exited']);
  });

  const graces: readonly (readonly [string, Readonly<Record<string, string>>, number, number, number])[] = [
    [
      'kills a container that ignores the stop signal at the end of the grace period [G6]',
      { 'stop-time': 'never' },
      30_000,
      30_000,
      137,
    ],
    [
      'lets a container that stops exactly at the end of its grace period stop by itself',
      { 'stop-time': '30s' },
      30_000,
      30_000,
      0,
    ],
    ['leaves at least two seconds', { 'stop-time': 'never' }, 0, 2_000, 137],
    ['exits with the scripted code after a stop signal', { 'stop-exit-code': '143' }, 30_000, 0, 143],
    ['counts a preStop hook against the grace period', { 'pre-stop-time': '3s', 'stop-time': '1s' }, 30_000, 4_000, 0],
    ['counts a preStop hook that fits exactly', { 'pre-stop-time': '3s', 'stop-time': '1s' }, 3_500, 4_000, 0],
    ['ends a preStop hook with the grace period', { 'pre-stop-time': '60s', 'stop-time': '1s' }, 10_000, 11_000, 0],
  ];
  for (const [title, script, graceMs, tookMs, exitCode] of graces)
    it(title, async () => {
      const annotations = Object.entries(script).map(([name, value]) => [`hollow-kubelet/${name}`, value] as const);
      const { world, pod } = await running(Object.fromEntries(annotations));
      const { outcome } = kill(world, targetOf(pod), graceMs);
      await world.clock.advance(Math.max(0, tookMs - 1));
      if (tookMs > 0) assert.deepEqual([outcome.tookMs, world.stateOf(pod)], [undefined, 'running']);
      await world.clock.advance(60_000);
      const [status] = world.inspect(pod).containers;
      const reason = exitCode === 0 ? 'Completed' : 'Error';
      assert.deepEqual([outcome.tookMs, status?.exitCode, status?.reason], [tookMs, exitCode, reason]);
    });

  it('only shortens the grace period when repeated [G7]', async () => {
    const { world, pod } = await running({ 'hollow-kubelet/stop-time': 'never' });
    const first = kill(world, targetOf(pod), 30_000);
    await world.clock.advance(10_000);
    const shorter = kill(world, targetOf(pod), 5_000);
    await world.clock.advance(1_000);
    const longer = kill(world, targetOf(pod), 60_000);
    await world.clock.advance(3_999);
    assert.equal(world.stateOf(pod), 'running');
    await world.clock.advance(1);
    const tookMses = [first.outcome, shorter.outcome, longer.outcome].map(({ tookMs }) => tookMs);
    assert.deepEqual(tookMses, [15_000, 5_000, 4_000]);
  });

  it('stops sidecars after the others, in reverse order', async () => {
    const sidecar = (name: string) => ({ name, image: 'img:1', restartPolicy: 'Always' });
    const pod = makePod(
      'web',
      { initContainers: [sidecar('s1'), sidecar('s2')] },
      { 'hollow-kubelet/stop-time': '3s' },
    );
    for (let pass = 0; pass < 3; pass += 1) await world.sync(pod);
    assert.equal(world.stateOf(pod), 'running');
    const { outcome } = kill(world, targetOf(pod), 30_000);
    await world.clock.advance(3_000);
    const seen = ['c', 's2', 's1'].map((name) => world.stateOf(pod, name));
    assert.deepEqual(seen, ['exited', 'running', 'running']);
    await world.clock.advance(3_000);
    const found = ['c', 's2', 's1'].map((name) => world.stateOf(pod, name));
    assert.deepEqual(found, ['exited', 'exited', 'running']);
    await world.clock.advance(3_000);
    assert.equal(outcome.tookMs, 9_000);
  });

  it('fails if the runtime cannot stop a container, which keeps running', async () => {
    const { world, pod } = await running({ 'hollow-kubelet/stuck-kill': 'true' });
    const { outcome, done } = kill(world, targetOf(pod), 30_000);
    await done;
    assert.equal(
      outcome.error,
      'failed to "KillContainer" for "c" with KillContainerError: "rpc error: code = DeadlineExceeded desc = context deadline exceeded"',
    );
    assert.equal(world.stateOf(pod), 'running');
    assert.deepEqual(world.reasons, ['Killing']);
  });

  it('reports success although the container keeps running, if the runtime violates the stop [G14]', async () => {
    const { world, pod } = await running({ 'hollow-kubelet/violates-stop': 'true' });
    const { outcome, done } = kill(world, targetOf(pod), 30_000);
    await done;
    assert.equal(outcome.tookMs, 0);
    const states = world.inspect(pod).containers.map(({ state }) => state);
    assert.deepEqual(states, ['running', 'running']);
    world.host.exit(uid, 'c', 0);
    await kill(world, targetOf(pod), 30_000).done;
    const seen = world.inspect(pod).containers.map(({ state }) => state);
    assert.deepEqual(seen, ['exited', 'exited']);
  });

  it('is not delayed by a rule that makes the container exit later', async () => {
    const { world, pod } = await running({ 'hollow-kubelet/stop-time': '4s' });
    const { outcome } = kill(world, targetOf(pod), 30_000);
    await world.clock.advance(0);
    world.runtime.script({ script: { exitAfterMs: 60_000, exitCode: 1 } });
    await world.clock.advance(4_000);
    assert.deepEqual([outcome.tookMs, exitCodeOf(world, pod)], [4_000, 0]);
  });

  it('continues after the wait was aborted', async () => {
    const { world, pod } = await running({ 'hollow-kubelet/stop-time': '4s' });
    const stop = new AbortController();
    const { outcome, done } = kill(world, targetOf(pod), 30_000, stop.signal);
    await world.clock.advance(1_000);
    stop.abort();
    await done;
    assert.equal(outcome.error, 'context canceled');
    await world.clock.advance(3_000);
    assert.equal(world.stateOf(pod), 'exited');
  });

  it('does not wait for a container whose state the runtime has lost', async () => {
    const { world, pod } = await running({ 'hollow-kubelet/stop-time': 'never' });
    const { outcome } = kill(world, targetOf(pod), 30_000);
    await world.clock.advance(1_000);
    world.host.reboot('unknown');
    await world.clock.advance(60_000);
    assert.equal(outcome.tookMs, 1_000);
    assert.equal(world.stateOf(pod), 'unknown');
    const again = kill(world, targetOf(pod), 30_000);
    await world.clock.advance(30_000);
    assert.deepEqual([again.outcome.tookMs, world.stateOf(pod)], [30_000, 'exited']);
  });

  it('stops the containers of an unknown pod, and returns at once if there are none', async () => {
    const { world } = await running();
    const orphan = { ...targetOf(web), pod: undefined };
    await kill(world, orphan, 1_000).done;
    assert.equal(world.stateOf(web), 'exited');
    assert.deepEqual(world.reasons, ['Killing']);
    const unknown = kill(world, { uid: 'x', namespace: 'ns', name: 'x', pod: undefined }, 1_000);
    await unknown.done;
    assert.equal(unknown.outcome.tookMs, 0);
  });

  it('removes a container that has not run yet', async () => {
    const world = new RuntimeWorld({ script: { startMs: 10_000 } });
    const pass = world.runtime.syncPod(web, world.inspect(web), world.signal);
    await world.clock.advance(1_000);
    await kill(world, targetOf(web), 30_000).done;
    const [status] = world.inspect(web).containers;
    assert.deepEqual([status?.state, status?.exitCode, status?.startedAtMs], ['exited', 137, undefined]);
    await world.clock.advance(10_000);
    await pass;
    assert.equal(world.stateOf(web), 'exited');
    assert.ok(!world.reasons.includes('Killing'));
  });
});

describe('exited containers', () => {
  it('are removed except the newest of each name, and the sandbox with the last one', async () => {
    await world.sync(web);
    for (let crash = 0; crash < 3; crash += 1) {
      world.host.exit(uid, 'c', 1);
      await world.clock.advance(100_000);
      await world.sync(web);
    }
    world.runtime.pruneContainers(uid, 1);
    // The container before the running one is kept.
    const seen = world.inspect(web).containers.map(({ state, restartCount }) => `${state} ${restartCount}`);
    assert.deepEqual(seen, ['running 3', 'exited 2', 'running 0']);
    await kill(world, targetOf(web), 0).done;
    world.runtime.pruneContainers(uid, 1);
    const kinds = world.inspect(web).containers.map(({ kind }) => kind);
    assert.deepEqual(kinds, ['container', 'sandbox']);
    world.runtime.pruneContainers(uid, 0);
    assert.deepEqual([world.inspect(web).containers, world.host.podCount], [[], 0]);
    world.runtime.pruneContainers('unknown', 0);
  });

  it('leave nothing behind: the restart count of a new pod with the same uid starts at 0', async () => {
    await world.sync(web);
    await kill(world, targetOf(web), 0).done;
    world.runtime.pruneContainers(uid, 0);
    await world.sync(web);
    assert.equal(world.inspect(web).containers[0]?.restartCount, 0);
  });
});

describe('a machine that reboots', () => {
  it('has its containers exited, and a new sandbox starts them again [G13]', async () => {
    await world.sync(web);
    world.host.reboot('exited');
    const dead = world.inspect(web).containers;
    const seen = dead.map(({ state, exitCode }) => `${state} ${exitCode}`);
    assert.deepEqual(seen, ['exited 255', 'exited 255']);
    await world.sync(web);
    const [latest] = world.inspect(web).containers;
    assert.deepEqual([latest?.id, latest?.state, latest?.restartCount], ['web_ns_web-uid_1_c_1', 'running', 1]);
    assert.ok(world.reasons.includes('SandboxChanged'));
    assert.deepEqual(world.inspect(web).ips, ['10.128.0.1']);
  });

  it('has no containers left, but keeps their restart counts [G13]', async () => {
    await world.sync(web);
    world.host.reboot('gone');
    assert.deepEqual([world.inspect(web).containers, world.host.podCount], [[], 0]);
    await world.sync(web);
    const [latest] = world.inspect(web).containers;
    assert.deepEqual([latest?.state, latest?.restartCount], ['running', 1]);
    assert.ok(!world.reasons.slice(4).includes('Pulling'));
  });

  it('may have containers in state unknown, which are killed before they are restarted', async () => {
    await world.sync(web);
    world.host.reboot('unknown');
    assert.equal(world.stateOf(web), 'unknown');
    await world.sync(web);
    assert.equal(world.stateOf(web), 'running');
    assert.equal(world.inspect(web).containers.filter(({ state }) => state === 'unknown').length, 0);
  });

  it('runs init containers again in the new sandbox', async () => {
    const pod = makePod('web', { initContainers: [{ name: 'i', image: 'img:1' }] });
    await world.sync(pod);
    await world.sync(pod);
    assert.equal(world.stateOf(pod), 'running');
    world.host.reboot('exited');
    await world.sync(pod);
    assert.deepEqual([world.stateOf(pod, 'i'), world.stateOf(pod)], ['exited', 'exited']);
    const init = world.inspect(pod).containers.filter(({ name }) => name === 'i');
    const restartCounts = init.map(({ restartCount }) => restartCount);
    assert.deepEqual(restartCounts, [1]);
    await world.sync(pod);
    assert.equal(world.stateOf(pod), 'running');
  });
});

describe('a runtime with faults', () => {
  it('fails every call while it is down', async () => {
    const { runtime, signal } = world;
    world.host.faults.set({ down: 'connection refused' });
    for (const call of [
      () => runtime.conditions(signal),
      () => runtime.listPods(signal),
      () => runtime.inspectPod(uid, signal),
      () => runtime.syncPod(web, world.inspect(web), signal),
      () => runtime.killPod(targetOf(web), 0, signal),
    ]) {
      await assert.rejects(call, (error) => error instanceof RuntimeFailure && error.message === 'connection refused');
    }
    world.host.faults.clear();
    assert.equal(world.host.faults.state.down, undefined);
    assert.deepEqual(await runtime.listPods(signal), []);
  });

  it('reports its condition and that of its network', async () => {
    const { runtime, signal } = world;
    assert.deepEqual(await runtime.conditions(signal), { runtime: { ok: true }, network: { ok: true } });
    const network = { ok: false, reason: 'NetworkPluginNotReady', message: 'cni config uninitialized' } as const;
    world.host.faults.set({ network });
    const broken = { ok: false, reason: 'Broken', message: 'by hand' } as const;
    world.host.faults.set({ runtime: broken });
    assert.deepEqual(await runtime.conditions(signal), { runtime: broken, network });
    world.host.faults.set({ network: 'silent' });
    assert.equal((await runtime.conditions(signal)).network, undefined);
  });

  it('resumes a hanging call when the fault is cleared, or aborts it with its signal', async () => {
    world.host.faults.set({ hangs: 'listing' });
    assert.deepEqual(await world.runtime.conditions(world.signal), { runtime: { ok: true }, network: { ok: true } });
    const stop = new AbortController();
    const left = world.runtime.listPods(stop.signal);
    const kept = world.runtime.listPods(world.signal);
    stop.abort();
    await assert.rejects(left, RuntimeFailure);
    world.host.faults.clear();
    assert.deepEqual(await kept, []);
  });
});

describe('scheduled changes of containers', () => {
  it('are known in advance, and need no timer', async () => {
    await world.sync(makePod('a', {}, { 'hollow-kubelet/exit-after': '1m' }));
    await world.sync(makePod('b', {}, { 'hollow-kubelet/exit-after': '30s' }));
    const nowMs = world.clock.monotonicMs();
    assert.equal(world.clock.sleeping, 0);
    assert.equal(world.runtime.nextChangeAtMs(nowMs), nowMs + 30_000);
    assert.equal(world.runtime.nextChangeAtMs(nowMs + 30_000), nowMs + 60_000);
    assert.equal(world.runtime.nextChangeAtMs(nowMs + 60_000), undefined);
  });

  it('keep their wall time even if the clock jumps later', async () => {
    await world.sync(web);
    const startedAtMs = world.clock.nowMs();
    world.clock.jumpWall(3_600_000);
    assert.equal(world.inspect(web).containers[0]?.startedAtMs, startedAtMs);
  });
});
