import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findCondition, listConditions } from '../../../../../src/machinery/api/conditions.ts';
import type { Container, Pod } from '../../../../../src/machinery/api/pod.ts';
import {
  buildApiStatus,
  deadlineMsOf,
  isPastDeadline,
  type PodStatus,
  type StatusSources,
} from '../../../../../src/hollow-cluster/kubelet/pod-status/build-api-status.ts';
import { noProbes } from '../../../../../src/hollow-cluster/kubelet/runtime/pod-runtime.ts';
import { makePod, RuntimeWorld, targetOf } from '../../../../support/runtime-world.ts';

const hostIPs = ['192.0.2.2'];
const startedAt = '2026-01-02T03:04:05Z';

function statusOf(world: RuntimeWorld, pod: Pod, more: Partial<StatusSources> = {}): PodStatus {
  const known = { pod, runtime: world.inspect(pod), previous: undefined, isWorkerTerminal: false, waiting: [] };
  return buildApiStatus({ ...known, hostIPs, probes: noProbes, ...more });
}

/** Status, reason and message of one condition. */
function conditionOf(status: PodStatus, type: string): readonly (string | undefined)[] {
  const condition = findCondition(listConditions(status.conditions), type);
  return [condition?.status, condition?.reason, condition?.message].filter((part) => part !== undefined);
}

const stateOf = (status: PodStatus, name = 'c') =>
  [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])].find((each) => each.name === name);

/** The history of a pod: each status is computed from the previous one. */
class Life {
  readonly world = new RuntimeWorld();
  readonly pod: Pod;
  said: PodStatus | undefined;

  constructor(pod: Pod) {
    this.pod = pod;
  }

  async sync(): Promise<PodStatus> {
    const { waiting } = await this.world.sync(this.pod);
    return this.say({ waiting });
  }

  say(more: Partial<StatusSources> = {}): PodStatus {
    this.said = statusOf(this.world, this.pod, { previous: this.said, ...more });
    return this.said;
  }

  exit(code: number): void {
    assert.ok(this.world.host.exit(this.pod.metadata.uid ?? '', 'c', code));
  }
}

async function begin(pod: Pod): Promise<Life> {
  const life = new Life(pod);
  await life.sync();
  return life;
}

