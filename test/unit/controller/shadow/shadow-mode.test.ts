import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ShadowWorld, unreachable } from '../../../support/shadow-world.ts';

const acts = ['node-unknown', 'no-execute-taint', 'no-schedule-taint'] as const;
const pods = { now: undefined, soon: 10, later: 300 } as const;

async function aShadow(
  options: ConstructorParameters<typeof ShadowWorld>[0] = {},
  selection: ConstructorParameters<typeof ShadowWorld>[2] = {},
): Promise<ShadowWorld> {
  const shadow = new ShadowWorld(options, {}, selection);
  shadow.populate(pods);
  shadow.start();
  await shadow.advance(20);
  return shadow;
}

/** Beside a controller that acts, whose grace period is 50 s. */
async function aShadowWithGracePeriod(graceSeconds: number): Promise<ShadowWorld> {
  const shadow = await aShadow({ nodeMonitorGracePeriodMs: graceSeconds * 1_000 });
  shadow.world.start();
  // Both need a while before their watches count as fresh.
  await shadow.advance(60);
  return shadow;
}

for (const [graceSeconds, outcome] of [
  [50, 'agree 0 s'],
  [30, 'earlier 20 s'],
  [70, 'later 20 s'],
] as const) {
  test(`beside a grace period of 50 s, one of ${graceSeconds} s is reported as ${outcome} for every action, and leaves no episode open`, async () => {
    await using shadow = await aShadowWithGracePeriod(graceSeconds);
    await shadow.silentFor(120, 'a0');
    const seen = [...shadow.outcomes()].sort();
    assert.deepEqual(
      seen,
      [
        ...acts.map((act) => `${act} node/a0 ${outcome}`),
        ...Object.keys(pods).map((pod) => `pod-not-ready pod/default/${pod} ${outcome}`),
        `pod-eviction pod/default/now ${outcome}`,
        `pod-eviction pod/default/soon ${outcome}`,
      ].sort(),
    );
    const before = shadow.outcomes().length;
    shadow.world.recover('a0');
    await shadow.advance(20);
    assert.deepEqual(shadow.outcomes().slice(before), [
      'no-execute-untaint node/a0 agree 0 s',
      'no-schedule-untaint node/a0 agree 0 s',
    ]);
    const { open, undecided } = shadow.mode.report();
    assert.deepEqual([open, undecided], [0, 0]);
  });
}

test('the cluster does not act: each action is decided once, spends one token, and is reported once as of the shadow only', async () => {
  await using shadow = await aShadow();
  await shadow.silentFor(1_500, 'a0');
  const expected = acts.map((act) => `${act} node/a0 only_shadow`);
  const left = shadow.outcomes().filter((line) => line.includes('node/a0'));
  assert.deepEqual(left, expected);
  assert.equal(shadow.meter.series.get('node_collector_evictions_total{zone="r/a"}'), 1, 'tokens');
  const noted = shadow.decisions.map(({ decision }) => decision.kind);
  for (const kind of ['node-silent', 'taint-queued', 'pod-evicted'] as const) {
    const times = { 'node-silent': 1, 'taint-queued': 1, 'pod-evicted': 3 }[kind];
    assert.equal(noted.filter((other) => other === kind).length, times, kind);
  }
  assert.deepEqual(shadow.world.writes, [], 'and nothing was written');
  assert.equal(shadow.world.ready('a0'), 'True');
});

test('a node that recovers before the cluster acts was Unknown for the shadow only, and its pods too', async () => {
  await using shadow = await aShadow({ nodeMonitorGracePeriodMs: 30_000 });
  await shadow.silentFor(40, 'a0');
  assert.equal(shadow.mode.informers.nodes.get('a0')?.conditions[0]?.status, 'Unknown', 'as if it were written');
  // The kubelet does not see Unknown: it renews its lease, and has no reason to post a status.
  shadow.world.renewing('a0');
  await shadow.advance(20);
  const lines = shadow.outcomes();
  for (const act of acts) assert.ok(lines.includes(`${act} node/a0 only_shadow`), `${act}: ${lines.join('; ')}`);
  for (const pod of Object.keys(pods)) assert.ok(lines.includes(`pod-not-ready pod/default/${pod} only_shadow`), pod);
  assert.ok(lines.includes('pod-eviction pod/default/now only_shadow'));
  assert.equal(shadow.mode.report().open, 0);
  assert.equal(shadow.mode.informers.nodes.get('a0')?.taints.length, 0);
  const silent = shadow.episodes().find(({ act }) => act === 'node-unknown');
  assert.deepEqual([silent?.ending, silent?.clusterAt, silent?.differenceSeconds], ['cause-gone', null, null]);
  assert.match(silent?.why ?? '', /^node a0 is silent: no heartbeat for 30s/);
});

