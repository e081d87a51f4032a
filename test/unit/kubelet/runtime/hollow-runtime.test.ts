import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../../src/api/pod.ts';
import { type KillTarget, RuntimeFailure } from '../../../../src/kubelet/runtime/pod-runtime.ts';
import { makePod, RuntimeWorld, targetOf } from '../../../support/runtime-world.ts';

const web = makePod('web');
const uid = web.metadata.uid ?? '';

/** Starts killing and says when it was over, how, and what became of the containers. */
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

const exitCodeOf = (world: RuntimeWorld, pod: Pod, name = 'c'): number | undefined =>
  world.inspect(pod).containers.find((each) => each.name === name)?.exitCode;

const messages = (world: RuntimeWorld): readonly string[] => world.recorder.drafts.map(({ message }) => message);

describe('starting a pod', () => {
  it('pulls, creates and starts, takes its time for each, and tells [G1]', async () => {
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

  it('names ids after pod, sandbox, container and attempt, and gives each pod an address', async () => {
    const world = new RuntimeWorld();
    await world.sync(web);
    await world.sync(makePod('db'));
    await world.sync(makePod('host', { hostNetwork: true }));
    const status = world.inspect(web);
    assert.deepEqual(
      status.containers.map(({ id, kind, restartCount }) => [id, kind, restartCount]),
      [
        ['web_ns_web-uid_0_c_0', 'container', 0],
        ['web_ns_web-uid_0', 'sandbox', 0],
      ],
    );
    assert.deepEqual(status.ips, ['10.128.0.1']);
    assert.deepEqual(world.inspect(makePod('db')).ips, ['10.128.0.2']);
    assert.deepEqual(world.inspect(makePod('host', { hostNetwork: true })).ips, []);
    assert.equal(world.host.list().length, 3);
  });

  it('pulls no image that is there, and says so in the words of its release', async () => {
    for (const [wording, more] of [
      ['modern', ' and can be accessed by the pod'],
      ['classic', ''],
    ] as const) {
      const world = new RuntimeWorld({ wording });
      world.host.addImage('img:1', 1);
      await world.sync(web);
      assert.equal(messages(world)[0], `Container image "img:1" already present on machine${more}`);
      assert.equal(messages(world)[1], wording === 'classic' ? 'Created container c' : 'Container created');
    }
  });

  it('pulls again where the policy or the tag says so, and never where it says never', async () => {
    const world = new RuntimeWorld();
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
    const world = new RuntimeWorld();
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

  it('starts a failed init container again, unless nothing is ever started again', async () => {
    for (const [restartPolicy, count] of [
      ['OnFailure', 1],
      ['Never', 0],
    ] as const) {
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

  it('keeps sidecars running beside the others, and starts them again', async () => {
    const world = new RuntimeWorld();
    const sidecar = { name: 's', image: 'img:1', restartPolicy: 'Always' };
    const pod = makePod('web', { restartPolicy: 'Never', initContainers: [sidecar, { name: 'i', image: 'img:1' }] });
    await world.sync(pod);
    assert.deepEqual([world.stateOf(pod, 's'), world.stateOf(pod, 'i')], ['running', undefined]);
    await world.sync(pod);
    await world.sync(pod);
    assert.deepEqual(
      [world.stateOf(pod, 's'), world.stateOf(pod, 'i'), world.stateOf(pod)],
      ['running', 'exited', 'running'],
    );
    world.host.exit(uid, 's', 1);
    await world.sync(pod);
    assert.equal(world.stateOf(pod, 's'), 'running');
    world.host.exit(uid, 'c', 0);
    await world.sync(pod);
    assert.equal(world.stateOf(pod, 's'), 'exited');
  });

  it('does not start what failed to be created, and says why', async () => {
    const world = new RuntimeWorld();
    const outcome = await world.sync(makePod('web', {}, { 'hollow-kubelet/create-failure': 'no such device' }));
    assert.deepEqual(outcome.waiting, [{ container: 'c', reason: 'CreateContainerError', message: 'no such device' }]);
    assert.equal(outcome.failure, 'failed to "StartContainer" for "c" with CreateContainerError: "no such device"');
    assert.deepEqual(messages(world).slice(-1), ['Error: no such device']);
  });

  it('starts nothing of a pod that gets no sandbox, and says why', async () => {
    const world = new RuntimeWorld();
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

  it('starts nothing of a pod that is being deleted', async () => {
    const world = new RuntimeWorld();
    await world.sync(web);
    world.host.exit(uid, 'c', 1);
    const deleted = { ...web, metadata: { ...web.metadata, deletionTimestamp: '2026-01-02T03:04:05Z' } };
    await world.sync(deleted);
    assert.equal(world.stateOf(deleted), 'exited');
  });

  it('says when the sandbox is up, before any image is there', async () => {
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

  it('puts another container in the place of one whose image changed', async () => {
    const world = new RuntimeWorld();
    await world.sync(web);
    const changed = makePod('web', { restartPolicy: 'Never', containers: [{ name: 'c', image: 'img:2' }] });
    await world.sync(changed);
    const [latest, before] = world.inspect(changed).containers;
    assert.deepEqual([latest?.image, latest?.state, latest?.restartCount], ['img:2', 'running', 1]);
    assert.deepEqual([before?.image, before?.state], ['img:1', 'exited']);
    assert.ok(messages(world).includes('Container c definition changed, will be restarted'));
  });

  it('leaves a pull when it is told to stop waiting, and starts nothing', async () => {
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

describe('an image that cannot be pulled', () => {
  it('is tried again after longer and longer waits, which start when a try has failed', async () => {
    const world = new RuntimeWorld();
    const pod = makePod('web', {}, { 'hollow-kubelet/pull-failure': 'not found' });
    const first = await world.sync(pod);
    assert.deepEqual(first.waiting, [{ container: 'c', reason: 'ErrImagePull', message: 'not found' }]);
    assert.equal(first.failure, 'failed to "StartContainer" for "c" with ErrImagePull: "not found"');
    assert.deepEqual(
      world.recorder.drafts.map(({ type, reason, message }) => [type, reason, message]),
      [
        ['Normal', 'Pulling', 'Pulling image "img:1"'],
        ['Warning', 'Failed', 'Failed to pull image "img:1": not found'],
        ['Warning', 'Failed', 'Error: ErrImagePull'],
      ],
    );
    const startedAtMs = world.clock.monotonicMs();
    const pulls: number[] = [];
    for (let second = 1; second <= 700; second += 1) {
      await world.clock.advance(1_000);
      const before = world.reasons.filter((reason) => reason === 'Pulling').length;
      await world.sync(pod);
      const after = world.reasons.filter((reason) => reason === 'Pulling').length;
      if (after > before) pulls.push((world.clock.monotonicMs() - startedAtMs) / 1_000);
    }
    assert.deepEqual(pulls, [10, 30, 70, 150, 310, 610]);
  });

  it('waits without counting as a failure meanwhile, and says what the last try failed with', async () => {
    const world = new RuntimeWorld();
    const pod = makePod('web', {}, { 'hollow-kubelet/pull-failure': 'not found' });
    await world.sync(pod);
    const endsAtMs = world.clock.monotonicMs() + 10_000;
    await world.clock.advance(4_000);
    const held = await world.sync(pod);
    const message = 'Back-off pulling image "img:1": ErrImagePull: not found';
    assert.deepEqual(held, {
      waiting: [{ container: 'c', reason: 'ImagePullBackOff', message }],
      backoffEndsAtMs: endsAtMs,
      failure: undefined,
    });
    const [told, failed] = world.recorder.drafts.slice(-2);
    assert.deepEqual(
      [told?.type, told?.reason, told?.message],
      ['Normal', 'BackOff', 'Back-off pulling image "img:1"'],
    );
    assert.deepEqual([failed?.type, failed?.message], ['Warning', 'Error: ImagePullBackOff']);
  });

  it('is pulled once its failure is taken back', async () => {
    const world = new RuntimeWorld();
    const takeBack = world.runtime.script({ labels: {}, script: { pullFailure: 'not found' } });
    await world.sync(web);
    takeBack();
    await world.clock.advance(10_000);
    await world.sync(web);
    assert.equal(world.stateOf(web), 'running');
  });
});

describe('a container that keeps exiting', () => {
  const crashing = makePod('web', {}, { 'hollow-kubelet/exit-after': '1s', 'hollow-kubelet/exit-code': '1' });

  /** How long after each exit the next start came, in seconds, when somebody looks each second. */
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

  it('is started at once, then after 10, 20, 40, 80, 160 and 300 seconds, and so on [G3]', async () => {
    const world = new RuntimeWorld();
    assert.deepEqual(await waits(world, crashing, 8), [0, 10, 20, 40, 80, 160, 300, 300]);
  });

  it('says how long it waits and until when [G3]', async () => {
    const world = new RuntimeWorld();
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
    const told = world.recorder.drafts.at(-1);
    assert.deepEqual(
      [told?.type, told?.reason, told?.message],
      ['Warning', 'BackOff', `Back-off restarting failed container c in pod web_ns(${uid})`],
    );
  });

  it('begins anew after a run of more than ten minutes [G3]', async () => {
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

  it('is started again as its policy says', async () => {
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

  it('goes on at the bottom of the ladder when its kubelet restarts, and its containers stay', async () => {
    const world = new RuntimeWorld();
    await waits(world, crashing, 4);
    await world.clock.advance(1_000);
    assert.equal((await world.sync(crashing)).waiting[0]?.reason, 'CrashLoopBackOff');
    const count = world.inspect(crashing).containers.length;
    world.restartKubelet();
    assert.equal(world.inspect(crashing).containers.length, count);
    assert.deepEqual((await world.sync(crashing)).waiting, []);
  });

  it('crashes when a rule says so of one that runs already, counted from its start', async () => {
    const world = new RuntimeWorld();
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
    const world = new RuntimeWorld();
    await world.sync(pod);
    world.recorder.drafts.length = 0;
    return { world, pod };
  }

  it('tells at once, lets a container stop in its own time, and stops the sandbox after it [G5]', async () => {
    const { world, pod } = await running({ 'hollow-kubelet/stop-time': '4s' });
    const { outcome, done } = kill(world, targetOf(pod), 30_000);
    await world.clock.advance(0);
    assert.deepEqual(
      world.recorder.drafts.map(({ type, reason, message }) => [type, reason, message]),
      [['Normal', 'Killing', 'Stopping container c']],
    );
    await world.clock.advance(3_999);
    assert.deepEqual([world.stateOf(pod), outcome.tookMs], ['running', undefined]);
    await world.clock.advance(1);
    await done;
    assert.deepEqual([outcome.tookMs, exitCodeOf(world, pod)], [4_000, 0]);
    assert.deepEqual(
      world.inspect(pod).containers.map(({ state }) => state),
      ['exited', 'exited'],
    );
  });

  it('kills one that does not listen when its grace period ends [G6]', async () => {
    const { world, pod } = await running({ 'hollow-kubelet/stop-time': 'never' });
    const { outcome } = kill(world, targetOf(pod), 30_000);
    await world.clock.advance(29_999);
    assert.equal(world.stateOf(pod), 'running');
    await world.clock.advance(1);
    const status = world.inspect(pod).containers[0];
    assert.deepEqual([outcome.tookMs, status?.exitCode, status?.reason], [30_000, 137, 'Error']);
  });

  it('only ever shortens the grace period when it is told again [G7]', async () => {
    const { world, pod } = await running({ 'hollow-kubelet/stop-time': 'never' });
    const first = kill(world, targetOf(pod), 30_000);
    await world.clock.advance(10_000);
    const shorter = kill(world, targetOf(pod), 5_000);
    await world.clock.advance(1_000);
    const longer = kill(world, targetOf(pod), 60_000);
    await world.clock.advance(3_999);
    assert.equal(world.stateOf(pod), 'running');
    await world.clock.advance(1);
    assert.deepEqual(
      [first.outcome, shorter.outcome, longer.outcome].map(({ tookMs }) => tookMs),
      [15_000, 5_000, 4_000],
    );
  });

  it('lets one that stops with its grace period stop by itself', async () => {
    const { world, pod } = await running({ 'hollow-kubelet/stop-time': '30s' });
    const { outcome } = kill(world, targetOf(pod), 30_000);
    await world.clock.advance(30_000);
    assert.deepEqual([outcome.tookMs, exitCodeOf(world, pod)], [30_000, 0]);
  });

  it('leaves two seconds at least', async () => {
    const { world, pod } = await running({ 'hollow-kubelet/stop-time': 'never' });
    const { outcome } = kill(world, targetOf(pod), 0);
    await world.clock.advance(2_000);
    assert.equal(outcome.tookMs, 2_000);
  });

  it('exits with what its script says when it was asked to stop', async () => {
    const { world, pod } = await running({ 'hollow-kubelet/stop-exit-code': '143' });
    await kill(world, targetOf(pod), 30_000).done;
    assert.equal(exitCodeOf(world, pod), 143);
  });

  it('counts a pre-stop hook against the grace period', async () => {
    const rows: readonly [string, number, number, number][] = [
      ['3s', 30_000, 4_000, 0],
      ['3s', 3_500, 4_000, 0],
      ['60s', 10_000, 11_000, 0],
    ];
    for (const [hook, graceMs, tookMs, exitCode] of rows) {
      const { world, pod } = await running({ 'hollow-kubelet/pre-stop-time': hook, 'hollow-kubelet/stop-time': '1s' });
      const { outcome } = kill(world, targetOf(pod), graceMs);
      await world.clock.advance(60_000);
      assert.deepEqual([outcome.tookMs, exitCodeOf(world, pod)], [tookMs, exitCode], hook);
    }
  });

  it('stops sidecars when the others have, the last one first', async () => {
    const sidecar = (name: string) => ({ name, image: 'img:1', restartPolicy: 'Always' });
    const pod = makePod(
      'web',
      { initContainers: [sidecar('s1'), sidecar('s2')] },
      { 'hollow-kubelet/stop-time': '3s' },
    );
    const world = new RuntimeWorld();
    for (let pass = 0; pass < 3; pass += 1) await world.sync(pod);
    assert.equal(world.stateOf(pod), 'running');
    const { outcome } = kill(world, targetOf(pod), 30_000);
    await world.clock.advance(3_000);
    assert.deepEqual(
      ['c', 's2', 's1'].map((name) => world.stateOf(pod, name)),
      ['exited', 'running', 'running'],
    );
    await world.clock.advance(3_000);
    assert.deepEqual(
      ['c', 's2', 's1'].map((name) => world.stateOf(pod, name)),
      ['exited', 'exited', 'running'],
    );
    await world.clock.advance(3_000);
    assert.equal(outcome.tookMs, 9_000);
  });

  it('fails where the runtime cannot stop a container, which runs on', async () => {
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

  it('says that it has, and has not, where the runtime breaks its word [G14]', async () => {
    const { world, pod } = await running({ 'hollow-kubelet/violates-stop': 'true' });
    const { outcome, done } = kill(world, targetOf(pod), 30_000);
    await done;
    assert.equal(outcome.tookMs, 0);
    assert.deepEqual(
      world.inspect(pod).containers.map(({ state }) => state),
      ['running', 'running'],
    );
    world.host.exit(uid, 'c', 0);
    await kill(world, targetOf(pod), 30_000).done;
    assert.deepEqual(
      world.inspect(pod).containers.map(({ state }) => state),
      ['exited', 'exited'],
    );
  });

  it('is not put off by a rule that would have it crash later', async () => {
    const { world, pod } = await running({ 'hollow-kubelet/stop-time': '4s' });
    const { outcome } = kill(world, targetOf(pod), 30_000);
    await world.clock.advance(0);
    world.runtime.script({ script: { exitAfterMs: 60_000, exitCode: 1 } });
    await world.clock.advance(4_000);
    assert.deepEqual([outcome.tookMs, exitCodeOf(world, pod)], [4_000, 0]);
  });

  it('goes on stopping when nobody waits for it any more', async () => {
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

  it('does not wait for a container that the runtime has lost track of meanwhile', async () => {
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

  it('stops what runs of a pod that nobody knows any more, and is done at once where nothing does', async () => {
    const { world } = await running();
    const orphan = { ...targetOf(web), pod: undefined };
    await kill(world, orphan, 1_000).done;
    assert.equal(world.stateOf(web), 'exited');
    assert.deepEqual(world.reasons, ['Killing']);
    const stranger = kill(world, { uid: 'x', namespace: 'ns', name: 'x', pod: undefined }, 1_000);
    await stranger.done;
    assert.equal(stranger.outcome.tookMs, 0);
  });

  it('throws away a container that has not run yet', async () => {
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

describe('dead containers', () => {
  it('go but for the newest of each name, and the sandbox with the last of them', async () => {
    const world = new RuntimeWorld();
    await world.sync(web);
    for (let crash = 0; crash < 3; crash += 1) {
      world.host.exit(uid, 'c', 1);
      await world.clock.advance(100_000);
      await world.sync(web);
    }
    world.runtime.pruneContainers(uid, 1);
    // How the one before the one that runs has ended is kept.
    assert.deepEqual(
      world.inspect(web).containers.map(({ state, restartCount }) => [state, restartCount]),
      [
        ['running', 3],
        ['exited', 2],
        ['running', 0],
      ],
    );
    await kill(world, targetOf(web), 0).done;
    world.runtime.pruneContainers(uid, 1);
    assert.deepEqual(
      world.inspect(web).containers.map(({ kind }) => kind),
      ['container', 'sandbox'],
    );
    world.runtime.pruneContainers(uid, 0);
    assert.deepEqual([world.inspect(web).containers, world.host.podCount], [[], 0]);
    world.runtime.pruneContainers('nobody', 0);
  });

  it('leave nothing behind: a pod of the same uid begins at 0', async () => {
    const world = new RuntimeWorld();
    await world.sync(web);
    await kill(world, targetOf(web), 0).done;
    world.runtime.pruneContainers(uid, 0);
    await world.sync(web);
    assert.equal(world.inspect(web).containers[0]?.restartCount, 0);
  });
});

describe('a machine that goes down and comes up', () => {
  it('finds its containers exited, and a new sandbox starts them again [G13]', async () => {
    const world = new RuntimeWorld();
    await world.sync(web);
    world.host.reboot('exited');
    const dead = world.inspect(web).containers;
    assert.deepEqual(
      dead.map(({ state, exitCode }) => [state, exitCode]),
      [
        ['exited', 255],
        ['exited', 255],
      ],
    );
    await world.sync(web);
    const [latest] = world.inspect(web).containers;
    assert.deepEqual([latest?.id, latest?.state, latest?.restartCount], ['web_ns_web-uid_1_c_1', 'running', 1]);
    assert.ok(world.reasons.includes('SandboxChanged'));
    assert.deepEqual(world.inspect(web).ips, ['10.128.0.1']);
  });

  it('finds nothing, and still knows from its logs how often they ran [G13]', async () => {
    const world = new RuntimeWorld();
    await world.sync(web);
    world.host.reboot('gone');
    assert.deepEqual([world.inspect(web).containers, world.host.podCount], [[], 0]);
    await world.sync(web);
    const [latest] = world.inspect(web).containers;
    assert.deepEqual([latest?.state, latest?.restartCount], ['running', 1]);
    assert.ok(!world.reasons.slice(4).includes('Pulling'));
  });

  it('may have lost track of them: then they are killed before they are started again', async () => {
    const world = new RuntimeWorld();
    await world.sync(web);
    world.host.reboot('unknown');
    assert.equal(world.stateOf(web), 'unknown');
    await world.sync(web);
    assert.equal(world.stateOf(web), 'running');
    assert.equal(world.inspect(web).containers.filter(({ state }) => state === 'unknown').length, 0);
  });

  it('runs init containers again in the new sandbox', async () => {
    const world = new RuntimeWorld();
    const pod = makePod('web', { initContainers: [{ name: 'i', image: 'img:1' }] });
    await world.sync(pod);
    await world.sync(pod);
    assert.equal(world.stateOf(pod), 'running');
    world.host.reboot('exited');
    await world.sync(pod);
    assert.deepEqual([world.stateOf(pod, 'i'), world.stateOf(pod)], ['exited', 'exited']);
    const init = world.inspect(pod).containers.filter(({ name }) => name === 'i');
    assert.deepEqual(
      init.map(({ restartCount }) => restartCount),
      [1],
    );
    await world.sync(pod);
    assert.equal(world.stateOf(pod), 'running');
  });
});

describe('a runtime that is not well', () => {
  it('fails every call while it is down', async () => {
    const world = new RuntimeWorld();
    const { runtime, signal } = world;
    world.host.faults.set({ down: 'connection refused' });
    assert.equal(world.host.faults.isWell, false);
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
    assert.equal(world.host.faults.isWell, true);
    assert.deepEqual(await runtime.listPods(signal), []);
  });

  it('says what is wrong with it and with its network', async () => {
    const world = new RuntimeWorld();
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

  it('answers a call that hung when it is mended, or when nobody waits any more', async () => {
    const world = new RuntimeWorld();
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

describe('what will happen by itself', () => {
  it('is known ahead, and needs no timer', async () => {
    const world = new RuntimeWorld();
    await world.sync(makePod('a', {}, { 'hollow-kubelet/exit-after': '1m' }));
    await world.sync(makePod('b', {}, { 'hollow-kubelet/exit-after': '30s' }));
    const nowMs = world.clock.monotonicMs();
    assert.equal(world.clock.sleeping, 0);
    assert.equal(world.runtime.nextChangeAtMs(nowMs), nowMs + 30_000);
    assert.equal(world.runtime.nextChangeAtMs(nowMs + 30_000), nowMs + 60_000);
    assert.equal(world.runtime.nextChangeAtMs(nowMs + 60_000), undefined);
  });

  it('keeps the wall time at which it happened, though the clock jumps later', async () => {
    const world = new RuntimeWorld();
    await world.sync(web);
    const startedAtMs = world.clock.nowMs();
    world.clock.jumpWall(3_600_000);
    assert.equal(world.inspect(web).containers[0]?.startedAtMs, startedAtMs);
  });
});