describe('the status of a pod', () => {
  const two = makePod('web', {
    containers: [
      { name: 'b', image: 'img:1' },
      { name: 'a', image: 'img:1' },
    ],
  });

  it('is Pending before anything runs, with the containers waiting [G1]', () => {
    assert.deepEqual(statusOf(new RuntimeWorld(), two), {
      phase: 'Pending',
      observedGeneration: 1,
      conditions: [
        {
          type: 'PodReadyToStartContainers',
          lastProbeTime: null,
          observedGeneration: 1,
          status: 'False',
          reason: 'PodSandboxNotReady',
          message: 'no pod sandbox exists',
        },
        { type: 'Initialized', lastProbeTime: null, observedGeneration: 1, status: 'True' },
        ...['Ready', 'ContainersReady'].map((type) => ({
          type,
          lastProbeTime: null,
          observedGeneration: 1,
          status: 'False',
          reason: 'ContainersNotReady',
          message: 'containers with unready status: [b a]',
        })),
        { type: 'PodScheduled', lastProbeTime: null, observedGeneration: 1, status: 'True' },
      ],
      hostIP: '192.0.2.2',
      hostIPs: [{ ip: '192.0.2.2' }],
      qosClass: 'BestEffort',
      resources: {},
      containerStatuses: ['a', 'b'].map((name) => ({
        name,
        image: 'img:1',
        imageID: '',
        ready: false,
        started: false,
        restartCount: 0,
        state: { waiting: { reason: 'ContainerCreating' } },
        lastState: {},
      })),
    });
  });

  it('reports that it runs, since when, and its addresses [G1]', async () => {
    const world = new RuntimeWorld();
    const pod = makePod('web');
    await world.sync(pod);
    const status = statusOf(world, pod);
    assert.equal(status.phase, 'Running');
    assert.deepEqual([status.podIP, status.podIPs], ['10.128.0.1', [{ ip: '10.128.0.1' }]]);
    assert.deepEqual(status.containerStatuses, [
      {
        name: 'c',
        image: 'img:1',
        imageID: 'img:1',
        containerID: 'hollow://web_ns_web-uid_0_c_0',
        ready: true,
        started: true,
        restartCount: 0,
        resources: {},
        state: { running: { startedAt } },
        lastState: {},
      },
    ]);
    for (const type of ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled']) {
      assert.deepEqual(conditionOf(status, type), ['True'], type);
    }
  });

  it('has no observedGeneration for a static pod', () => {
    const pod = makePod('web');
    const { generation: _, ...metadata } = pod.metadata;
    const status = statusOf(new RuntimeWorld(), { ...pod, metadata });
    assert.equal('observedGeneration' in status, false);
    assert.ok(listConditions(status.conditions).every((condition) => !('observedGeneration' in condition)));
  });

  it("has the host's addresses on the host network, primary first", () => {
    const pod = makePod('web', { hostNetwork: true });
    const status = statusOf(new RuntimeWorld(), pod, { hostIPs: ['192.0.2.2', '2001:db8::2'] });
    assert.deepEqual([status.hostIP, status.podIP], ['192.0.2.2', '192.0.2.2']);
    assert.deepEqual(status.hostIPs, [{ ip: '192.0.2.2' }, { ip: '2001:db8::2' }]);
    assert.deepEqual(status.podIPs, status.hostIPs);
  });

  it('contains the resources and the volume mounts of its containers', async () => {
    const world = new RuntimeWorld();
    const resources = { requests: { cpu: '250m', memory: '64Mi' }, limits: { memory: '128Mi' } };
    const volumeMounts = [
      { name: 'v', mountPath: '/v' },
      { name: 'r', mountPath: '/r', readOnly: true },
    ];
    const pod = makePod('web', { containers: [{ name: 'c', image: 'img:1', resources, volumeMounts }] });
    await world.sync(pod);
    const status = statusOf(world, pod);
    const expected = [resources, resources.requests, 'Burstable'];
    assert.deepEqual([status.resources, status.allocatedResources, status.qosClass], expected);
    const [container] = status.containerStatuses ?? [];
    assert.deepEqual([container?.resources, container?.allocatedResources], [resources, resources.requests]);
    assert.deepEqual(container?.volumeMounts, [
      { name: 'v', mountPath: '/v' },
      { name: 'r', mountPath: '/r', readOnly: true, recursiveReadOnly: 'Disabled' },
    ]);
  });

  it('is not started before its startup probe succeeds, and not ready before its readiness probe does', async () => {
    const world = new RuntimeWorld();
    const pod = makePod('web');
    await world.sync(pod);
    const id = world.inspect(pod).containers[0]?.id ?? '';
    const unstarted = statusOf(world, pod, { probes: { ...noProbes, unstarted: new Set([id]) } });
    assert.deepEqual([stateOf(unstarted)?.started, stateOf(unstarted)?.ready], [false, false]);
    const unready = statusOf(world, pod, { probes: { ...noProbes, unready: new Set([id]) } });
    assert.deepEqual([stateOf(unready)?.started, stateOf(unready)?.ready], [true, false]);
    assert.deepEqual(conditionOf(unready, 'Ready'), [
      'False',
      'ContainersNotReady',
      'containers with unready status: [c]',
    ]);
  });
});