test('a pod that only the shadow evicted is evicted again when its node becomes silent again', async () => {
  await using shadow = await aShadow({ nodeMonitorGracePeriodMs: 30_000 });
  for (const time of [1, 2]) {
    await shadow.silentFor(40, 'a0');
    shadow.world.renewing('a0');
    await shadow.advance(30);
    const lines = shadow.outcomes().filter((line) => line === 'pod-eviction pod/default/now only_shadow');
    assert.equal(lines.length, time);
  }
});

test('actions that the cluster took and reverted before the shadow would have are of the cluster only, with the last decision', async () => {
  await using shadow = await aShadow({ nodeMonitorGracePeriodMs: 90_000 });
  await shadow.silentFor(30, 'a0');
  shadow.theyCallUnknown('a0');
  shadow.theyTaint('a0', 'NoSchedule');
  shadow.theyTaint('a0', 'NoExecute');
  shadow.theyMark('later');
  shadow.theyDelete('now', 'DeletionByTaintManager');
  await shadow.advance(5);
  const { nodes, pods: ownPods } = shadow.mode.informers;
  assert.deepEqual(nodes.get('a0')?.taints, [], 'for the shadow the node is unchanged');
  assert.equal(nodes.get('a0')?.conditions.find(({ type }) => type === 'Ready')?.status, 'True');
  assert.equal(ownPods.get('default/now')?.terminating, false, 'a ghost');
  assert.ok(ownPods.byIndex('node', 'a0').some(({ name }) => name === 'now'));
  assert.equal(ownPods.get('default/later')?.ready, 'True');

  shadow.world.recover('a0');
  shadow.theyUntaint('a0');
  shadow.world.changePod('later', (pod) => ({
    ...pod,
    status: { ...pod.status, conditions: [{ type: 'Ready', status: 'True' }] },
  }));
  await shadow.advance(5);
  assert.deepEqual([...shadow.outcomes()].sort(), [
    'no-execute-taint node/a0 only_cluster',
    'no-schedule-taint node/a0 only_cluster',
    'node-unknown node/a0 only_cluster',
    'pod-eviction pod/default/now only_cluster',
    'pod-not-ready pod/default/later only_cluster',
  ]);
  assert.equal(ownPods.get('default/now'), undefined, 'the ghost is removed');
  assert.match(shadow.episodes()[0]?.why ?? '', /node a0/);
  assert.deepEqual(shadow.episodes()[0]?.shadowAt, null);
});

test('an action that the shadow never takes is of the cluster only after ten minutes, and applies to both from then on', async () => {
  await using shadow = await aShadow();
  shadow.theyTaint('a1', 'NoSchedule');
  await shadow.advance(595);
  assert.deepEqual(shadow.outcomes(), []);
  await shadow.advance(10);
  assert.ok(shadow.outcomes().includes('no-schedule-taint node/a1 only_cluster'));
  // For the shadow it exists now, on a Ready node: the shadow would remove it.
  assert.equal(shadow.mode.report().open, 1);
  shadow.theyUntaint('a1');
  await shadow.advance(1);
  assert.equal(shadow.outcomes().at(-1), 'no-schedule-untaint node/a1 agree 5 s');
});

test('deletions by other clients are not actions of the cluster: by a user, a drain, on a tainted node too', async () => {
  await using shadow = await aShadow({ nodeMonitorGracePeriodMs: 90_000 });
  shadow.theyDelete('now', undefined);
  shadow.theyTaint('a0', 'NoExecute');
  shadow.theyDelete('soon', 'EvictionByEvictionAPI');
  shadow.theyDelete('later', undefined, { isGone: false });
  await shadow.advance(5);
  assert.deepEqual(shadow.mode.report().open, 1, 'the taint alone');
  assert.deepEqual(shadow.mode.informers.pods.get('default/later')?.terminating, true);
  assert.equal(shadow.mode.informers.pods.get('default/now'), undefined);
});

