import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import type { Pod } from '../../../../src/machinery/api/pod.ts';
import { HandSource, KubeletWorld, type KubeletWorldOptions, secondMs } from '../../../support/kubelet-world.ts';

describe('a pod on a hollow kubelet', () => {
  let world: KubeletWorld;

  async function begin(options?: KubeletWorldOptions): Promise<void> {
    world = new KubeletWorld(options);
    await world.advance(5 * secondMs);
  }

  /** A pod that has run for almost 3 s. */
  async function bound(...pod: Parameters<KubeletWorld['bind']>): Promise<Pod> {
    await begin();
    const created = await world.bind(...pod);
    await world.advance(3 * secondMs);
    return created;
  }

  afterEach(async () => {
    assert.equal(await world.end(), 0, 'no pending sleeps after the end');
    assert.deepEqual(world.logger.at('error'), []);
  });

  /** The bodies of the status patches of a pod since `from`. */
  function patches(name: string, from: number): readonly Readonly<Record<string, unknown>>[] {
    return world.api.requests
      .slice(from)
      .filter((request) => request.verb === 'patch' && request.name === name)
      .map(({ body }) => (body as { status: Readonly<Record<string, unknown>> }).status);
  }

  it('is reported Pending at once and Running within 1.5 s, with its events in order [G1]', async () => {
    await begin({ profile: { podStartDelayMs: 100 } });
    const pod = await world.bind('web', {}, { annotations: { 'hollow-kubelet/pull-time': '200ms' } });
    await world.advance(0);
    assert.equal(world.container('web')?.state?.waiting?.reason, 'ContainerCreating');
    assert.equal(world.condition('web', 'PodScheduled')?.status, 'True');
    await world.advance(1_500);
    assert.equal(world.phase('web'), 'Running');
    assert.equal(world.condition('web', 'Ready')?.status, 'True');
    const reasons = world.recorder.drafts.filter(({ about }) => about.uid === pod.metadata.uid).map((d) => d.reason);
    assert.deepEqual(reasons, ['Pulling', 'Pulled', 'Created', 'Started']);
  });

  it('is written as by a real kubelet: one GET and one PATCH each for waiting, sandbox ready and running', async () => {
    await begin();
    const from = world.api.requests.length;
    const { metadata } = await world.bind('web', {}, { annotations: { 'hollow-kubelet/pull-time': '50ms' } });
    await world.advance(1_100);
    assert.deepEqual(world.podRequests(from), [
      'create web',
      'get web',
      'patch web',
      'get web',
      'patch web',
      'get web',
      'patch web',
    ]);
    const bodies = world.api.requests.slice(from).filter(({ verb }) => verb === 'patch');
    const seen = bodies.map(({ body }) => (body as { metadata: unknown }).metadata);
    assert.deepEqual(
      seen,
      bodies.map(() => ({ uid: metadata.uid })),
    );
    const [waiting, sandbox, running] = patches('web', from);
    assert.equal(waiting?.['$setElementOrder/conditions'], undefined);
    assert.deepEqual(sandbox?.['conditions'], [
      { type: 'PodReadyToStartContainers', status: 'True', reason: null, message: null },
    ]);
    assert.deepEqual(Object.keys(sandbox ?? {}), ['$setElementOrder/conditions', 'conditions']);
    assert.deepEqual([running?.['phase'], running?.['podIP']], ['Running', '10.128.0.1']);
  });

  it('ends by itself: Succeeded or Failed, and not ready for that reason [G4]', async () => {
    await begin();
    const ended = { 'hollow-kubelet/exit-after': '3s' };
    await world.bind(
      'good',
      { restartPolicy: 'Never' },
      { annotations: { ...ended, 'hollow-kubelet/exit-code': '0' } },
    );
    await world.bind('bad', { restartPolicy: 'Never' }, { annotations: { ...ended, 'hollow-kubelet/exit-code': '3' } });
    await world.advance(8 * secondMs);
    assert.deepEqual([world.phase('good'), world.condition('good', 'Ready')?.reason], ['Succeeded', 'PodCompleted']);
    assert.deepEqual([world.phase('bad'), world.condition('bad', 'Ready')?.reason], ['Failed', 'PodFailed']);
    const from = world.api.requests.length;
    await world.advance(300 * secondMs);
    assert.deepEqual(world.podRequests(from), [], 'no writes after the final status');
  });

  it('ends if it is of a Job and the profile says when; its sidecar does not keep it running', async () => {
    await begin({ profile: { jobPodDurationMs: 3 * secondMs } });
    const ownerReferences = [{ apiVersion: 'batch/v1', kind: 'Job', name: 'job', uid: 'job', controller: true }];
    const never = { restartPolicy: 'Never' };
    const sidecar = { name: 's', image: 'i:1', restartPolicy: 'Always' };
    await world.bind('done', { ...never, initContainers: [sidecar] }, { ownerReferences });
    const annotations = { 'hollow-kubelet/exit-code': '1' };
    await world.bind('retried', { restartPolicy: 'OnFailure' }, { ownerReferences, annotations });
    await world.bind('web', never);
    await world.advance(8 * secondMs);
    assert.deepEqual(
      ['done', 'retried', 'web'].map((name) => world.phase(name)),
      ['Succeeded', 'Running', 'Running'],
    );
    assert.equal(world.container('retried')?.restartCount, 1);
  });

  it('lists the pods of all sources, a static one with its own status', async () => {
    const metadata = { name: 'stat-n1', namespace: 'default', uid: 'hash' };
    const file = new HandSource('file', [{ metadata, spec: { containers: [{ name: 'c', image: 'i:1' }] } }]);
    await begin({ sources: () => [file] });
    await world.bind('web');
    await world.advance(5 * secondMs);
    const known = world.kubelet.pods.knownPods().map(({ metadata, status }) => `${metadata.uid} ${status?.phase}`);
    assert.deepEqual(known.toSorted(), ['hash Running', `${world.pod('web')?.metadata.uid} Running`].toSorted());
  });

  it('is gone 5 to 8 s after its deletion if its container takes 4 s to stop [G5]', async () => {
    await begin({ profile: { podStopDelayMs: 4 * secondMs } });
    await world.bind('web');
    await world.advance(3 * secondMs);
    const from = world.api.requests.length;
    await world.remove('web');
    await world.advance(10);
    assert.deepEqual(world.events('Killing'), ['Stopping container c']);
    await world.advance(4_900);
    const before = world.pod('web') !== undefined;
    await world.advance(3_100);
    assert.equal(world.pod('web'), undefined);
    assert.ok(before || world.podRequests(from).length > 0);
    const requests = world.podRequests(from).filter((request) => !request.startsWith('get'));
    assert.equal(requests.at(-1), 'delete web');
    assert.equal(patches('web', from).at(-1)?.['phase'], 'Succeeded');
  });

  it('is killed at the end of its grace period if it does not stop, and has failed [G6]', async () => {
    await bound('web', {}, { annotations: { 'hollow-kubelet/stop-time': 'never' } });
    const from = world.api.requests.length;
    await world.remove('web');
    await world.advance(29_900);
    assert.equal(world.phase('web'), 'Running');
    await world.advance(4_100);
    assert.equal(world.pod('web'), undefined);
    const last = patches('web', from).at(-1);
    assert.equal(last?.['phase'], 'Failed');
    assert.match(JSON.stringify(last), /"exitCode":137/);
  });

  for (const { seconds, graceSeconds, goneAfterMs } of [
    { seconds: 5, graceSeconds: 30, goneAfterMs: 5_000 },
    { seconds: 0, graceSeconds: 30, goneAfterMs: 0 },
    { seconds: 60, graceSeconds: 10, goneAfterMs: 10_000 },
  ]) {
    it(`is gone ${goneAfterMs / 1_000} to ${goneAfterMs / 1_000 + 3} s after its deletion with ${graceSeconds} s if its preStop hook sleeps for ${seconds} s`, async () => {
      const lifecycle = { preStop: { sleep: { seconds } } };
      await bound('web', { containers: [{ name: 'c', image: 'i:1', lifecycle }] });
      await world.remove('web', graceSeconds);
      if (goneAfterMs > 0) {
        await world.advance(goneAfterMs - 1);
        assert.ok(world.container('web')?.state?.running, 'its container runs meanwhile');
      }
      await world.advance(3 * secondMs);
      assert.equal(world.pod('web'), undefined);
    });
  }

  it('is killed earlier when a second deletion shortens the grace period [G7]', async () => {
    const pod = await bound('web', {}, { annotations: { 'hollow-kubelet/stop-time': 'never' } });
    await world.remove('web');
    await world.advance(10 * secondMs);
    await world.remove('web', 5);
    await world.advance(4_500);
    assert.equal(world.running(pod.metadata.uid), 1);
    await world.advance(2_500);
    assert.equal(world.running(pod.metadata.uid), 0);
  });

  it('is stopped with its own grace period after a forced deletion, and its status is not written [G8]', async () => {
    const pod = await bound('web', {}, { annotations: { 'hollow-kubelet/stop-time': 'never' } });
    await world.remove('web', 0);
    const from = world.api.requests.length;
    await world.advance(29 * secondMs);
    assert.equal(world.running(pod.metadata.uid), 1);
    await world.advance(10 * secondMs);
    assert.equal(world.kubelet.host.podCount, 0);
    const written = world.podRequests(from).filter((request) => !request.startsWith('get'));
    assert.deepEqual(written, []);
  });

  it('is killed with a grace period of one second if no source has it, once all sources are ready [G9]', async () => {
    const { host } = new KubeletWorld().kubelet;
    await begin({ sources: () => [new HandSource('file')] });
    assert.ok(host !== world.kubelet.host);
    const stray: Pod = {
      metadata: { name: 'stray', namespace: 'default', uid: 'stray' },
      spec: { containers: [{ name: 'c' }], terminationGracePeriodSeconds: 600 },
    };
    world.kubelet.host.addSandbox(stray, 0);
    const container = { name: 'c', kind: 'container', image: 'i', startMs: 0, exitAfterMs: undefined, exitCode: 0 };
    world.kubelet.host.addContainer('stray', { ...container, kind: 'container' }, 0);
    assert.equal(world.running('stray'), 1);
    await world.advance(8 * secondMs);
    assert.equal(world.running('stray'), 0);
    assert.equal(world.kubelet.host.podCount, 0);
  });

  it('is not ready until its readiness gate is True, and at once after that [G10]', async () => {
    await bound('web', { readinessGates: [{ conditionType: 'x' }] });
    const ready = world.condition('web', 'Ready');
    assert.deepEqual(
      [ready?.status, ready?.reason, ready?.message],
      ['False', 'ReadinessGatesNotReady', 'corresponding condition of pod readiness gate "x" does not exist.'],
    );
    await world.write('web', { conditions: [{ type: 'x', status: 'True' }] });
    await world.advance(1_500);
    assert.equal(world.condition('web', 'Ready')?.status, 'True');
  });

  it('fails when its active deadline has passed [G11]', async () => {
    await begin();
    await world.bind('web', { activeDeadlineSeconds: 30 });
    await world.advance(29 * secondMs);
    assert.equal(world.phase('web'), 'Running');
    await world.advance(3 * secondMs);
    const status = world.pod('web')?.status;
    assert.deepEqual([status?.phase, status?.reason], ['Failed', 'DeadlineExceeded']);
  });

  it('survives a restart of the kubelet: no container restarts, no status writes [G12]', async () => {
    await begin();
    for (let index = 0; index < 5; index += 1) await world.bind(`p${index}`);
    await world.advance(30 * secondMs);
    const before = world.api.all('pods').map((pod: Pod) => JSON.stringify(pod));
    const from = world.api.requests.length;
    world.kubelet.crash();
    await world.advance(20 * secondMs);
    const seen = world.api.all('pods').map((pod: Pod) => JSON.stringify(pod));
    assert.deepEqual(seen, before);
    const looks = world.podRequests(from);
    const found = looks.filter((request) => !request.startsWith('get'));
    assert.deepEqual(found, []);
    const first = [0, 1, 2, 3, 4].map((index) => `get p${index}`);
    assert.deepEqual(looks.slice(0, 5), first);
    assert.equal(world.events('Starting').length, 2);
  });

  it('is started again after a reboot of its machine, with its last termination in the status [G13]', async () => {
    await begin();
    await world.bind('kept');
    await world.advance(30 * secondMs);
    world.kubelet.crash({ reboot: 'gone', downMs: 20 * secondMs });
    await world.advance(40 * secondMs);
    assert.equal(world.events('Rebooted').length, 1);
    const last = world.container('kept')?.lastState?.terminated;
    assert.deepEqual([last?.exitCode, last?.reason], [137, 'ContainerStatusUnknown']);
    assert.equal(world.container('kept')?.restartCount, 1);
    world.kubelet.crash({ reboot: 'exited', downMs: 20 * secondMs });
    await world.advance(40 * secondMs);
    assert.equal(world.container('kept')?.restartCount, 2);
    assert.equal(world.phase('kept'), 'Running');
    assert.equal(world.events('Rebooted').length, 2);
  });

  it('is started again in another boot if its machine is switched off while the kubelet is down, and not before it is on', async () => {
    await begin();
    await world.bind('web');
    await world.advance(30 * secondMs);
    const { bootId } = world.kubelet.health;
    world.kubelet.crash({ downMs: 20 * secondMs });
    await world.advance(10 * secondMs);
    world.kubelet.crash({ reboot: 'exited', downMs: 60 * secondMs });
    assert.notEqual(world.kubelet.health.bootId, bootId, 'at once');
    await world.advance(55 * secondMs);
    assert.equal(world.events('Starting').length, 1, 'the machine is off');
    await world.advance(40 * secondMs);
    assert.equal(world.events('Rebooted').length, 1);
    assert.equal(world.container('web')?.restartCount, 1);
  });

  it('is started again in another boot if its kubelet crashes at the moment at which the machine is switched off', async () => {
    await begin();
    await world.bind('web');
    await world.advance(30 * secondMs);
    world.kubelet.crash({ reboot: 'exited', downMs: 60 * secondMs });
    world.kubelet.crash({ downMs: 20 * secondMs });
    await world.advance(55 * secondMs);
    assert.equal(world.events('Starting').length, 1, 'the machine is off');
    await world.advance(40 * secondMs);
    assert.equal(world.events('Rebooted').length, 1);
    assert.equal(world.container('web')?.restartCount, 1);
  });

  it('is not reported terminated while the runtime violates the stop [G14]', async () => {
    await bound('web', { restartPolicy: 'Never' }, { annotations: { 'hollow-kubelet/violates-stop': 'true' } });
    await world.remove('web');
    await world.advance(60 * secondMs);
    assert.equal(world.phase('web'), 'Running');
    assert.ok(world.events('Killing').length >= 3, 'the kill is retried');
  });

  it('survives a kubelet crash of 20 s with only a Starting event: same containers, same lease [J13]', async () => {
    await begin();
    const pod = await world.bind('web');
    await world.advance(30 * secondMs);
    const id = world.container('web')?.containerID;
    world.kubelet.crash({ downMs: 20 * secondMs });
    await world.advance(60 * secondMs);
    assert.equal(world.container('web')?.containerID, id);
    assert.equal(world.running(pod.metadata.uid), 1);
    assert.equal(world.events('Starting').length, 2);
    assert.equal(world.api.count('create', 'leases'), 1);
  });

  it('enters a crash loop: one restart at once, then 10, 20, 40 s after each exit, with BackOff events', async () => {
    await begin();
    const annotations = { 'hollow-kubelet/exit-after': '1s', 'hollow-kubelet/exit-code': '1' };
    await world.bind('web', {}, { annotations });
    await world.advance(200 * secondMs);
    assert.ok((world.container('web')?.restartCount ?? 0) >= 3);
    const waiting: string[] = [];
    for (let second = 0; second < 200; second += 1) {
      await world.advance(secondMs);
      waiting.push(world.container('web')?.state?.waiting?.reason ?? '');
    }
    assert.ok(waiting.includes('CrashLoopBackOff'));
    assert.ok(world.events('BackOff').length > 0);
  });

  it('is rejected at once if it exceeds the capacity, with a message, and never started [D12]', async () => {
    await begin();
    const cpu = (cores: string): Pod['spec'] => ({
      containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: cores } } }],
    });
    await world.bind('first', cpu('3'));
    await world.advance(2 * secondMs);
    const from = world.api.requests.length;
    const second = await world.bind('second', cpu('2'));
    await world.advance(100);
    assert.deepEqual(world.podRequests(from), ['create second', 'get second', 'patch second']);
    const said = "Node didn't have enough resource: cpu, requested: 2000, used: 3000, capacity: 4000";
    const [patch] = patches('second', from);
    const { startTime, ...rest } = patch ?? {};
    assert.deepEqual(rest, { phase: 'Failed', reason: 'OutOfcpu', message: `Pod was rejected: ${said}` });
    assert.equal(startTime, '2026-01-02T03:04:12Z');
    assert.deepEqual(world.events('OutOfcpu'), [said]);
    await world.advance(10 * secondMs);
    assert.equal(world.running(second.metadata.uid), 0);
  });

  it('is admitted in order of age when several pods arrive at once [D11]', async () => {
    world = new KubeletWorld();
    const one: Pod['spec'] = { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '3' } } }] };
    await world.bind('z-oldest', one);
    await world.clock.advance(0);
    world.clock.jumpWall(5_000);
    await world.bind('m-middle', one);
    world.clock.jumpWall(5_000);
    await world.bind('a-youngest', one);
    // Before the first housekeeping all pods count as running.
    await world.advance(15 * secondMs);
    const seen = ['z-oldest', 'm-middle', 'a-youngest'].map((name) => world.phase(name));
    assert.deepEqual(seen, ['Running', 'Failed', 'Failed']);
  });

  it('is rejected for a host port that a pod of another source has, also after a restart of the kubelet', async () => {
    const ports = { containers: [{ name: 'c', image: 'i:1', ports: [{ hostPort: 80 }] }] };
    const metadata = { name: 'web-n1', namespace: 'default', uid: 'hash' };
    const source = new HandSource('file', [{ metadata, spec: ports }]);
    await begin({ sources: () => [source] });
    const late = await world.bind('late', ports);
    await world.advance(3 * secondMs);
    const { phase, reason, message } = world.pod('late')?.status ?? {};
    const text = "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports";
    assert.deepEqual([phase, reason, message], ['Failed', 'NodePorts', `Pod was rejected: ${text}`]);
    world.kubelet.crash();
    await world.advance(20 * secondMs);
    assert.deepEqual([world.running('hash'), world.running(late.metadata.uid)], [1, 0]);
    source.set([]);
    await world.advance(20 * secondMs);
    await world.bind('next', ports);
    await world.advance(3 * secondMs);
    assert.equal(world.phase('next'), 'Running', 'the port is free');
  });

  it('is rejected for its operating system, and runs nothing', async () => {
    const pod = await bound('web', { os: { name: 'windows' } });
    const { phase, reason } = world.pod('web')?.status ?? {};
    assert.deepEqual([phase, reason, world.running(pod.metadata.uid)], ['Failed', 'PodOSNotSupported', 0]);
    const message = "Failed to admit pod as the OS field doesn't match node OS";
    assert.deepEqual(world.events('PodOSNotSupported'), [message]);
  });

  it('is rejected for its node selector only after the node was read from the API server', async () => {
    await begin();
    const from = world.api.requests.length;
    await world.bind('web', { nodeSelector: { disk: 'ssd' } });
    await world.advance(100);
    const requests = world.api.requests.slice(from).map(({ verb, resource }) => `${verb} ${resource}`);
    assert.deepEqual(requests, ['create pods', 'get nodes', 'get pods', 'patch pods']);
    const status = world.pod('web')?.status;
    const said = "Pod was rejected: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector";
    assert.deepEqual([status?.phase, status?.reason, status?.message], ['Failed', 'NodeAffinity', said]);
  });
});