describe('init containers in a status', () => {
  const init = (name: string): Container => ({ name, image: 'img:1' });
  const pod = makePod(
    'staged',
    { initContainers: [init('i1'), init('i2')] },
    { 'hollow-kubelet/exit-after.i1': '3s', 'hollow-kubelet/exit-after.i2': '4s' },
  );

  it('are reported one by one until all have completed [G2]', async () => {
    const life = new Life(pod);
    const seen: unknown[] = [];
    const look = (status: PodStatus): void => {
      const states = ['i1', 'i2', 'c'].map((name) => {
        const { state = {} } = stateOf(status, name) ?? {};
        return state.waiting?.reason ?? Object.keys(state)[0];
      });
      seen.push([status.phase, conditionOf(status, 'Initialized'), ...states]);
    };
    look(life.say());
    look(await life.sync());
    await life.world.clock.advance(3_000);
    look(life.say());
    look(await life.sync());
    await life.world.clock.advance(4_000);
    look(life.say());
    look(await life.sync());
    const incomplete = (names: string): readonly string[] => [
      'False',
      'ContainersNotInitialized',
      `containers with incomplete status: [${names}]`,
    ];
    const waits = 'PodInitializing';
    assert.deepEqual(seen, [
      ['Pending', incomplete('i1 i2'), waits, waits, waits],
      ['Pending', incomplete('i1 i2'), 'running', waits, waits],
      ['Pending', incomplete('i2'), 'terminated', waits, waits],
      ['Pending', incomplete('i2'), 'terminated', 'running', waits],
      ['Pending', ['True'], 'terminated', 'terminated', waits],
      ['Running', ['True'], 'terminated', 'terminated', 'running'],
    ]);
    const found = life.said?.initContainerStatuses?.map(({ name, ready, started }) => `${name} ${ready} ${started}`);
    assert.deepEqual(found, ['i1 true false', 'i2 true false']);
  });

  it('that run again in a new sandbox leave the pod initialized, and Pending only while a sidecar starts', async () => {
    const life = await begin(makePod('web', { initContainers: [init('i')] }, { 'hollow-kubelet/exit-after.i': '3s' }));
    await life.world.clock.advance(3_000);
    assert.deepEqual(conditionOf(await life.sync(), 'Initialized'), ['True']);
    life.world.host.reboot('gone');
    const again = await life.sync();
    assert.ok(stateOf(again, 'i')?.state?.running !== undefined);
    assert.equal(stateOf(again, 'c')?.state?.waiting?.reason, 'PodInitializing');
    assert.deepEqual(conditionOf(again, 'Initialized'), ['True']);
    const sidecar = { ...init('s'), restartPolicy: 'Always' };
    const other = new Life(makePod('other', { initContainers: [sidecar] }));
    for (let pass = 0; pass < 2; pass += 1) await other.sync();
    assert.equal(other.say().phase, 'Running');
    other.world.host.reboot('exited');
    await other.sync();
    const started = other.world.inspect(other.pod).containers.find(({ name }) => name === 's');
    const unstarted = new Set([started?.id ?? '']);
    assert.equal(other.say({ probes: { ...noProbes, unstarted } }).phase, 'Pending');
    assert.equal(other.say().phase, 'Running');
  });

  it('make the pod fail if one fails and is not restarted', async () => {
    for (const [restartPolicy, phase] of Object.entries({ Never: 'Failed', OnFailure: 'Pending' })) {
      const failing = makePod(
        'staged',
        { restartPolicy, initContainers: [init('i')] },
        { 'hollow-kubelet/exit-code.i': '1' },
      );
      const life = new Life(failing);
      await life.world.sync(failing);
      const status = life.say();
      assert.deepEqual([status.phase, stateOf(status)?.state?.waiting?.reason], [phase, 'PodInitializing']);
    }
  });

  it('that were removed count as completed if regular containers have started', async () => {
    const life = new Life(pod);
    for (const ms of [0, 3_000, 4_000]) {
      await life.world.clock.advance(ms);
      await life.sync();
    }
    const uid = pod.metadata.uid ?? '';
    const gone = life.world.inspect(pod).containers.filter(({ kind }) => kind === 'init');
    life.world.host.remove(uid, new Set(gone.map(({ id }) => id)));
    const newStatus = statusOf(life.world, pod);
    assert.deepEqual(stateOf(newStatus, 'i1')?.state?.terminated, {
      exitCode: 0,
      reason: 'Completed',
      message:
        'Unable to get init container status from container runtime and pod has been initialized, treat it as exited normally',
      startedAt: null,
      finishedAt: null,
    });
    assert.deepEqual([newStatus.phase, conditionOf(newStatus, 'Initialized')], ['Running', ['True']]);
    // A known exit is kept.
    assert.equal(stateOf(life.say(), 'i1')?.state?.terminated?.message, undefined);
  });

  it('that are sidecars count for readiness', async () => {
    const sidecar = { ...init('s'), restartPolicy: 'Always' };
    const life = await begin(makePod('web', { initContainers: [sidecar] }));
    assert.equal(life.said?.phase, 'Pending');
    const status = await life.sync();
    assert.deepEqual([status.phase, stateOf(status, 's')?.ready], ['Running', true]);
    life.world.host.exit(life.pod.metadata.uid ?? '', 's', 1);
    const without = life.say();
    assert.equal(without.phase, 'Running');
    assert.deepEqual(conditionOf(without, 'Ready').at(-1), 'containers with unready status: [s]');
    assert.deepEqual(conditionOf(without, 'Initialized'), ['True']);
  });
});

