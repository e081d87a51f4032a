// Writes that are rejected although they are still needed.
import assert from 'node:assert/strict';
import type { Scenario } from '../scenario.ts';
import { graceMs, impatient, patient } from '../scene.ts';

const nodeStatus = (node: string): RegExp => new RegExp(`^/api/v1/nodes/${node}/status`);
const webhookMessage = 'admission webhook "policy.example.com" denied the request';

const retriedSilence: Scenario = {
  title:
    'a node that renews its lease once while PATCH nodes/status answers 503 becomes Unknown when it is silent again',
  args: ['--node-monitor-grace-period=5s'],
  async play(scene) {
    const unavailable = scene.proxy.inject({
      methods: ['PATCH'],
      path: nodeStatus('a0'),
      fault: { kind: 'answer', code: 503, form: 'status', message: 'apiserver is shutting down' },
    });
    scene.cluster.stopHeartbeats('a0');
    // The next retry is then more than a grace period away.
    await scene.within(25_000, 'two attempts are more than 3 s apart', () => {
      const [last = 0, before = last] = unavailable.hitsAtMs.toReversed();
      return last - before > 3_000;
    });
    await scene.cluster.renewAgain('a0');
    scene.cluster.stopHeartbeats('a0');
    unavailable.remove();
    await scene.untilUnknown('a0', 20_000);
    return { silent: ['a0'] };
  },
};

const unconfirmedNotFound: Scenario = {
  title: 'writes that get a 404, plain or with a Status that names no object, are repeated',
  async prepare(scene) {
    for (const node of ['a0', 'b0']) {
      await scene.addPod(`patient-${node}`, node, patient);
      await scene.addPod(`impatient-${node}`, node, impatient);
    }
  },
  async play(scene) {
    const forms = { a0: 'plain', b0: 'status' } as const;
    for (const [node, form] of Object.entries(forms)) {
      const message = 'the server could not find the requested resource';
      const fault = { kind: 'answer', code: 404, form, message } as const;
      const path = new RegExp(`/(nodes/${node}|pods/[a-z]+-${node})(/status)?(\\?|$)`);
      scene.proxy.inject({ methods: ['PATCH', 'DELETE'], path, timesEach: 1, fault });
      scene.proxy.inject({ methods: ['PATCH'], path: nodeObject(node), body: /NoExecute/, timesEach: 1, fault });
    }
    scene.cluster.stopHeartbeats('a0');
    scene.cluster.stopHeartbeats('b0');
    for (const node of ['a0', 'b0']) await scene.untilUnknown(node, graceMs + 8_000);
    return { silent: ['a0', 'b0'], evicted: ['impatient-a0', 'impatient-b0'] };
  },
};

const unconfirmedConflict: Scenario = {
  title: 'one 409 of a webhook to a pod DELETE, to its disruption condition or to its Ready=False is retried',
  pods: [
    ['conflict-at-delete', 'a0', impatient],
    ['conflict-at-condition', 'a0', impatient],
    ['conflict-at-mark', 'a0', patient],
  ],
  async play(scene) {
    const fault = { kind: 'answer', code: 409, form: 'status', message: webhookMessage } as const;
    const at = (name: string): RegExp => new RegExp(`/pods/conflict-at-${name}(/|\\?|$)`);
    const faults = [
      scene.proxy.inject({ methods: ['DELETE'], path: at('delete'), times: 1, fault }),
      scene.proxy.inject({ path: at('condition'), body: /DisruptionTarget/, times: 1, fault }),
      scene.proxy.inject({ path: at('mark'), body: /"Ready"/, times: 1, fault }),
    ];
    scene.cluster.stopHeartbeats('a0');
    await scene.untilTaints('a0', ['unreachable:NoExecute', 'unreachable:NoSchedule'], graceMs + 8_000);
    await scene.within(5_000, 'each pod got its 409', () => faults.every(({ hits }) => hits === 1));
    return { silent: ['a0'], evicted: ['conflict-at-delete', 'conflict-at-condition'] };
  },
};

const deniedTaint: Scenario = {
  title: 'a NoExecute taint that a webhook denies is retried with backoff, and written once it is allowed',
  async play(scene) {
    const denied = scene.proxy.inject({
      methods: ['PATCH'],
      path: nodeObject('a0'),
      body: /"NoExecute"/,
      fault: { kind: 'answer', code: 403, form: 'status', message: webhookMessage },
    });
    scene.cluster.stopHeartbeats('a0');
    await scene.within(graceMs + 8_000, 'the first NoExecute patch', () => denied.hits > 0);
    await scene.sleep(10_000);
    assert.ok(denied.hits >= 2, `${denied.hits} requests: it is retried`);
    assert.ok(denied.hits <= 15, `${denied.hits} requests in 10 s for one denied taint`);
    denied.remove();
    await scene.untilTaints('a0', ['unreachable:NoExecute', 'unreachable:NoSchedule'], 35_000);
    return { silent: ['a0'] };
  },
};

const brokenConnections: Scenario = {
  title:
    'writes whose connection breaks before or after the server executed them have the same result as without a fault',
  async prepare(scene) {
    for (const node of ['a0', 'b0']) {
      await scene.addPod(`patient-${node}`, node, patient);
      await scene.addPod(`impatient-${node}`, node, impatient);
    }
  },
  async play(scene) {
    for (const [node, kind] of [['a0', 'cut'] as const, ['b0', 'lose-answer'] as const]) {
      const path = new RegExp(`/(nodes/${node}|pods/[a-z]+-${node})(/status)?(\\?|$)`);
      scene.proxy.inject({ methods: ['PATCH', 'DELETE'], path, timesEach: 1, fault: { kind } });
    }
    scene.cluster.stopHeartbeats('a0');
    scene.cluster.stopHeartbeats('b0');
    for (const node of ['a0', 'b0']) await scene.untilUnknown(node, graceMs + 8_000);
    return { silent: ['a0', 'b0'], evicted: ['impatient-a0', 'impatient-b0'] };
  },
};

/** The node itself, not its status. */
function nodeObject(node: string): RegExp {
  return new RegExp(`^/api/v1/nodes/${node}(\\?|$)`);
}

export const refusedWriteScenarios: readonly Scenario[] = [
  retriedSilence,
  unconfirmedNotFound,
  unconfirmedConflict,
  deniedTaint,
  brokenConnections,
];