test('a pod that another client deletes after the shadow would have is undecided', async () => {
  await using shadow = await aShadow({ nodeMonitorGracePeriodMs: 30_000 });
  await shadow.silentFor(40, 'a0');
  shadow.theyDelete('now', 'EvictionByEvictionAPI');
  await shadow.advance(1);
  assert.ok(!shadow.outcomes().some((line) => line.startsWith('pod-eviction')));
  assert.ok(shadow.mode.report().undecided >= 1);
});

test('a deleted node leaves its episodes undecided, and no state', async () => {
  await using shadow = await aShadow({ nodeMonitorGracePeriodMs: 30_000 });
  await shadow.silentFor(40, 'a0');
  for (const pod of Object.keys(pods)) shadow.world.removePod(pod);
  shadow.world.removeNode('a0');
  await shadow.advance(5);
  const { open, undecided } = shadow.mode.report();
  assert.equal(open, 0);
  assert.ok(undecided >= acts.length, `${undecided} undecided`);
  assert.equal(shadow.outcomes().length, 0);
});

test('the mark of a pod may arrive before the change of its node', async () => {
  await using shadow = await aShadow({ nodeMonitorGracePeriodMs: 90_000 });
  shadow.theyMark('later');
  await shadow.advance(1);
  assert.equal(shadow.mode.report().open, 0, 'possibly by its kubelet');
  shadow.theyCallUnknown('a0');
  await shadow.advance(1);
  assert.equal(shadow.mode.report().open, 2);
  assert.equal(shadow.mode.informers.pods.get('default/later')?.ready, 'True');
});

test("a kubelet that reports its own pod not ready is not the cluster's controller", async () => {
  await using shadow = await aShadow();
  shadow.theyMark('later');
  await shadow.advance(60);
  shadow.theyCallUnknown('a0');
  await shadow.advance(1);
  assert.equal(shadow.mode.report().open, 1, 'the node alone');
});

test('without the taint eviction controller evictions are as they are', async () => {
  await using shadow = await aShadow({ nodeMonitorGracePeriodMs: 90_000 }, { taintEviction: false });
  shadow.theyCallUnknown('a0');
  shadow.theyDelete('now', 'DeletionByTaintManager');
  await shadow.advance(1);
  assert.equal(shadow.mode.informers.pods.get('default/now'), undefined);
  assert.equal(shadow.mode.report().open, 1);
  assert.deepEqual(shadow.outcomes(), [], 'no pods are compared');
});

test('without the node lifecycle controller nodes are as they are', async () => {
  await using shadow = await aShadow({}, { nodeLifecycle: false });
  shadow.theyCallUnknown('a0');
  shadow.theyTaint('a0', 'NoExecute');
  await shadow.advance(2);
  assert.equal(shadow.mode.informers.nodes.get('a0')?.taints[0]?.key, unreachable);
  shadow.theyDelete('now', 'DeletionByTaintManager');
  await shadow.advance(15);
  assert.deepEqual(shadow.outcomes(), ['pod-eviction pod/default/now agree 2 s']);
  assert.equal(shadow.mode.report().open, 1, 'soon is due for the shadow, and the cluster has not deleted it');
});

test("a restart of the cluster's controller removes taints and adds them again: of the cluster only, and no countdown of the shadow restarts", async () => {
  await using shadow = await aShadowWithGracePeriod(50);
  await shadow.silentFor(80, 'a0');
  await shadow.world.stop();
  const dueAtMs = shadow.shadow.stages.evictor.scheduled().get('default/later');
  assert.ok(dueAtMs !== undefined);
  const before = shadow.outcomes().length;
  shadow.theyUntaint('a0');
  await shadow.advance(10);
  shadow.theyTaint('a0', 'NoSchedule');
  shadow.theyTaint('a0', 'NoExecute');
  await shadow.advance(1);
  assert.deepEqual(shadow.outcomes().slice(before), [
    'no-schedule-untaint node/a0 only_cluster',
    'no-execute-untaint node/a0 only_cluster',
  ]);
  const endings = new Set(
    shadow
      .episodes()
      .slice(before)
      .map(({ ending }) => ending),
  );
  assert.deepEqual([...endings], ['taken-back']);
  assert.equal(shadow.shadow.stages.evictor.scheduled().get('default/later'), dueAtMs);
  assert.equal(shadow.meter.series.get('node_collector_evictions_total{zone="r/a"}'), 1);
});

