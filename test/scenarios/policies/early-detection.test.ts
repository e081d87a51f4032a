// Early detection: a node without heartbeats is Unknown before its grace period ends if nothing at its addresses answers, from two
// places. Whatever is in doubt leaves it to the grace period.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeNodeOutlook } from '../../../src/controller/report/text/describe-outlooks.ts';
import type { NodePolicy, ProbeKind } from '../../../src/controller/model/policy.ts';
import type { WitnessReport } from '../../../src/controller/model/detection.ts';
import { overdueAnnotation } from '../../../src/machinery/api/node.ts';
import { formatTime, parseTimestamp } from '../../../src/machinery/api/timestamps.ts';
import { aPolicy, inZone } from '../../support/builders.ts';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { explainNode } from '../../support/explained.ts';
import { aZonedWorld } from '../../support/zoned-world.ts';

const limitOf = (count: number): NodePolicy['limits'] => ({
  maxUnhealthy: { percent: undefined, count },
  cooldownMs: 0,
  resetAtMs: undefined,
});

const detecting = (
  probes: readonly ProbeKind[] = ['kubelet'],
  maxUnhealthy = 1,
  { earliestMs = 15_000, ...others }: Partial<NodePolicy> & { readonly earliestMs?: number } = {},
): NodePolicy => aPolicy({ name: 'fast', detection: { earliestMs, probes }, limits: limitOf(maxUnhealthy), ...others });

interface Network {
  readonly world: ControllerWorld;
  /** Addresses at which nothing answers. */
  readonly silent: Set<string>;
  readonly dialed: string[];
  /** What the other replica found; by default the truth. */
  witness: Partial<WitnessReport> | 'none' | 'truth';
  /** A router says at once that nothing is there. */
  isImmediate: boolean;
}

/** Node addresses are node names. */
function aNetwork(
  policies: readonly NodePolicy[] = [detecting()],
  zones: Readonly<Record<string, number>> = { a: 4, b: 4 },
): Network {
  const world = aZonedWorld(zones, { policies });
  const network: Network = { world, silent: new Set(), dialed: [], witness: 'truth', isImmediate: false };
  world.probing = {
    dialer: {
      dial: async ({ address }, timeoutMs, signal) => {
        network.dialed.push(address);
        if (!network.silent.has(address)) return 'answered';
        if (!network.isImmediate) await world.clock.sleep(timeoutMs, signal);
        return 'no-answer';
      },
    },
    reports: {
      own: { identity: 'this', place: 'here' },
      read: () => Promise.resolve(reportOf(network)),
      write: () => Promise.resolve(),
    },
  };
  return network;
}

function reportOf({ world, witness, silent }: Network): WitnessReport | undefined {
  if (witness === 'none') return undefined;
  const found = [...silent].map((node) => [node, lastHeartbeatOf(world, node)] as const);
  const truth = { identity: 'other', place: 'there', reportedAtMs: world.clock.nowMs(), unanswered: new Map(found) };
  return witness === 'truth' ? truth : { ...truth, ...witness };
}

function lastHeartbeatOf(world: ControllerWorld, node: string): string {
  const lease = world.leases.store.get(`kube-node-lease/${node}`)?.renewTime;
  return formatTime(parseTimestamp(lease) ?? 0);
}

/** The seconds from its last heartbeat until this node is Unknown; undefined: not within 60 s. */
async function untilUnknown({ world }: Network, node = 'a-0'): Promise<number | undefined> {
  for (let seconds = 0; seconds < 60; seconds += 0.5) {
    if (world.ready(node) === 'Unknown') return seconds;
    await world.advance(0.5);
  }
  return undefined;
}

/** These nodes lose power at a heartbeat. */
async function losePower(network: Network, ...nodes: readonly string[]): Promise<void> {
  await network.world.restart();
  await network.world.advance(60);
  for (const node of nodes) network.silent.add(node);
  network.world.goSilent(...nodes);
}

const atGrace = (seconds: number | undefined): void =>
  assert.ok(seconds !== undefined && seconds >= 50 && seconds <= 52, `Unknown after ${seconds} s`);