describe('the end of a pod', () => {
  const rows: readonly [string, number, string, string][] = [
    ['Never', 0, 'Succeeded', 'PodCompleted'],
    ['Never', 3, 'Failed', 'PodFailed'],
    ['OnFailure', 0, 'Succeeded', 'PodCompleted'],
  ];
  for (const [restartPolicy, exitCode, phase, reason] of rows) {
    it(`${restartPolicy}, exit ${exitCode}: ${phase} [G4]`, async () => {
      const life = await begin(makePod('web', { restartPolicy }));
      await life.world.clock.advance(5_000);
      life.exit(exitCode);
      const status = life.say();
      assert.equal(status.phase, phase);
      assert.deepEqual(conditionOf(status, 'Ready'), ['False', reason]);
      assert.deepEqual(conditionOf(status, 'ContainersReady'), ['False', reason]);
      const initialized = phase === 'Succeeded' ? ['True', 'PodCompleted'] : ['True'];
      assert.deepEqual(conditionOf(status, 'Initialized'), initialized);
      assert.deepEqual(stateOf(status)?.state, {
        terminated: {
          exitCode,
          reason: exitCode === 0 ? 'Completed' : 'Error',
          startedAt,
          finishedAt: '2026-01-02T03:04:10Z',
          containerID: 'hollow://web_ns_web-uid_0_c_0',
        },
      });
    });
  }

  it('is not reached while a container is to be restarted', async () => {
    for (const [restartPolicy, exitCode] of Object.entries({ Always: 0, OnFailure: 1 })) {
      const life = await begin(makePod('web', { restartPolicy }));
      life.exit(exitCode);
      assert.equal(life.say().phase, 'Running');
    }
  });

  it('is reached when its worker is terminal; static pods end only by themselves', async () => {
    const annotations = { 'kubernetes.io/config.source': 'file' };
    for (const [notes, exitCode, phase] of [
      [{}, 0, 'Succeeded'],
      [{}, 137, 'Failed'],
      [annotations, 0, 'Running'],
    ] as const) {
      const life = await begin(makePod('web', {}, notes));
      life.exit(exitCode);
      assert.equal(life.say({ isWorkerTerminal: true }).phase, phase);
    }
  });

  it('matches the recorded status of a pod deleted on a real kubelet', async () => {
    const life = await begin(makePod('web'));
    await life.world.clock.advance(76_000);
    await life.world.runtime.killPod(targetOf(life.pod), 5_000, life.world.signal);
    const status = life.say({ isWorkerTerminal: true });
    assert.equal(status.phase, 'Succeeded');
    assert.deepEqual(conditionOf(status, 'PodReadyToStartContainers'), [
      'False',
      'PodSandboxNotReady',
      'pod sandbox is not ready',
    ]);
    assert.deepEqual(conditionOf(status, 'Initialized'), ['True', 'PodCompleted']);
    assert.deepEqual(conditionOf(status, 'Ready'), ['False', 'PodCompleted']);
  });

  it('keeps what was reported of the sandbox of a stopped pod when the runtime has removed it', async () => {
    const life = await begin(makePod('web'));
    await life.world.runtime.killPod(targetOf(life.pod), 5_000, life.world.signal);
    life.say({ isWorkerTerminal: true });
    life.world.runtime.pruneContainers(life.pod.metadata.uid ?? '', 0);
    const status = life.say({ isWorkerTerminal: true });
    const reported = ['False', 'PodSandboxNotReady', 'pod sandbox is not ready'];
    assert.deepEqual(conditionOf(status, 'PodReadyToStartContainers'), reported);
  });

  it('is final, whatever the runtime reports, on the kubelet and on the API server', async () => {
    const life = await begin(makePod('web'));
    const ended = { phase: 'Failed', reason: 'Evicted', message: 'too much' };
    const known = life.say({ previous: ended });
    assert.deepEqual([known.phase, known.reason, known.message], ['Failed', 'Evicted', 'too much']);
    const stored = { ...life.pod, status: { phase: 'Succeeded' } };
    assert.equal(statusOf(life.world, stored, { previous: { phase: 'Running' } }).phase, 'Succeeded');
    assert.equal(statusOf(life.world, stored, { previous: ended }).phase, 'Succeeded');
  });

  it('keeps reason and message as long as the phase stays', async () => {
    const life = await begin(makePod('web'));
    const lost = { phase: 'Running', reason: 'NodeLost', message: 'no news' };
    assert.equal(life.say({ previous: lost }).reason, 'NodeLost');
    assert.equal(life.say({ previous: { ...lost, phase: 'Pending' } }).reason, undefined);
    const stored = { ...life.pod, status: lost };
    assert.equal(statusOf(life.world, stored, { previous: { phase: 'Running' } }).message, 'no news');
  });

  it('is reached when the active deadline has passed [G11]', async () => {
    const pod = makePod('web', { activeDeadlineSeconds: 30 });
    const life = await begin(pod);
    const startMs = Date.parse(startedAt);
    const previous = { ...life.said, startTime: startedAt };
    assert.equal(life.say({ previous, nowMs: startMs + 29_999 }).phase, 'Running');
    const over = life.say({ previous, nowMs: startMs + 30_000 });
    const expected = ['Failed', 'DeadlineExceeded', 'Pod was active on the node longer than the specified deadline'];
    assert.deepEqual([over.phase, over.reason, over.message], expected);
    assert.equal(deadlineMsOf(pod, startedAt), startMs + 30_000);
    assert.equal(deadlineMsOf(pod, undefined), undefined);
    assert.equal(isPastDeadline(makePod('web'), startedAt, startMs + 1e9), false);
  });
});

