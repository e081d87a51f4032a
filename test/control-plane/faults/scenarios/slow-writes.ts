// Writes that are delayed by other writes, or until they are no longer needed.
import assert from 'node:assert/strict';
import { type Scenario, threeZones } from '../scenario.ts';
import { graceMs, impatient, patient, type Scene, tolerating, unreachable } from '../scene.ts';

const noExecute = /"NoExecute"/;
const bothTaints = ['unreachable:NoExecute', 'unreachable:NoSchedule'];
/** Time in which the controller's watch delivers the test's writes. */
const observedMs = 500;
/** Request timeout of the controller. */
const requestTimeoutMs = 30_000;
const patchOf = (node: string): RegExp => new RegExp(`^/api/v1/nodes/${node}(\\?|$)`);

const waitedForASlot: Scenario = {
  title: 'a NoExecute taint that waited for a write slot is not written when the node is Ready again',
  args: ['--concurrent-writes=1', '--node-eviction-rate=0.2'],
  pods: [['impatient', 'a1', impatient]],
  async play(scene) {
    // The only write slot for NoExecute taints is used by one that takes 9 s.
    const fault = { kind: 'delay', ms: 9_000 } as const;
    const slow = scene.proxy.inject({ path: patchOf('a0'), body: noExecute, times: 1, fault });
    // a0 takes the zone's token: a1 is due 5 s after it.
    scene.cluster.stopHeartbeats('a0');
    await scene.sleep(2_000);
    scene.cluster.stopHeartbeats('a1');
    await scene.within(graceMs + 12_000, 'the slow NoExecute patch is in flight', () => slow.hits === 1);
    await scene.sleep(6_500);
    assert.deepEqual(await scene.cluster.taints('a1'), ['unreachable:NoSchedule'], 'it waits for the slot');
    await scene.cluster.resumeHeartbeats('a1');
    const backAtMs = performance.now();
    await scene.sleep(7_000);
    await scene.untilTaints('a1', [], 5_000);
    assert.equal(scene.noExecuteWrites('a1', backAtMs + observedMs), 0, 'NoExecute on a Ready node');
    return { silent: ['a0'], recovered: ['a1'] };
  },
};

const delayedMark: Scenario = {
  title: 'a delayed Ready=False patch does not overwrite the status that the kubelet posted meanwhile',
  pods: [['patient', 'a0', patient]],
  async play(scene) {
    const slow = scene.proxy.inject({
      methods: ['PATCH'],
      path: /\/pods\/patient\/status/,
      fault: { kind: 'hold' },
    });
    scene.cluster.stopHeartbeats('a0');
    await scene.within(graceMs + 8_000, 'the mark is in flight', () => slow.hits > 0);
    await scene.cluster.resumeHeartbeats('a0');
    await scene.cluster.postPod('patient');
    await scene.sleep(1_000);
    slow.remove();
    await scene.sleep(3_000);
    assert.equal(await scene.podReady('patient'), 'True');
    return { recovered: ['a0'] };
  },
};

const hungTaint: Scenario = {
  title: 'a NoExecute taint whose PATCH hangs until it times out is not written when the node is Ready again',
  pods: [['impatient', 'a0', impatient]],
  async play(scene) {
    const hung = scene.proxy.inject({ path: patchOf('a0'), body: noExecute, times: 1, fault: { kind: 'hang' } });
    scene.cluster.stopHeartbeats('a0');
    await scene.within(graceMs + 8_000, 'the NoExecute patch hangs', () => hung.hits === 1);
    await scene.cluster.resumeHeartbeats('a0');
    const backAtMs = performance.now();
    await scene.untilTaints('a0', [], requestTimeoutMs + 10_000);
    await scene.sleep(2_000);
    assert.equal(scene.noExecuteWrites('a0', backAtMs + observedMs), 0, 'NoExecute on a Ready node');
    return { recovered: ['a0'] };
  },
};

const heldTaint: Scenario = {
  title: 'a NoExecute taint answered 429 with Retry-After is not sent again when the node is Ready again',
  pods: [['impatient', 'a0', impatient]],
  async play(scene) {
    const busy = scene.proxy.inject({
      path: patchOf('a0'),
      body: noExecute,
      times: 1,
      fault: { kind: 'answer', code: 429, retryAfterSeconds: 4, form: 'status', message: 'too many requests' },
    });
    scene.cluster.stopHeartbeats('a0');
    await scene.within(graceMs + 8_000, 'the NoExecute patch is answered 429', () => busy.hits === 1);
    await scene.cluster.resumeHeartbeats('a0');
    const backAtMs = performance.now();
    await scene.sleep(7_000);
    assert.equal(scene.noExecuteWrites('a0', backAtMs + observedMs), 0, 'sent again to a Ready node');
    return { recovered: ['a0'] };
  },
};