test('a node that loses power is Unknown within 17 s of its last heartbeat, and the report says by what', async () => {
  const network = aNetwork();
  await using world = network.world;
  await losePower(network, 'a-0');
  const seconds = await untilUnknown(network);
  assert.ok(seconds !== undefined && seconds >= 15 && seconds <= 17, `Unknown after ${seconds} s`);
  const [proven] = world.decided('silence-proven');
  assert.ok(proven !== undefined && proven.earlierMs > 33_000 && proven.silentMs >= 15_000);
  assert.match(describeNodeOutlook(explainNode(world, 'a-0')), /grace 15s \(probes rule, policy fast: detection\)/u);
  await world.advance(50);
  const read = world.meter.read();
  assert.equal(read.get('node_lifecycle_early_detections_total{policy="fast",end="confirmed"}'), 1);
  assert.ok((read.get('node_lifecycle_early_detection_saved_seconds_total{policy="fast"}') ?? 0) > 33);
});

test('a node whose kubelet is stopped answers, and is Unknown at the end of its grace period', async () => {
  const network = aNetwork();
  await using world = network.world;
  await losePower(network);
  world.goSilent('a-0');
  await world.advance(20);
  assert.match(describeNodeOutlook(explainNode(world, 'a-0')), /probes\s+not Unknown .*its machine answers/u);
  atGrace(20 + ((await untilUnknown(network)) ?? NaN));
});

for (const [name, witness, doubt] of [
  ['no other replica reports', 'none', 'no replica that is known'],
  ['the other replica runs on the same node', { place: 'here' }, 'no replica that is known'],
  ['the report is its own', { identity: 'this' }, 'no replica that is known'],
  ['the other replica is answered', { unanswered: new Map() }, 'no replica that is known'],
  [
    'the report is about an earlier heartbeat',
    { unanswered: new Map([['a-0', '2026-01-01T00:00:00Z']]) },
    'no replica',
  ],
] as const) {
  test(`never early: ${name}`, async () => {
    const network = aNetwork();
    await using world = network.world;
    network.witness = witness;
    await losePower(network, 'a-0');
    await world.advance(20);
    assert.match(describeNodeOutlook(explainNode(world, 'a-0')), new RegExp(`probes\\s+not Unknown .*${doubt}`, 'u'));
    atGrace(20 + ((await untilUnknown(network)) ?? NaN));
    assert.deepEqual(world.decided('silence-proven'), []);
  });
}

test('never early: nodes that are alive do not answer either', async () => {
  const network = aNetwork();
  await using world = network.world;
  await losePower(network, 'a-0');
  for (const node of world.nodes.store.keys()) network.silent.add(node);
  await world.advance(20);
  assert.match(describeNodeOutlook(explainNode(world, 'a-0')), /probes .*nodes that are alive do not answer/u);
  atGrace(20 + ((await untilUnknown(network)) ?? NaN));
});

test('never early: more nodes are silent than the limit of the policy allows', async () => {
  const network = aNetwork();
  await using world = network.world;
  await losePower(network, 'a-0', 'a-1');
  await world.advance(20);
  assert.match(describeNodeOutlook(explainNode(world, 'a-0')), /probes .*than limits.maxUnhealthy allows/u);
  assert.deepEqual(world.decided('silence-proven'), []);
});

test('two at once are early where the limit allows two, and a third is not', async () => {
  const network = aNetwork([detecting(['kubelet'], 2)]);
  await using world = network.world;
  await losePower(network, 'a-0', 'a-1');
  await world.advance(17);
  assert.deepEqual([world.ready('a-0'), world.ready('a-1')], ['Unknown', 'Unknown']);
  network.silent.add('a-2');
  await world.silentFor(30, 'a-2');
  assert.equal(world.ready('a-2'), 'True');
});

test('never early: the API server does not answer', async () => {
  const network = aNetwork();
  await using world = network.world;
  await losePower(network, 'a-0');
  world.loseContact();
  await world.advance(20);
  world.restoreContact();
  await world.advance(1);
  assert.equal(world.ready('a-0'), 'True');
});

test('pods are asked where the policy says so: one that answers leaves the node to its grace period', async () => {
  const network = aNetwork([detecting(['kubelet', 'pods'])]);
  await using world = network.world;
  for (const node of world.nodes.store.keys()) {
    world.addPod(`pod-${node}`, node);
    world.changePod(`pod-${node}`, (pod) => ({ ...pod, status: { ...pod.status, podIP: `ip-of-pod-${node}` } }));
  }
  await losePower(network, 'a-0');
  await world.advance(20);
  assert.ok(network.dialed.includes('ip-of-pod-a-0'));
  assert.match(describeNodeOutlook(explainNode(world, 'a-0')), /probes .*its machine answers/u);
  network.silent.add('ip-of-pod-a-0');
  await world.advance(5);
  assert.equal(world.ready('a-0'), 'Unknown');
});

