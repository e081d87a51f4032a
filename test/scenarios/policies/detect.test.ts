// Mode Detect: an unhealthy node is marked and kept from new pods, and its pods live on, for as long as the policy says.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodePolicy, PolicyMode } from '../../../src/controller/model/policy.ts';
import { autonomyLabel } from '../../../src/machinery/api/pod.ts';
import { formatTime } from '../../../src/machinery/api/timestamps.ts';
import { describeNodeOutlook, describePodOutlook } from '../../../src/controller/report/text/describe-outlooks.ts';
import { explainNode, explainPod } from '../../support/explained.ts';
import { aPolicy } from '../../support/builders.ts';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { aZonedWorld } from '../../support/zoned-world.ts';

const edge = (fields: Partial<NodePolicy> = {}): NodePolicy => aPolicy({ name: 'edge', mode: 'Detect', ...fields });
const detect = (markPods: boolean, evictAfterMs?: number): NodePolicy => edge({ detect: { markPods, evictAfterMs } });

/** Zone a is of the policy, zone b is not; a pod on a node of each. */
async function aWorldWith(policy: NodePolicy, taintBasedEvictions = true): Promise<ControllerWorld> {
  const world = aZonedWorld({ a: 4, b: 4 }, { policies: [policy], taintBasedEvictions });
  world.addPod('pe', 'a-0');
  world.addPod('pn', 'b-0');
  return world.running(20);
}

test('a silent node is Unknown and NoSchedule, its pods NotReady, and nothing is evicted', async () => {
  await using world = await aWorldWith(edge());
  await world.silentFor(1_200, 'a-0', 'b-0');
  assert.equal(world.ready('a-0'), 'Unknown');
  assert.deepEqual(world.taints('a-0'), ['unreachable:NoSchedule']);
  assert.equal(world.podReady('pe'), 'False');
  assert.deepEqual(world.evicted(), ['pn'], 'other nodes are emptied');
  world.recover('a-0');
  await world.advance(2);
  assert.deepEqual(world.taints('a-0'), []);
});

test('with markPods: false its pods stay Ready', async () => {
  await using world = await aWorldWith(detect(false));
  await world.silentFor(600, 'a-0', 'b-0');
  assert.deepEqual([world.ready('a-0'), world.podReady('pe'), world.podReady('pn')], ['Unknown', 'True', 'False']);
  assert.deepEqual(world.evicted(), ['pn']);
});

test('when it is unhealthy for longer than evictAfter its pods are marked, and it is emptied', async () => {
  const policy = detect(false, 300_000);
  await using world = await aWorldWith(policy);
  await world.silentFor(60, 'a-0');
  const markedAt = world.writes.find(({ name, resource }) => resource === 'nodes' && name === 'a-0')?.atSeconds ?? NaN;
  await world.advance(280);
  assert.deepEqual([world.podReady('pe'), world.taints('a-0')], ['True', ['unreachable:NoSchedule']]);
  await world.advance(60);
  assert.equal(world.podReady('pe'), 'False');
  assert.deepEqual(world.evicted(), ['pe']);
  const afterSeconds = (world.evictedAtSeconds('pe') ?? NaN) - markedAt;
  assert.ok(afterSeconds >= 299 && afterSeconds < 315, `${afterSeconds} s`);
});

test('evictAfter goes on after a restart', async () => {
  const policy = detect(true, 300_000);
  await using world = await aWorldWith(policy);
  await world.silentFor(200, 'a-0');
  await world.restart();
  await world.advance(130);
  assert.deepEqual(world.evicted(), []);
  await world.advance(60);
  assert.deepEqual(world.evicted(), ['pe']);
});

test('a node that is not Ready and reachable is not emptied either', async () => {
  await using world = await aWorldWith(edge());
  world.post('a-0', 'False');
  await world.advance(600);
  assert.deepEqual(world.taints('a-0'), ['not-ready:NoSchedule']);
  assert.deepEqual(world.evicted(), []);
});

test('evictAfter ends once where the taint of a node has no time, as one that the API server adds', async () => {
  await using world = await aWorldWith(detect(true, 300_000));
  world.setTaints('a-0', [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }]);
  world.post('a-0', 'False');
  await world.advance(290);
  assert.deepEqual(world.evicted(), []);
  await world.advance(70);
  assert.deepEqual(world.evicted(), ['pe']);
});