const heldDelete: Scenario = {
  title: 'a pod DELETE answered 429 with Retry-After is not sent again when the node is Ready again',
  pods: [['three-seconds', 'a0', [tolerating(unreachable, 3)]]],
  async play(scene) {
    const busy = scene.proxy.inject({
      methods: ['DELETE'],
      path: /\/pods\/three-seconds/,
      times: 1,
      fault: { kind: 'answer', code: 429, retryAfterSeconds: 5, form: 'plain', message: 'slow down' },
    });
    scene.cluster.stopHeartbeats('a0');
    await scene.within(graceMs + 15_000, 'the DELETE is answered 429', () => busy.hits === 1);
    await scene.cluster.resumeHeartbeats('a0');
    await scene.untilTaints('a0', [], 5_000);
    await scene.sleep(7_000);
    return { recovered: ['a0'] };
  },
};

const deleteDuringDisruption: Scenario = {
  title: 'a pod DELETE answered 429 with Retry-After is not sent while all zones are fully disrupted',
  pods: [['impatient', 'a0', impatient]],
  async play(scene) {
    const busy = scene.proxy.inject({
      methods: ['DELETE'],
      path: /\/pods\/impatient/,
      times: 1,
      fault: { kind: 'answer', code: 429, retryAfterSeconds: 14, form: 'status', message: 'too many requests' },
    });
    scene.cluster.stopHeartbeats('a0');
    await scene.within(graceMs + 8_000, 'the DELETE is answered 429', () => busy.hits === 1);
    const names = Object.keys(threeZones);
    for (const name of names) scene.cluster.stopHeartbeats(name);
    for (const name of names) await scene.untilUnknown(name, graceMs + 5_000);
    await scene.sleep(12_000);
    assert.equal(scene.deletedAtMs('impatient'), undefined, 'the pod was deleted');
    for (const name of names) await scene.cluster.resumeHeartbeats(name);
    return { recovered: names };
  },
};

const busyPods = Array.from({ length: 20 }, (_, index) => `busy-${index}`);

async function addBusyPods(scene: Scene): Promise<void> {
  await Promise.all(busyPods.map((name) => scene.addPod(name, 'a0', impatient)));
}

const stormOf429: Scenario = {
  title:
    '429 with Retry-After to writes of 20 pods does not delay the detection of another silent node, a recovery or SIGTERM',
  args: ['--leader-elect=true', '--leader-elect-resource-name=faults'],
  prepare: addBusyPods,
  async play(scene) {
    scene.cluster.stopHeartbeats('b0');
    await scene.untilTaints('b0', bothTaints, graceMs + 8_000);
    const busy = scene.proxy.inject({
      methods: ['PATCH', 'DELETE'],
      path: /\/pods\/busy-/,
      fault: { kind: 'answer', code: 429, retryAfterSeconds: 20, form: 'status', message: 'too many requests' },
    });
    scene.cluster.stopHeartbeats('a0');
    await scene.within(graceMs + 8_000, '16 pods were answered 429', () => busy.hits >= 16);
    scene.cluster.stopHeartbeats('c0');
    await scene.cluster.resumeHeartbeats('b0');
    const recoveryMs = await scene.untilTaints('b0', [], 30_000);
    const silenceMs = recoveryMs + (await scene.untilUnknown('c0', 30_000));
    assert.ok(recoveryMs < 4_000, `the taints of b0 were removed ${recoveryMs} ms after it was Ready again`);
    assert.ok(silenceMs < graceMs + 4_000, `c0 is Unknown after ${silenceMs} ms of silence`);
    const sentAtMs = performance.now();
    await scene.untilTaints('c0', bothTaints, 5_000);
    const { code, signal } = await scene.controller.terminate();
    const endedMs = performance.now() - sentAtMs;
    assert.deepEqual({ code, signal }, { code: 0, signal: null });
    assert.ok(endedMs < 10_000, `SIGTERM took ${endedMs} ms`);
    busy.remove();
    await scene.restartController();
    return { silent: ['a0', 'c0'], recovered: ['b0'], evicted: busyPods };
  },
};

const slowZone: Scenario = {
  title: 'a NoExecute patch that takes 25 s in one zone delays neither taints nor marks of pods in another zone',
  pods: [
    ['patient-a', 'a0', patient],
    ['patient-b', 'b0', patient],
  ],
  async play(scene) {
    const slow = scene.proxy.inject({ path: patchOf('a0'), body: noExecute, fault: { kind: 'delay', ms: 25_000 } });
    scene.cluster.stopHeartbeats('a0');
    await scene.within(graceMs + 8_000, 'the slow NoExecute patch', () => slow.hits === 1);
    scene.cluster.stopHeartbeats('b0');
    const silentAtMs = performance.now();
    await scene.untilUnknown('b0', graceMs + 5_000);
    await scene.untilTaints('b0', bothTaints, 4_000);
    await scene.within(4_000, 'the pod of b0 is marked', async () => (await scene.podReady('patient-b')) === 'False');
    assert.ok(performance.now() - silentAtMs < 25_000, 'before the slow patch ended');
    slow.remove();
    await scene.untilTaints('a0', bothTaints, 60_000);
    return { silent: ['a0', 'b0'] };
  },
};

export const slowWriteScenarios: readonly Scenario[] = [
  waitedForASlot,
  heldTaint,
  hungTaint,
  delayedMark,
  heldDelete,
  deleteDuringDisruption,
  stormOf429,
  slowZone,
];