test('a heartbeat after all: the node recovers as from any other silence, and counts as a wrong detection', async () => {
  const network = aNetwork();
  await using world = network.world;
  await losePower(network, 'a-0');
  await world.advance(17);
  assert.equal(world.ready('a-0'), 'Unknown');
  network.silent.delete('a-0');
  world.recover('a-0');
  await world.advance(3);
  assert.equal(world.ready('a-0'), 'True');
  assert.deepEqual(world.taints('a-0'), []);
  assert.equal(world.meter.read().get('node_lifecycle_early_detections_total{policy="fast",end="heartbeat"}'), 1);
});

test('without a policy that wants it nothing is dialed; one that comes while the controller runs is followed', async () => {
  const network = aNetwork([]);
  await using world = network.world;
  await losePower(network);
  assert.deepEqual(network.dialed, []);
  world.changeOptions({ policies: [detecting()] });
  await world.advance(30);
  network.silent.add('a-0');
  await world.silentFor(17, 'a-0');
  assert.equal(world.ready('a-0'), 'Unknown');
});

test('when no policy wants it any more nothing is remembered, of deleted nodes either', async () => {
  const network = aNetwork();
  await using world = network.world;
  await losePower(network, 'a-0');
  await world.advance(17);
  assert.equal(world.ready('a-0'), 'Unknown');
  const { detection } = world.lifecycle.stages;
  assert.equal((detection?.size ?? 0) > 0, true);
  world.changeOptions({ policies: [] });
  world.removeNode('a-1');
  await world.advance(2);
  assert.equal(detection?.size, 0);
});

test('its counters are exposed at 0 while a policy wants it, and forgotten with it', async () => {
  const network = aNetwork([detecting(), aPolicy({ name: 'other', selector: inZone('b') })]);
  await using world = network.world;
  const counters = (): readonly string[] =>
    [...world.meter.read()].flatMap(([series, value]) =>
      series.startsWith('node_lifecycle_early_detection') ? `${series} ${value}` : [],
    );
  await losePower(network, 'a-0');
  const zeros = ['confirmed', 'heartbeat', 'withdrawn'].map(
    (end) => `node_lifecycle_early_detections_total{policy="fast",end="${end}"} 0`,
  );
  assert.deepEqual(counters(), [...zeros, 'node_lifecycle_early_detection_saved_seconds_total{policy="fast"} 0']);
  await world.advance(17);
  world.changeOptions({ policies: [aPolicy({ name: 'fast' })] });
  assert.deepEqual(counters(), []);
  await world.advance(60);
  assert.deepEqual(counters(), []);
});

test('a new leader leaves Unknown what was silent by probes, and a node that it did not see alive to its grace period', async () => {
  const network = aNetwork();
  await using world = network.world;
  await losePower(network, 'a-0');
  await world.advance(17);
  await world.restart();
  await world.advance(20);
  assert.equal(world.ready('a-0'), 'Unknown');
  assert.ok(world.taints('a-0').includes('unreachable:NoExecute'));
});

const isNeverEarly = ({ world }: Network, node = 'a-0'): void => {
  assert.deepEqual(world.decided('silence-proven'), []);
  assert.equal(world.ready(node), 'True');
};
const reportOfNow = ({ world }: Network, ...nodes: readonly string[]): Partial<WitnessReport> => ({
  unanswered: new Map(nodes.map((node) => [node, lastHeartbeatOf(world, node)])),
});

test('never early: most nodes of its zone do not answer either, though they send heartbeats', async () => {
  const network = aNetwork([detecting()], { a: 12, b: 3 });
  await using world = network.world;
  await losePower(network);
  for (let node = 0; node < 12; node += 1) network.silent.add(`a-${node}`);
  await world.silentFor(40, 'a-0');
  isNeverEarly(network);
});

test('never early: it has not answered before, as behind a firewall', async () => {
  const network = aNetwork();
  await using world = network.world;
  network.silent.add('a-0');
  await world.restart();
  await world.advance(60);
  await world.silentFor(20, 'a-0');
  assert.match(describeNodeOutlook(explainNode(world, 'a-0')), /probes .*has not answered this replica before/u);
  isNeverEarly(network);
});

test('never early: the other replica took its report back', async () => {
  const network = aNetwork([detecting(['kubelet'], 1, { earliestMs: 40_000 })]);
  await using world = network.world;
  await losePower(network, 'a-0');
  await world.advance(18);
  network.silent.delete('a-0');
  await world.advance(18);
  network.witness = { unanswered: new Map() };
  network.silent.add('a-0');
  await world.advance(7);
  isNeverEarly(network);
});