test('a taint of an administrator evicts its pods', async () => {
  await using world = await aWorldWith(edge());
  await world.silentFor(60, 'a-0');
  world.setTaints('a-0', [{ key: 'example.com/empty', effect: 'NoExecute' }]);
  await world.advance(5);
  assert.deepEqual(world.evicted(), ['pe']);
});

test('a node that was being emptied keeps its pods from the moment at which the mode is set', async () => {
  await using world = await aWorldWith(edge({ mode: 'Enforce' }));
  world.addPod('later', 'a-0', [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 }]);
  await world.silentFor(80, 'a-0');
  assert.deepEqual(world.evicted(), ['pe']);
  world.changeOptions({ policies: [edge()] });
  await world.advance(600);
  assert.deepEqual(world.evicted(), ['pe']);
  world.changeOptions({ policies: [] });
  await world.advance(5);
  assert.deepEqual(world.evicted(), ['pe', 'later']);
});

test('what is held is explained, counted and recorded', async () => {
  await using world = await aWorldWith(detect(false, 86_400_000));
  await world.silentFor(120, 'a-0');
  const withheld = world.decided('act-withheld').map(({ node, act, mode }) => `${node} ${act} ${mode}`);
  assert.deepEqual(withheld.toSorted(), ['a-0 add-taints Detect', 'a-0 mark-pods-not-ready Detect']);
  const { holds } = explainNode(world, 'a-0');
  assert.deepEqual(
    holds.map(({ kind }) => kind),
    ['detect-only', 'pods-kept-ready'],
  );
  const page = describeNodeOutlook(explainNode(world, 'a-0'));
  assert.match(page, /policy edge has mode Detect, so it gets no NoExecute taint and its pods are not evicted/u);
  assert.match(
    page,
    /mode set to Enforce in the config file, or it is unhealthy for longer than detect.evictAfter in /u,
  );
  const metrics = world.meter.read();
  assert.equal(metrics.get('node_lifecycle_held_nodes{reason="detect-only"}'), 1);
  assert.equal(metrics.get('node_lifecycle_withheld_acts_total{policy="edge",act="add-taints"}'), 1);
});

test('in eviction mode its pods are not deleted either, until evictAfter is over', async () => {
  await using world = await aWorldWith(detect(true, 600_000), false);
  await world.silentFor(500, 'a-0', 'b-0');
  assert.deepEqual(world.evicted(), ['pn']);
  await world.advance(200);
  assert.deepEqual(world.evicted(), ['pn', 'pe']);
});

const autonomous = { labels: { [autonomyLabel]: 'true' } };

test('a pod whose label asks for it is kept where its policy permits it, and for as long as that', async () => {
  const policy = aPolicy({ name: 'edge', podAutonomy: { evictAfterMs: 600_000 } });
  await using world = await aWorldWith(policy);
  for (const [pod, node] of [
    ['kept', 'a-0'],
    ['not-permitted', 'b-0'],
  ] as const)
    world.addPod(pod, node, [], autonomous);
  await world.silentFor(500, 'a-0', 'b-0');
  assert.deepEqual(world.evicted().toSorted(), ['not-permitted', 'pe', 'pn']);
  assert.equal(world.podReady('kept'), 'False');
  const page = describePodOutlook(explainPod(world, 'kept'));
  assert.match(
    page,
    /its label nodelifecycle\/autonomy asks for it, and policy edge permits it \(podAutonomy\), until/u,
  );
  await world.advance(240);
  assert.ok(world.evicted().includes('kept'), 'within a minute after it');
  const afterSeconds = world.evictedAtSeconds('kept') ?? NaN;
  assert.ok(afterSeconds >= 669, `${afterSeconds} s`);
});