describe('a pod with probes on a hollow kubelet', () => {
  let world: KubeletWorld;

  afterEach(async () => {
    assert.equal(await world.end(), 0, 'no pending sleeps after the end');
    assert.deepEqual(world.logger.at('error'), []);
  });

  /** A pod that was bound a second ago, with these probes of its container. */
  async function probed(probes: object, annotations: Readonly<Record<string, string>> = {}): Promise<Pod> {
    world = new KubeletWorld();
    await world.advance(5 * secondMs);
    const pod = await world.bind('web', { containers: [{ name: 'c', image: 'i:1', ...probes }] }, { annotations });
    await world.advance(secondMs);
    return pod;
  }

  const ready = (): string | undefined => world.condition('web', 'Ready')?.status;

  it('is ready only after the initial delay of its readiness probe, also if the kubelet restarts meanwhile', async () => {
    await probed({ readinessProbe: { initialDelaySeconds: 30, periodSeconds: 10 } });
    assert.deepEqual([world.phase('web'), ready(), world.container('web')?.started], ['Running', 'False', true]);
    await world.advance(10 * secondMs);
    world.kubelet.crash();
    await world.advance(18 * secondMs);
    assert.equal(ready(), 'False');
    await world.advance(4 * secondMs);
    assert.deepEqual([ready(), world.container('web')?.ready], ['True', true]);
    world.kubelet.crash();
    await world.advance(5 * secondMs);
    assert.deepEqual([ready(), world.container('web')?.restartCount], ['True', 0]);
  });

  it('is not ready while its readiness probe fails, with an Event', async () => {
    const readinessProbe = { periodSeconds: 1, failureThreshold: 2 };
    await probed({ readinessProbe }, { 'hollow-kubelet/readiness-fails': '10s..20s' });
    assert.equal(ready(), 'True');
    await world.advance(13 * secondMs);
    assert.equal(ready(), 'False');
    assert.match(world.events('Unhealthy')[0] ?? '', /^Readiness probe failed: /u);
    await world.advance(9 * secondMs);
    assert.equal(ready(), 'True');
  });

  it('has not started until its startup probe succeeds', async () => {
    const startupProbe = { initialDelaySeconds: 4, periodSeconds: 2 };
    await probed({ startupProbe, readinessProbe: {} });
    assert.deepEqual([world.container('web')?.started, ready()], [false, 'False']);
    await world.advance(5 * secondMs);
    assert.deepEqual([world.container('web')?.started, ready()], [true, 'True']);
  });

  it('is restarted when its liveness probe fails, and again with back-off', async () => {
    const livenessProbe = { periodSeconds: 1, failureThreshold: 3 };
    await probed({ livenessProbe }, { 'hollow-kubelet/liveness-fails': '5s..' });
    await world.advance(10 * secondMs);
    const { restartCount, state } = world.container('web') ?? {};
    assert.deepEqual([restartCount, state?.running === undefined], [1, false]);
    assert.deepEqual(world.events('Killing'), ['Container c failed liveness probe, will be restarted']);
    assert.match(world.events('Unhealthy')[0] ?? '', /^Liveness probe failed: /u);
    assert.deepEqual(world.events('BackOff'), []);
    await world.advance(60 * secondMs);
    assert.ok(world.events('BackOff').length > 0);
  });

  it('wakes only when a probe changes', async () => {
    await probed({
      readinessProbe: { initialDelaySeconds: 30, periodSeconds: 1 },
      livenessProbe: { periodSeconds: 1 },
    });
    await world.advance(33 * secondMs);
    assert.equal(ready(), 'True');
    const from = world.api.requests.length;
    await world.advance(300 * secondMs);
    assert.deepEqual(world.podRequests(from), []);
  });
});