test('never early: the other replica has written nothing since its report', async () => {
  const network = aNetwork([detecting(['kubelet'], 1, { earliestMs: 40_000 })]);
  await using world = network.world;
  await losePower(network);
  world.goSilent('a-0');
  network.witness = { ...reportOfNow(network, 'a-0'), reportedAtMs: world.clock.nowMs() + 15_000 };
  await world.advance(36);
  network.silent.add('a-0');
  await world.advance(9);
  isNeverEarly(network);
});

test('never early: a report that is older than the last one that was read, an hour ago, says nothing of now', async () => {
  const network = aNetwork([detecting(['kubelet'], 1, { earliestMs: 40_000 })]);
  await using world = network.world;
  await losePower(network, 'a-0');
  await world.advance(45);
  assert.equal(world.decided('silence-proven').length, 1, 'the leader has read a report');
  network.silent.delete('a-0');
  world.recover('a-0');
  await world.advance(3_600);
  world.goSilent('a-0');
  network.witness = { ...reportOfNow(network, 'a-0'), reportedAtMs: world.clock.nowMs() + 14_000 };
  await world.advance(34);
  network.silent.add('a-0');
  await world.advance(12);
  assert.equal(world.decided('silence-proven').length, 1);
});

test('a pod that may not be read is no failure of the evaluation', async () => {
  const network = aNetwork([detecting(['kubelet', 'pods'])]);
  await using world = network.world;
  world.addPod('pod', 'a-0');
  await losePower(network, 'a-0');
  world.failNext('get', 'pods', 'forbidden', 1e6);
  await world.advance(20);
  assert.match(describeNodeOutlook(explainNode(world, 'a-0')), /probes .*it could not be read/u);
  assert.deepEqual(world.decided('evaluation-failed'), []);
});

for (const [mode, ready] of [
  ['Observe', 'True'],
  ['Paused', 'True'],
  ['Detect', 'Unknown'],
] as const) {
  test(`mode ${mode}: what is proven is acted on as any silence`, async () => {
    const network = aNetwork([detecting(['kubelet'], 1, { mode })]);
    await using world = network.world;
    await losePower(network, 'a-0');
    await world.advance(25);
    assert.equal(world.decided('silence-proven').length, 1);
    assert.equal(world.ready('a-0'), ready);
    assert.ok(!world.taints('a-0').some((taint) => taint.endsWith('NoExecute')));
  });
}

test('with an early warning: it comes first, and ends as announced', async () => {
  const network = aNetwork([detecting(['kubelet'], 1, { earlyWarning: { afterMs: 13_000, annotate: true } })]);
  await using world = network.world;
  await losePower(network, 'a-0');
  await world.advance(14.5);
  assert.equal(world.decided('node-overdue').length, 1);
  await world.advance(3);
  assert.equal(world.ready('a-0'), 'Unknown');
  assert.deepEqual(
    world.decided('node-overdue-ended').map(({ why }) => why),
    ['silent'],
  );
  assert.ok(world.node('a-0').metadata.annotations?.[overdueAnnotation] !== undefined);
});

test('a full disruption removes its NoExecute taint, and after it the node is tainted again, as any silent one', async () => {
  const network = aNetwork([detecting(['kubelet'], 8, { selector: inZone('a', 'b') })], { a: 2, b: 2 });
  await using world = network.world;
  const isEmptied = (): boolean => world.taints('a-0').includes('unreachable:NoExecute');
  await losePower(network, 'a-0');
  await world.advance(30);
  assert.ok(isEmptied());
  await world.silentFor(70, 'a-1', 'b-0', 'b-1');
  assert.ok(!isEmptied());
  world.recover('a-1', 'b-0', 'b-1');
  await world.advance(20);
  assert.ok(isEmptied());
});

test('a report that goes on counts, whatever the clock of the other replica', async () => {
  const network = aNetwork();
  await using world = network.world;
  await losePower(network, 'a-0');
  await world.advance(12);
  network.witness = { ...reportOfNow(network, 'a-0'), reportedAtMs: 1 };
  await world.advance(8);
  isNeverEarly(network);
  network.witness = { ...reportOfNow(network, 'a-0'), reportedAtMs: 2 };
  await world.advance(2);
  assert.equal(world.ready('a-0'), 'Unknown');
});

