// The times at which pods are evicted and marked. The proxy mostly records the requests here.
import assert from 'node:assert/strict';
import { formatTime } from '../../../../src/machinery/api/timestamps.ts';
import type { Scenario } from '../scenario.ts';
import { graceMs, notReady, patient, type Scene, tolerating, unreachable } from '../scene.ts';

const bothTaints = ['unreachable:NoExecute', 'unreachable:NoSchedule'];
/** `timeAdded` has whole seconds: an eviction may seem early by this much, */
const earlyMsMax = 1_000;
/** and late by this much, including the second that is added to every toleration. */
const lateMsMax = 4_000;

/** Asserts that the pod is deleted after these seconds, and not before. */
async function assertEvictedAfter(scene: Scene, pod: string, seconds: number, sinceMs: number): Promise<void> {
  const leftMs = sinceMs + seconds * 1_000 + lateMsMax - performance.now();
  await scene.untilGone(pod, Math.max(0, leftMs));
  const afterMs = (scene.deletedAtMs(pod) ?? assert.fail(`${pod} was not deleted by the controller`)) - sinceMs;
  assert.ok(afterMs >= seconds * 1_000 - earlyMsMax, `${pod} was deleted after ${afterMs} ms, ${seconds} s tolerated`);
}

const removedTaint: Scenario = {
  title: 'a pod is not evicted for a taint that was removed in time, although another taint stays',
  pods: [['tolerant', 'a0', [tolerating('example.com/x', 5), tolerating('example.com/y', 3_600)]]],
  async play(scene) {
    const [x, y] = ['x', 'y'].map((name) => ({ key: `example.com/${name}`, effect: 'NoExecute' }) as const);
    assert.ok(x !== undefined && y !== undefined);
    await scene.setOwnTaints('a0', [x, y]);
    await scene.sleep(2_000);
    await scene.setOwnTaints('a0', [y]);
    await scene.sleep(7_000);
    return {};
  },
};

const laterTaint: Scenario = {
  title: 'after its node recovered, a pod is evicted when the toleration of another taint that stays has ended',
  pods: [['tolerant', 'a0', [tolerating(unreachable, 6), tolerating('example.com/maintenance', 20)]]],
  async play(scene) {
    await scene.setOwnTaints('a0', [{ key: 'example.com/maintenance', effect: 'NoExecute' }]);
    const taintedAtMs = performance.now();
    scene.cluster.stopHeartbeats('a0');
    await scene.untilUnknown('a0', graceMs + 5_000);
    await scene.within(5_000, 'the NoExecute taint', async () =>
      (await scene.cluster.taints('a0')).includes('unreachable:NoExecute'),
    );
    await scene.sleep(1_000);
    await scene.cluster.resumeHeartbeats('a0');
    await assertEvictedAfter(scene, 'tolerant', 20, taintedAtMs);
    return { recovered: ['a0'], evicted: ['tolerant'] };
  },
};

const swappedTaints: Scenario = {
  title: 'when not-ready becomes unreachable, the toleration of unreachable starts then, and no deadline is delayed',
  pods: [
    ['not-ready-for-ever', 'a0', [tolerating(notReady), tolerating(unreachable, 6)]],
    ['both-for-14-s', 'a0', [tolerating(notReady, 14), tolerating(unreachable, 14)]],
  ],
  async play(scene) {
    await scene.cluster.post('a0', { Ready: 'False' });
    await scene.untilTaints('a0', ['not-ready:NoExecute', 'not-ready:NoSchedule'], 5_000);
    const notReadyAtMs = performance.now();
    await scene.sleep(3_000);
    scene.cluster.stopHeartbeats('a0');
    await scene.untilTaints('a0', bothTaints, graceMs + 5_000);
    const unreachableAtMs = performance.now();
    await Promise.all([
      assertEvictedAfter(scene, 'not-ready-for-ever', 6, unreachableAtMs),
      assertEvictedAfter(scene, 'both-for-14-s', 14, notReadyAtMs),
    ]);
    return { silent: ['a0'], evicted: ['not-ready-for-ever', 'both-for-14-s'] };
  },
};

const landedPods: Scenario = {
  title: 'a pod that is bound to a tainted node is evicted after its full tolerationSeconds, across a restart too',
  async play(scene) {
    scene.cluster.stopHeartbeats('a0');
    await scene.untilTaints('a0', bothTaints, graceMs + 8_000);
    await scene.sleep(8_000);
    const landedAtMs = performance.now();
    await scene.addPod('created', 'a0', [tolerating(unreachable, 5)]);
    await scene.addPodByBinding('bound', 'a0', [tolerating(unreachable, 5)]);
    await scene.addPodByBinding('across-a-restart', 'a0', [tolerating(unreachable, 15)]);
    await Promise.all([
      assertEvictedAfter(scene, 'created', 5, landedAtMs),
      assertEvictedAfter(scene, 'bound', 5, landedAtMs),
    ]);
    await scene.restartController();
    await assertEvictedAfter(scene, 'across-a-restart', 15, landedAtMs);
    return { silent: ['a0'], evicted: ['created', 'bound', 'across-a-restart'] };
  },
};

const fourPods = ['p0', 'p1', 'p2', 'p3'];

const markedOnce: Scenario = {
  title: 'each pod of a silent node is marked Ready=False by one request',
  async prepare(scene) {
    for (const name of fourPods) await scene.addPod(name, 'a0', patient);
  },
  async play(scene) {
    // The pods are evaluated again before the watch delivers the first writes.
    scene.proxy.lagAnswers(/^\/api\/v1\/pods\?.*watch=/, 500);
    scene.cluster.stopHeartbeats('a0');
    await scene.untilTaints('a0', bothTaints, graceMs + 8_000);
    await scene.sleep(3_000);
    return { silent: ['a0'], marks: Object.fromEntries(fourPods.map((name) => [name, 1])) };
  },
};

const secondSilence: Scenario = {
  title: 'pods that are Ready again after one renewal of an Unknown node are marked when it has been silent again',
  async prepare(scene) {
    for (const name of fourPods) await scene.addPod(name, 'a0', patient);
  },
  async play(scene) {
    const areMarked = async (): Promise<boolean> => {
      const pods = await scene.pods();
      return pods.every(({ status }) =>
        (status.conditions ?? []).some(({ type, status: ready }) => type === 'Ready' && ready === 'False'),
      );
    };
    scene.cluster.stopHeartbeats('a0');
    await scene.untilTaints('a0', bothTaints, graceMs + 8_000);
    await scene.within(5_000, 'all pods are marked', areMarked);
    await scene.sleep(1_000);
    await scene.cluster.renewAgain('a0');
    scene.cluster.stopHeartbeats('a0');
    for (const name of fourPods) await scene.cluster.postPod(name);
    await scene.within(graceMs + 15_000, 'all pods are marked again', areMarked);
    return { silent: ['a0'] };
  },
};

const oldStamp: Scenario = {
  title: 'the toleration of a taint with an old timeAdded starts when the taint is observed',
  pods: [['tolerant', 'a0', [tolerating('example.com/x', 6)]]],
  async play(scene) {
    const timeAdded = formatTime(Date.now() - 30_000);
    await scene.setOwnTaints('a0', [{ key: 'example.com/x', effect: 'NoExecute', timeAdded }]);
    await assertEvictedAfter(scene, 'tolerant', 6, performance.now());
    return { evicted: ['tolerant'] };
  },
};

export const deadlineScenarios: readonly Scenario[] = [
  removedTaint,
  laterTaint,
  swappedTaints,
  landedPods,
  markedOnce,
  secondSilence,
  oldStamp,
];