describe('a pod that its kubelet terminates', () => {
  let world: KubeletWorld;

  afterEach(async () => {
    assert.equal(await world.end(), 0);
  });

  it('is evicted under resource pressure, with the reason in its final status', async () => {
    world = new KubeletWorld();
    await world.advance(5 * secondMs);
    const pod = await world.bind('web');
    await world.advance(5 * secondMs);
    world.kubelet.health.signals.setShare('memory.available', 0.001);
    await world.advance(30 * secondMs);
    const status = world.pod('web')?.status;
    assert.deepEqual([status?.phase, status?.reason], ['Failed', 'Evicted']);
    assert.match(status?.message ?? '', /^The node was low on resource: memory. /);
    assert.equal(world.condition('web', 'DisruptionTarget')?.reason, 'TerminationByKubelet');
    assert.equal(world.condition('web', 'Ready')?.reason, 'PodFailed');
    assert.equal(world.running(pod.metadata.uid), 0);
    await world.bind('late');
    await world.advance(15 * secondMs);
    const actual = world.pod('late')?.status?.message ?? '';
    assert.match(actual, /^Pod was rejected: The node had condition: \[MemoryPressure\]/);
  });

  it('is stopped by a graceful node shutdown, and new pods are rejected', async () => {
    world = new KubeletWorld({
      profile: { shutdownGracePeriodMs: 30 * secondMs, shutdownGracePeriodCriticalPodsMs: 10 * secondMs },
    });
    await world.advance(5 * secondMs);
    await world.bind('web');
    await world.advance(5 * secondMs);
    const ending = world.kubelet.node.shutdown.begin(world.signal);
    await world.advance(5 * secondMs);
    await ending;
    const status = world.pod('web')?.status;
    const expected = ['Failed', 'Terminated', 'Pod was terminated in response to imminent node shutdown.'];
    assert.deepEqual([status?.phase, status?.reason, status?.message], expected);
    await world.bind('late');
    await world.advance(secondMs);
    const said = 'Pod was rejected: Pod was rejected as the node is shutting down.';
    assert.deepEqual([world.pod('late')?.status?.reason, world.pod('late')?.status?.message], ['NodeShutdown', said]);
  });

  it('gets its final status if the kubelet that rejected it restarts', async () => {
    world = new KubeletWorld();
    await world.advance(5 * secondMs);
    await world.bind('web', { nodeSelector: { disk: 'ssd' } });
    await world.advance(5 * secondMs);
    assert.equal(world.container('web'), undefined);
    world.kubelet.crash();
    await world.advance(15 * secondMs);
    const end = world.container('web')?.state?.terminated;
    assert.deepEqual([end?.exitCode, end?.reason], [137, 'ContainerStatusUnknown']);
    assert.equal(world.condition('web', 'Ready')?.reason, 'PodFailed');
    assert.equal(world.pod('web')?.status?.reason, 'NodeAffinity');
    const from = world.api.requests.length;
    await world.advance(300 * secondMs);
    assert.deepEqual(world.podRequests(from), []);
  });
});