test('never early: it came back with another address, which is asked then', async () => {
  const network = aNetwork([detecting(['kubelet'], 1, { earliestMs: 30_000 })]);
  await using world = network.world;
  await losePower(network, 'a-0');
  await world.advance(25);
  const node = world.node('a-0');
  world.putNode({ ...node, status: { ...node.status, addresses: [{ type: 'InternalIP', address: 'new' }] } });
  world.post('a-0', 'True');
  world.renewOnce('a-0');
  await world.advance(35);
  isNeverEarly(network);
});

test('never early: its pods are to be asked, and cannot be read', async () => {
  const network = aNetwork([detecting(['kubelet', 'pods'])]);
  await using world = network.world;
  for (const node of world.nodes.store.keys()) {
    world.addPod(`pod-${node}`, node);
    world.changePod(`pod-${node}`, (pod) => ({ ...pod, status: { ...pod.status, podIP: `ip-of-pod-${node}` } }));
  }
  await losePower(network);
  world.failNext('get', 'pods', 'forbidden', 1e6);
  network.silent.add('a-0');
  await world.silentFor(30, 'a-0');
  isNeverEarly(network);
});

test('never early: an interruption of half a second is no two rounds', async () => {
  const network = aNetwork();
  await using world = network.world;
  await losePower(network);
  network.isImmediate = true;
  world.goSilent('a-0');
  network.witness = reportOfNow(network, 'a-0');
  await world.advance(16);
  network.silent.add('a-0');
  await world.advance(0.6);
  network.silent.delete('a-0');
  await world.advance(5);
  isNeverEarly(network);
});

test('never early: silent nodes that a new process has not seen alive', async () => {
  const network = aNetwork([detecting()], { a: 8, b: 4 });
  await using world = network.world;
  await losePower(network, 'a-0', 'a-1', 'a-2');
  await world.restart();
  await world.advance(20);
  network.silent.add('a-5');
  await world.silentFor(20, 'a-5');
  isNeverEarly(network, 'a-5');
});

test('a limit of a guard counts too', async () => {
  const network = aNetwork([
    detecting(['kubelet'], 1, { name: 'pa', selector: inZone('a') }),
    detecting(['kubelet'], 1, { name: 'pb', selector: inZone('b') }),
    aPolicy({ name: 'guard', isGuard: true, selector: inZone('a', 'b'), limits: limitOf(1) }),
  ]);
  await using world = network.world;
  await losePower(network, 'a-0', 'b-0');
  await world.advance(20);
  assert.deepEqual(world.decided('silence-proven'), []);
});

test('more than 20 nodes at once are not asked, and what was found before does not count', async () => {
  const policy = detecting(['kubelet'], 100, { earliestMs: 40_000, selector: inZone('a', 'b') });
  const network = aNetwork([policy], { a: 30, b: 30 });
  await using world = network.world;
  await losePower(network, 'a-0');
  network.witness = reportOfNow(network, 'a-0');
  await world.advance(10);
  world.goSilent(...Array.from({ length: 25 }, (_, node) => `b-${node}`));
  await world.advance(14);
  network.silent.delete('a-0');
  network.dialed.length = 0;
  await world.advance(18);
  assert.ok(!network.dialed.includes('a-0'));
  isNeverEarly(network);
});

for (const what of ['heartbeat', 'maintenance'] as const) {
  test(`${what} between two reviews: nothing is proven after it`, async () => {
    const maintenance = {
      conditions: [],
      taints: ['example.com/maintenance'],
      holdsWhileSilent: [],
      maxDurationMs: 600_000,
      maxTotalMs: 600_000,
    };
    for (let atSeconds = 13; atSeconds < 16; atSeconds += 0.2) {
      const network = aNetwork([detecting(['kubelet'], 1, { maintenance })]);
      await using world = network.world;
      await losePower(network, 'a-0');
      await world.advance(atSeconds);
      const before = world.decided('silence-proven').length;
      if (what === 'heartbeat') world.renewOnce('a-0');
      else world.setTaints('a-0', [{ key: 'example.com/maintenance', effect: 'NoSchedule' }]);
      await world.advance(4);
      assert.equal(world.decided('silence-proven').length, before, `at ${atSeconds} s`);
    }
  });
}

test('a malformed node, and an exception about one, stop neither the leader nor the other nodes', async () => {
  const network = aNetwork();
  await using world = network.world;
  await losePower(network, 'a-0');
  const node = world.node('a-1');
  for (const addresses of [[null], 'none', [{ type: 'InternalIP', address: 7 }]])
    world.putNode({
      ...node,
      status: { ...node.status, addresses: addresses as never, daemonEndpoints: null as never },
    });
  await world.advance(17);
  assert.equal(world.ready('a-0'), 'Unknown');
});