test('the label of a namespace asks for its pods, but for those whose own label says otherwise', async () => {
  const policy = aPolicy({ name: 'edge', podAutonomy: { evictAfterMs: 3_600_000 } });
  await using world = await aWorldWith(policy);
  world.autonomousNamespaces.add('default');
  world.addPod('refuses', 'a-0', [], { labels: { [autonomyLabel]: 'false' } });
  await world.silentFor(500, 'a-0', 'b-0');
  assert.deepEqual(world.evicted().toSorted(), ['pn', 'refuses'], 'pn is on a node whose policy does not permit it');
  assert.match(
    describePodOutlook(explainPod(world, 'pe')),
    /the label nodelifecycle\/autonomy of its namespace asks for it, and policy edge permits it \(podAutonomy\), until/u,
  );
  world.autonomousNamespaces.delete('default');
  assert.match(
    describePodOutlook(explainPod(world, 'pe')),
    /none: a taint of its node counts for it: it is evaluated within --node-monitor-resync-period, or/u,
  );
  await world.advance(61);
  assert.ok(world.evicted().includes('pe'), 'within a minute after the label was removed');
});

test('the end of the window that sets the mode is named, and not an end that the policy does not have', async () => {
  await using world = aZonedWorld({ a: 6 });
  await world.running(20);
  const untilMs = world.clock.nowMs() + 600_000;
  const windows = [{ cron: '0 8 * * *', timeZone: 'UTC', untilMs }];
  const modeWindow = { schedule: 1, untilMs };
  const pageIn = async (mode: 'Detect' | 'Paused'): Promise<string> => {
    world.changeOptions({ policies: [aPolicy({ name: 'shop', mode, windows, modeWindow })] });
    await world.silentFor(60, 'a-3');
    return describeNodeOutlook(explainNode(world, 'a-3'));
  };
  const detecting = await pageIn('Detect');
  assert.match(detecting, /policy +shop, mode Detect, in the window 0 8 \* \* \* UTC until /u);
  assert.match(detecting, /held .*mode Detect.* or the window of its schedule ends in about \d+s/u);
  assert.match(detecting, /would end: policies\[shop\]\.schedules\[1\]\.set\.mode set to Enforce/u);
  assert.doesNotMatch(detecting, /evictAfter/u);
  assert.match(
    await pageIn('Paused'),
    /held .*paused by policy shop.* or the window of its schedule ends in about \d+s/u,
  );
});

test('what a mode holds is not late, and waits from its end on', async () => {
  const at = (mode: PolicyMode): NodePolicy => {
    return aPolicy({ name: 'shop', mode, detect: { markPods: false, evictAfterMs: undefined } });
  };
  await using world = aZonedWorld({ a: 20 }, { policies: [at('Detect')], nodeEvictionRate: 0.01 });
  for (const node of ['a-0', 'a-1', 'a-2']) world.addPod(`p-${node}`, node);
  await world.running(20);
  await world.silentFor(1_800, 'a-0', 'a-1', 'a-2');
  const oldest = (queue: string): number =>
    Math.max(
      0,
      ...[...world.meter.read()].flatMap(([key, value]) => (key.startsWith(`${queue}_oldest_seconds`) ? value : [])),
    );
  const [taints, marks] = ['node_lifecycle_taint_queue', 'node_lifecycle_marking_queue'] as const;
  assert.ok(oldest(taints) < 5 && oldest(marks) < 5, `${oldest(taints)} s, ${oldest(marks)} s`);
  world.changeOptions({ policies: [at('Enforce')] });
  await world.advance(60);
  assert.equal(world.tainted(['a-0', 'a-1', 'a-2']).length, 1);
  assert.ok(oldest(taints) > 50 && oldest(taints) < 65, `${oldest(taints)} s`);
});

test('the clock of a kubelet that is two days behind ends no hold, also while taints cannot be written', async () => {
  await using world = await aWorldWith(detect(true, 86_400_000));
  const node = world.node('a-0');
  const behind = formatTime(world.clock.nowMs() - 2 * 86_400_000);
  const others = (node.status?.conditions ?? []).filter(({ type }) => type !== 'Ready');
  const ready = { type: 'Ready', status: 'False', lastHeartbeatTime: behind, lastTransitionTime: behind };
  world.failNext('patch', 'nodes', 'internal', 12);
  world.putNode({ ...node, status: { ...node.status, conditions: [ready, ...others] } });
  await world.advance(120);
  assert.deepEqual([world.taints('a-0'), world.evicted()], [['not-ready:NoSchedule'], []]);
});