describe('a static pod on a hollow kubelet', () => {
  const name = 'stat-n1';
  let file: HandSource;
  let world: KubeletWorld;

  const manifest = (uid: string): Pod => ({
    metadata: { name, namespace: 'default', uid },
    spec: { nodeName: 'n1', terminationGracePeriodSeconds: 30, containers: [{ name: 'c', image: 'i:1' }] },
  });

  async function begin(profile: KubeletWorldOptions['profile'] = {}): Promise<void> {
    file = new HandSource('file', [manifest('hash-1')]);
    world = new KubeletWorld({ sources: () => [file], profile });
    await world.advance(5 * secondMs);
  }

  afterEach(async () => {
    assert.equal(await world.end(), 0);
    assert.deepEqual(world.logger.at('error'), []);
  });

  it('has a mirror with its own uid, owned by the node, with its status', async () => {
    await begin();
    const mirror = world.pod(name);
    assert.equal(mirror?.metadata.annotations?.['kubernetes.io/config.mirror'], 'hash-1');
    assert.equal(mirror?.metadata.ownerReferences?.[0]?.uid, world.node()?.metadata.uid);
    await world.advance(10 * secondMs);
    assert.equal(world.phase(name), 'Running');
    assert.equal(world.running('hash-1'), 1);
  });

  it('keeps running when its mirror is deleted, and gets a new one', async () => {
    await begin();
    await world.advance(10 * secondMs);
    const { uid } = world.pod(name)?.metadata ?? {};
    await world.remove(name, 0);
    await world.advance(2 * secondMs);
    assert.ok(world.pod(name) !== undefined && world.pod(name)?.metadata.uid !== uid);
    await world.advance(10 * secondMs);
    assert.equal(world.phase(name), 'Running');
    assert.equal(world.container(name)?.restartCount, 0);
  });

  it('is succeeded by an edited one only after it has terminated', async () => {
    await begin({ podStopDelayMs: 4 * secondMs });
    file.set([manifest('hash-2')]);
    await world.advance(3 * secondMs);
    assert.deepEqual([world.running('hash-1'), world.running('hash-2')], [1, 0]);
    await world.advance(18 * secondMs);
    assert.deepEqual([world.running('hash-1'), world.running('hash-2')], [0, 1]);
    assert.equal(world.pod(name)?.metadata.annotations?.['kubernetes.io/config.mirror'], 'hash-2');
  });

  it('that was exported from the API server is a mirror of nothing, as for a kubelet: nothing runs', async () => {
    await begin();
    const exported = manifest('hash-3');
    const annotations = { ...exported.metadata.annotations, 'kubernetes.io/config.mirror': 'hash-1' };
    file.set([{ ...exported, metadata: { ...exported.metadata, name: 'exported-n1', annotations } }]);
    await world.advance(60 * secondMs);
    assert.deepEqual([world.running('hash-1'), world.running('hash-3')], [0, 0]);
    assert.equal(world.pod('exported-n1'), undefined);
  });

  it('is removed together with its mirror', async () => {
    await begin();
    file.set([]);
    await world.advance(6 * secondMs);
    assert.equal(world.pod(name), undefined);
    assert.equal(world.running('hash-1'), 0);
  });

  it('runs while the API server is unreachable', async () => {
    file = new HandSource('file', [manifest('hash-1')]);
    world = new KubeletWorld({ sources: () => [file] });
    world.client.cut();
    await world.advance(30 * secondMs);
    assert.equal(world.running('hash-1'), 1);
    world.client.restore();
    await world.advance(120 * secondMs);
    assert.equal(world.phase(name), 'Running');
  });
});