describe('a container that waits for its restart', () => {
  it('reports the reason, and its last termination [G3]', async () => {
    const life = await begin(
      makePod('web', {}, { 'hollow-kubelet/exit-after': '1s', 'hollow-kubelet/exit-code': '1' }),
    );
    await life.world.clock.advance(1_000);
    await life.sync();
    await life.world.clock.advance(1_000);
    const waits = await life.sync();
    const { uid } = life.pod.metadata;
    assert.equal(waits.phase, 'Running');
    assert.deepEqual(stateOf(waits)?.state, {
      waiting: { reason: 'CrashLoopBackOff', message: `back-off 10s restarting failed container=c pod=web_ns(${uid})` },
    });
    const { restartCount, lastState, ready, started } = stateOf(waits) ?? {};
    assert.deepEqual([restartCount, lastState?.terminated?.exitCode, ready, started], [1, 1, false, false]);
    await life.world.clock.advance(10_000);
    const runs = await life.sync();
    assert.deepEqual(stateOf(runs)?.state, { running: { startedAt: '2026-01-02T03:04:17Z' } });
    const expected = [2, '2026-01-02T03:04:07Z'];
    assert.deepEqual([stateOf(runs)?.restartCount, stateOf(runs)?.lastState?.terminated?.finishedAt], expected);
  });

  it('takes its last termination from the runtime if no earlier status has it', async () => {
    const life = await begin(makePod('web'));
    life.exit(7);
    await life.world.sync(life.pod);
    const status = statusOf(life.world, life.pod);
    assert.deepEqual([stateOf(status)?.restartCount, stateOf(status)?.lastState?.terminated?.exitCode], [1, 7]);
    assert.ok(stateOf(status)?.state?.running !== undefined);
  });

  it('shows its last termination until the next sync', async () => {
    const life = await begin(makePod('web'));
    life.exit(2);
    assert.equal(stateOf(life.say())?.state?.terminated?.exitCode, 2);
  });

  it('that never ran keeps its pod Pending', async () => {
    const life = new Life(makePod('web', {}, { 'hollow-kubelet/pull-failure': 'not found' }));
    const status = await life.sync();
    assert.deepEqual(stateOf(status)?.state, { waiting: { reason: 'ErrImagePull', message: 'not found' } });
    assert.equal(status.phase, 'Pending');
  });

  it('is waiting without a reason while it starts', async () => {
    const world = new RuntimeWorld({ script: { startMs: 10_000 } });
    const pod = makePod('web');
    const pass = world.runtime.syncPod(pod, world.inspect(pod), world.signal);
    await world.clock.advance(0);
    const status = statusOf(world, pod);
    assert.deepEqual([status.phase, stateOf(status)?.state], ['Pending', { waiting: {} }]);
    await world.clock.advance(10_000);
    await pass;
  });
});