test('a taint removed by the cluster before the shadow started is removed by the shadow when it starts', async () => {
  const taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };
  const shadow = new ShadowWorld({}, {}, {}, (world) => {
    world.addNode('z0', { zone: 'z', taints: [taint] });
  });
  shadow.populate();
  shadow.theyUntaint('z0');
  assert.deepEqual(shadow.mode.informers.nodes.get('z0')?.taints, [taint], 'it exists for the shadow');
  shadow.start();
  await shadow.advance(2);
  assert.deepEqual(shadow.outcomes(), ['no-schedule-untaint node/z0 agree 0 s']);
  assert.deepEqual(shadow.mode.informers.nodes.get('z0')?.taints, []);
  await shadow.stop();
});

test('a node that was Unknown and tainted at the start is taken as it is', async () => {
  const shadow = new ShadowWorld({}, {}, {}, (world) => {
    world.addNode('z0', { zone: 'z', ready: 'Unknown', taints: [{ key: unreachable, effect: 'NoSchedule' }] });
  });
  shadow.populate(pods);
  shadow.start();
  await shadow.advance(30);
  assert.deepEqual(shadow.outcomes(), []);
  // Existing state is not compared; missing taints are actions of the shadow like any other.
  assert.equal(shadow.mode.report().open, 1);
  const { taints = [] } = shadow.mode.informers.nodes.get('z0') ?? {};
  const effects = taints.map(({ effect }) => effect);
  assert.deepEqual(effects, ['NoSchedule', 'NoExecute']);
  await shadow.stop();
});

test('differences are logged with their reason, agreement is not; both are counted', async () => {
  await using shadow = await aShadowWithGracePeriod(30);
  await shadow.silentFor(60, 'a0');
  shadow.world.recover('a0');
  await shadow.advance(20);
  const lines = shadow.logger.lines.filter(({ message }) => message === 'shadow mode: decisions differ');
  const [line] = lines;
  assert.deepEqual(line?.fields['subject'], 'node/a0');
  assert.equal(line?.fields['outcome'], 'earlier');
  assert.match(String(line?.fields['why']), /^node a0 is silent/);
  assert.ok(typeof line?.fields['shadowAt'] === 'string' && typeof line.fields['clusterAt'] === 'string');
  assert.ok(lines.every(({ fields }) => fields['outcome'] !== 'agree'));
  const { series } = shadow.meter;
  const count = (act: string, outcome: string): number | undefined =>
    series.get(`node_lifecycle_shadow_episodes_total{act="${act}",outcome="${outcome}"}`);
  assert.equal(count('node-unknown', 'earlier'), 1);
  assert.equal(count('no-schedule-untaint', 'agree'), 1);
  assert.equal(count('node-unknown', 'only_cluster'), 0, 'counters start with 0');
  const seconds = series.get('node_lifecycle_shadow_difference_seconds{act="node-unknown",first="shadow"}') ?? 0;
  assert.ok(Math.abs(seconds - 20) < 1, `${seconds} s`);
  assert.equal(series.get('node_lifecycle_shadow'), 1);
});

test('the page keeps the last 200 episodes and all totals', async () => {
  await using shadow = await aShadow();
  for (let time = 0; time < 150; time++) {
    shadow.theyTaint('a1', 'NoSchedule');
    shadow.theyUntaint('a1');
    shadow.theyTaint('a2', 'NoSchedule');
    shadow.theyUntaint('a2');
  }
  await shadow.advance(2);
  const { episodes, totals, open } = shadow.mode.report();
  assert.equal(episodes.length, 200);
  assert.equal(totals['no-schedule-taint'].only_cluster, 300);
  assert.equal(open, 0);
});