describe('readiness gates', () => {
  const pod = makePod('web', { readinessGates: [{ conditionType: 'x' }, { conditionType: 'y' }] });

  it('keep a pod from being ready until all are True [G10]', async () => {
    const world = new RuntimeWorld();
    await world.sync(pod);
    const stored = (...conditions: readonly { readonly type: string; readonly status: string }[]) => {
      const status = statusOf(world, { ...pod, status: { conditions } });
      assert.deepEqual(conditionOf(status, 'ContainersReady'), ['True']);
      return conditionOf(status, 'Ready');
    };
    assert.deepEqual(stored(), [
      'False',
      'ReadinessGatesNotReady',
      'corresponding condition of pod readiness gate "x" does not exist., corresponding condition of pod readiness gate "y" does not exist.',
    ]);
    assert.deepEqual(stored({ type: 'x', status: 'True' }, { type: 'y', status: 'False' }), [
      'False',
      'ReadinessGatesNotReady',
      'the status of pod readiness gate "y" is not "True", but False',
    ]);
    assert.deepEqual(stored({ type: 'x', status: 'True' }, { type: 'y', status: 'True' }), ['True']);
  });

  it('are ignored while the containers are not ready [G10]', () => {
    assert.equal(conditionOf(statusOf(new RuntimeWorld(), pod), 'Ready')[1], 'ContainersNotReady');
  });

  it('and all conditions of other clients stay unchanged', async () => {
    const world = new RuntimeWorld();
    const gate = { type: 'x', status: 'True', lastTransitionTime: startedAt };
    const disruption = { type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet' };
    const conditions = [gate, { type: 'Ready', status: 'True' }, { ...disruption, reason: 'other' }];
    const status = statusOf(world, { ...pod, status: { conditions } }, { previous: { conditions: [disruption] } });
    assert.deepEqual(listConditions(status.conditions).slice(0, 2), [gate, disruption]);
    assert.equal(listConditions(status.conditions).length, 7);
  });
});

describe('containers that the runtime no longer has', () => {
  it('are reported as lost if they ran, and their restart is counted [G13]', async () => {
    const life = await begin(makePod('web'));
    life.world.host.reboot('gone');
    const lost = life.say();
    assert.deepEqual(stateOf(lost)?.state, { waiting: { reason: 'ContainerCreating' } });
    assert.deepEqual(stateOf(lost)?.lastState?.terminated, {
      exitCode: 137,
      reason: 'ContainerStatusUnknown',
      message: 'The container could not be located when the pod was deleted.  The container used to be Running',
      startedAt: null,
      finishedAt: null,
    });
    assert.deepEqual([lost.phase, stateOf(lost)?.restartCount], ['Running', 1]);
    const again = await life.sync();
    assert.deepEqual([stateOf(again)?.restartCount, stateOf(again)?.lastState?.terminated?.exitCode], [1, 137]);
    assert.ok(stateOf(again)?.state?.running !== undefined);
  });

  it('do not count as restarted if the pod is being deleted', async () => {
    const life = await begin(makePod('web'));
    life.world.host.reboot('gone');
    const deleted = { ...life.pod, metadata: { ...life.pod.metadata, deletionTimestamp: startedAt } };
    const status = statusOf(life.world, deleted, { previous: life.said, isWorkerTerminal: true });
    assert.deepEqual([stateOf(status)?.restartCount, status.phase], [0, 'Failed']);
  });

  it('keep their reported termination if they had ended', async () => {
    const life = await begin(makePod('web', { restartPolicy: 'Never' }));
    life.exit(0);
    life.say();
    life.world.host.reboot('gone');
    const status = life.say();
    assert.deepEqual([status.phase, stateOf(status)?.state?.terminated?.exitCode], ['Succeeded', 0]);
  });

  it('leave their terminated pod its address', async () => {
    const life = await begin(makePod('web'));
    life.say();
    life.world.host.reboot('gone');
    const { said } = life;
    assert.equal(life.say({ isWorkerTerminal: true }).podIP, '10.128.0.1');
    assert.equal(life.say({ previous: said }).podIP, undefined);
  });

  it('are waiting if they never ran', () => {
    const life = new Life(makePod('web'));
    life.say();
    assert.deepEqual(stateOf(life.say())?.lastState, {});
  });

  it('count as killed if the runtime has lost their state', async () => {
    const life = await begin(makePod('web'));
    life.world.host.reboot('unknown');
    assert.deepEqual(stateOf(statusOf(life.world, life.pod))?.state, { waiting: {} });
    const status = life.say();
    assert.deepEqual(stateOf(status)?.state?.terminated, {
      exitCode: 137,
      reason: 'ContainerStatusUnknown',
      message: 'The container could not be located when the pod was terminated',
      startedAt: null,
      finishedAt: null,
    });
    assert.equal(stateOf(status)?.restartCount, 1);
  });

  it('never decrease the restart count, and keep the last termination', async () => {
    const life = await begin(makePod('web'));
    const terminated = { exitCode: 7 };
    const containerStatuses = [
      { name: 'c', ready: true, image: 'i', imageID: 'i', restartCount: 5, state: {}, lastState: { terminated } },
    ];
    const status = life.say({ previous: { containerStatuses } });
    assert.deepEqual([stateOf(status)?.restartCount, stateOf(status)?.lastState], [5, { terminated }]);
    // It runs again, and the runtime has a lower restart count.
    const ended = { ...containerStatuses[0], name: 'c', ready: true, image: 'i', imageID: 'i', restartCount: 0 };
    const runs = life.say({ previous: { containerStatuses: [{ ...ended, state: { terminated }, lastState: {} }] } });
    assert.deepEqual([stateOf(runs)?.restartCount, stateOf(runs)?.lastState], [1, { terminated }]);
  });
});
