import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ShadowWorld, unreachable } from '../../../support/shadow-world.ts';

const acts = ['node-unknown', 'no-schedule-taint', 'no-execute-taint'] as const;
const pods = { now: undefined, soon: 10, later: 300 } as const;

async function told(
  ours: ConstructorParameters<typeof ShadowWorld>[0],
  story: (shadow: ShadowWorld) => Promise<void>,
  selection: ConstructorParameters<typeof ShadowWorld>[2] = {},
): Promise<void> {
  const shadow = new ShadowWorld(ours, {}, selection);
  shadow.populate(pods);
  shadow.start();
  try {
    await shadow.advance(20);
    await story(shadow);
  } finally {
    await shadow.stop();
    await shadow.world.stop();
  }
}

/** Beside a controller that acts, whose grace period is 50 s. */
function besideTheirs(graceSeconds: number, story: (shadow: ShadowWorld) => Promise<void>): Promise<void> {
  return told({ nodeMonitorGracePeriodMs: graceSeconds * 1_000 }, async (shadow) => {
    shadow.world.start();
    // Both need a while before they trust their eyes.
    await shadow.advance(60);
    await story(shadow);
  });
}

for (const [graceSeconds, outcome] of [
  [50, 'agree 0 s'],
  [30, 'earlier 20 s'],
  [70, 'later 20 s'],
] as const) {
  test(`beside a grace period of 50 s, one of ${graceSeconds} s is told as ${outcome} for every act, and leaves nothing open`, async () => {
    await besideTheirs(graceSeconds, async (shadow) => {
      shadow.world.goDark('a0');
      await shadow.advance(120);
      assert.deepEqual(
        [...shadow.outcomes()].sort(),
        [
          ...acts.map((act) => `${act} node/a0 ${outcome}`),
          ...Object.keys(pods).map((pod) => `pod-not-ready pod/default/${pod} ${outcome}`),
          `pod-eviction pod/default/now ${outcome}`,
          `pod-eviction pod/default/soon ${outcome}`,
        ].sort(),
      );
      const before = shadow.outcomes().length;
      shadow.world.renewing('a0');
      shadow.world.post('a0', 'True');
      await shadow.advance(20);
      assert.deepEqual(shadow.outcomes().slice(before), [
        'no-schedule-untaint node/a0 agree 0 s',
        'no-execute-untaint node/a0 agree 0 s',
      ]);
      const { open, undecided } = shadow.mode.report();
      assert.deepEqual([open, undecided], [0, 0]);
    });
  });
}

test('nobody else acts: each act is wanted once, costs one token, and is told once as ours alone', async () => {
  await told({}, async (shadow) => {
    shadow.world.goDark('a0');
    await shadow.advance(1_500);
    const onNode = shadow.outcomes().filter((line) => line.includes('node/a0'));
    assert.deepEqual(
      onNode,
      acts.map((act) => `${act} node/a0 only_us`),
    );
    assert.equal(shadow.meter.series.get('node_collector_evictions_total{zone="r/a"}'), 1, 'tokens');
    const noted = shadow.decisions.map(({ decision }) => decision.kind);
    for (const kind of ['node-silent', 'taint-queued', 'pod-evicted'] as const) {
      const times = { 'node-silent': 1, 'taint-queued': 1, 'pod-evicted': 3 }[kind];
      assert.equal(noted.filter((other) => other === kind).length, times, kind);
    }
    assert.deepEqual(shadow.world.writes, [], 'and nothing was written');
    assert.equal(shadow.world.ready('a0'), 'True');
  });
});

test('a node that is heard again before they act was called silent by us alone, and its pods with it', async () => {
  await told({ nodeMonitorGracePeriodMs: 30_000 }, async (shadow) => {
    shadow.world.goDark('a0');
    await shadow.advance(40);
    assert.equal(shadow.mode.informers.nodes.get('a0')?.conditions[0]?.status, 'Unknown', 'as if it were written');
    // The kubelet knows of no Unknown: it renews its lease, and has no reason to post a status.
    shadow.world.renewing('a0');
    await shadow.advance(20);
    const lines = shadow.outcomes();
    for (const act of acts) assert.ok(lines.includes(`${act} node/a0 only_us`), `${act}: ${lines.join('; ')}`);
    for (const pod of Object.keys(pods)) assert.ok(lines.includes(`pod-not-ready pod/default/${pod} only_us`), pod);
    assert.ok(lines.includes('pod-eviction pod/default/now only_us'));
    assert.equal(shadow.mode.report().open, 0);
    assert.equal(shadow.mode.informers.nodes.get('a0')?.taints.length, 0);
    const silent = shadow.episodes().find(({ act }) => act === 'node-unknown');
    assert.deepEqual([silent?.ending, silent?.theirs, silent?.differenceSeconds], ['cause-gone', null, null]);
    assert.match(silent?.why ?? '', /^node a0 is silent: nothing heard for 30 s/);
  });
});

test('a pod that we alone evicted is evicted anew when its node falls silent again', async () => {
  await told({ nodeMonitorGracePeriodMs: 30_000 }, async (shadow) => {
    for (const time of [1, 2]) {
      shadow.world.goDark('a0');
      await shadow.advance(40);
      shadow.world.renewing('a0');
      await shadow.advance(30);
      const lines = shadow.outcomes().filter((line) => line === 'pod-eviction pod/default/now only_us');
      assert.equal(lines.length, time);
    }
  });
});

test('what they did and took back before we would have is theirs alone, with what we last decided', async () => {
  await told({ nodeMonitorGracePeriodMs: 90_000 }, async (shadow) => {
    shadow.world.goDark('a0');
    await shadow.advance(30);
    shadow.theyCallUnknown('a0');
    shadow.theyTaint('a0', 'NoSchedule');
    shadow.theyTaint('a0', 'NoExecute');
    shadow.theyMark('later');
    shadow.theyDelete('now', 'DeletionByTaintManager');
    await shadow.advance(5);
    const { nodes, pods: ownPods } = shadow.mode.informers;
    assert.deepEqual(nodes.get('a0')?.taints, [], 'for us the node is as it was');
    assert.equal(nodes.get('a0')?.conditions.find(({ type }) => type === 'Ready')?.status, 'True');
    assert.equal(ownPods.get('default/now')?.terminating, false, 'a ghost');
    assert.ok(ownPods.byIndex('node', 'a0').some(({ name }) => name === 'now'));
    assert.equal(ownPods.get('default/later')?.ready, 'True');

    shadow.world.renewing('a0');
    shadow.world.post('a0', 'True');
    shadow.theyUntaint('a0');
    shadow.world.changePod('later', (pod) => ({
      ...pod,
      status: { ...pod.status, conditions: [{ type: 'Ready', status: 'True' }] },
    }));
    await shadow.advance(5);
    assert.deepEqual([...shadow.outcomes()].sort(), [
      'no-execute-taint node/a0 only_them',
      'no-schedule-taint node/a0 only_them',
      'node-unknown node/a0 only_them',
      'pod-eviction pod/default/now only_them',
      'pod-not-ready pod/default/later only_them',
    ]);
    assert.equal(ownPods.get('default/now'), undefined, 'the ghost is gone');
    assert.match(shadow.episodes()[0]?.why ?? '', /node a0/);
    assert.deepEqual(shadow.episodes()[0]?.ours, null);
  });
});

test('what we never want is theirs alone after ten minutes, and is what the world is like from then on', async () => {
  await told({}, async (shadow) => {
    shadow.theyTaint('a1', 'NoSchedule');
    await shadow.advance(595);
    assert.deepEqual(shadow.outcomes(), []);
    await shadow.advance(10);
    assert.ok(shadow.outcomes().includes('no-schedule-taint node/a1 only_them'));
    // To us it is there now, on a node that is Ready: we would take it away.
    assert.equal(shadow.mode.report().open, 1);
    shadow.theyUntaint('a1');
    await shadow.advance(1);
    assert.equal(shadow.outcomes().at(-1), 'no-schedule-untaint node/a1 agree 5 s');
  });
});

test('pods that others delete are nobody of theirs: by a person, a drain, on a tainted node too', async () => {
  await told({ nodeMonitorGracePeriodMs: 90_000 }, async (shadow) => {
    shadow.theyDelete('now', undefined);
    shadow.theyTaint('a0', 'NoExecute');
    shadow.theyDelete('soon', 'EvictionByEvictionAPI');
    shadow.theyDelete('later', undefined, { isGone: false });
    await shadow.advance(5);
    assert.deepEqual(shadow.mode.report().open, 1, 'the taint alone');
    assert.deepEqual(shadow.mode.informers.pods.get('default/later')?.terminating, true);
    assert.equal(shadow.mode.informers.pods.get('default/now'), undefined);
  });
});

test('a pod that somebody else deletes after we would have is undecided', async () => {
  await told({ nodeMonitorGracePeriodMs: 30_000 }, async (shadow) => {
    shadow.world.goDark('a0');
    await shadow.advance(40);
    shadow.theyDelete('now', 'EvictionByEvictionAPI');
    await shadow.advance(1);
    assert.ok(!shadow.outcomes().some((line) => line.startsWith('pod-eviction')));
    assert.ok(shadow.mode.report().undecided >= 1);
  });
});

test('a node that is deleted leaves nothing to decide, and nothing behind', async () => {
  await told({ nodeMonitorGracePeriodMs: 30_000 }, async (shadow) => {
    shadow.world.goDark('a0');
    await shadow.advance(40);
    for (const pod of Object.keys(pods)) shadow.world.removePod(pod);
    shadow.world.removeNode('a0');
    await shadow.advance(5);
    const { open, undecided } = shadow.mode.report();
    assert.equal(open, 0);
    assert.ok(undecided >= acts.length, `${undecided} undecided`);
    assert.equal(shadow.outcomes().length, 0);
  });
});

test('the mark of a pod may arrive before the word about its node', async () => {
  await told({ nodeMonitorGracePeriodMs: 90_000 }, async (shadow) => {
    shadow.theyMark('later');
    await shadow.advance(1);
    assert.equal(shadow.mode.report().open, 0, 'as far as we know it was its kubelet');
    shadow.theyCallUnknown('a0');
    await shadow.advance(1);
    assert.equal(shadow.mode.report().open, 2);
    assert.equal(shadow.mode.informers.pods.get('default/later')?.ready, 'True');
  });
});

test('a kubelet that says so of its own pod is not them', async () => {
  await told({}, async (shadow) => {
    shadow.theyMark('later');
    await shadow.advance(60);
    shadow.theyCallUnknown('a0');
    await shadow.advance(1);
    assert.equal(shadow.mode.report().open, 1, 'the node alone');
  });
});

test('without the evictor evictions are as they are; without the detector nodes are', async () => {
  await told(
    { nodeMonitorGracePeriodMs: 90_000 },
    async (shadow) => {
      shadow.theyCallUnknown('a0');
      shadow.theyDelete('now', 'DeletionByTaintManager');
      await shadow.advance(1);
      assert.equal(shadow.mode.informers.pods.get('default/now'), undefined);
      assert.equal(shadow.mode.report().open, 1);
      assert.deepEqual(shadow.outcomes(), [], 'nothing of pods is compared');
    },
    { taintEviction: false },
  );
  await told(
    {},
    async (shadow) => {
      shadow.theyCallUnknown('a0');
      shadow.theyTaint('a0', 'NoExecute');
      await shadow.advance(2);
      assert.equal(shadow.mode.informers.nodes.get('a0')?.taints[0]?.key, unreachable);
      shadow.theyDelete('now', 'DeletionByTaintManager');
      await shadow.advance(15);
      assert.deepEqual(shadow.outcomes(), ['pod-eviction pod/default/now agree 2 s']);
      assert.equal(shadow.mode.report().open, 1, 'soon is due for us, and they have not deleted it');
    },
    { nodeLifecycle: false },
  );
});

test('a restart of theirs strips taints and puts them back: theirs alone, and no countdown of ours starts anew', async () => {
  await besideTheirs(50, async (shadow) => {
    shadow.world.goDark('a0');
    await shadow.advance(80);
    await shadow.world.stop();
    const dueAtMs = shadow.ours.stages.evictor.scheduled().get('default/later');
    assert.ok(dueAtMs !== undefined);
    const before = shadow.outcomes().length;
    shadow.theyUntaint('a0');
    await shadow.advance(10);
    shadow.theyTaint('a0', 'NoSchedule');
    shadow.theyTaint('a0', 'NoExecute');
    await shadow.advance(1);
    assert.deepEqual(shadow.outcomes().slice(before), [
      'no-schedule-untaint node/a0 only_them',
      'no-execute-untaint node/a0 only_them',
    ]);
    assert.deepEqual(
      new Set(
        shadow
          .episodes()
          .slice(before)
          .map(({ ending }) => ending),
      ),
      new Set(['taken-back']),
    );
    assert.equal(shadow.ours.stages.evictor.scheduled().get('default/later'), dueAtMs);
    assert.equal(shadow.meter.series.get('node_collector_evictions_total{zone="r/a"}'), 1);
  });
});

test('what they take away before we have begun is taken away by us when we begin', async () => {
  const taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };
  const shadow = new ShadowWorld({}, {}, {}, (world) => {
    world.addNode('z0', { zone: 'z', taints: [taint] });
  });
  shadow.populate();
  shadow.theyUntaint('z0');
  assert.deepEqual(shadow.mode.informers.nodes.get('z0')?.taints, [taint], 'it is there for us');
  shadow.start();
  await shadow.advance(2);
  assert.deepEqual(shadow.outcomes(), ['no-schedule-untaint node/z0 agree 0 s']);
  assert.deepEqual(shadow.mode.informers.nodes.get('z0')?.taints, []);
  await shadow.stop();
});

test('a node that was Unknown and tainted before we looked is taken as it is', async () => {
  const shadow = new ShadowWorld({}, {}, {}, (world) => {
    world.addNode('z0', { zone: 'z', ready: 'Unknown', taints: [{ key: unreachable, effect: 'NoSchedule' }] });
  });
  shadow.populate(pods);
  shadow.start();
  await shadow.advance(30);
  assert.deepEqual(shadow.outcomes(), []);
  // Of what is there already nothing is compared; what is missing is an act of ours like any other.
  assert.equal(shadow.mode.report().open, 1);
  assert.deepEqual(
    shadow.mode.informers.nodes.get('z0')?.taints.map(({ effect }) => effect),
    ['NoSchedule', 'NoExecute'],
  );
  await shadow.stop();
});

test('differences are logged with their reason, agreement is not; both are counted', async () => {
  await besideTheirs(30, async (shadow) => {
    shadow.world.goDark('a0');
    await shadow.advance(60);
    shadow.world.renewing('a0');
    shadow.world.post('a0', 'True');
    await shadow.advance(20);
    const lines = shadow.logger.lines.filter(({ message }) => message === 'shadow: we differ');
    const [line] = lines;
    assert.deepEqual(line?.fields['subject'], 'node/a0');
    assert.equal(line?.fields['outcome'], 'earlier');
    assert.match(String(line?.fields['why']), /^node a0 is silent/);
    assert.ok(line?.fields['ours'] !== null && line?.fields['theirs'] !== null);
    assert.ok(lines.every(({ fields }) => fields['outcome'] !== 'agree'));
    const { series } = shadow.meter;
    const count = (act: string, outcome: string): number | undefined =>
      series.get(`node_lifecycle_shadow_episodes_total{act="${act}",outcome="${outcome}"}`);
    assert.equal(count('node-unknown', 'earlier'), 1);
    assert.equal(count('no-schedule-untaint', 'agree'), 1);
    assert.equal(count('node-unknown', 'only_them'), 0, 'what has not happened is there as 0');
    const seconds = series.get('node_lifecycle_shadow_difference_seconds{act="node-unknown",first="us"}') ?? 0;
    assert.ok(Math.abs(seconds - 20) < 1, `${seconds} s`);
    assert.equal(series.get('node_lifecycle_shadow'), 1);
  });
});

test('the page keeps the last 200 episodes and all totals', async () => {
  await told({}, async (shadow) => {
    for (let time = 0; time < 150; time++) {
      shadow.theyTaint('a1', 'NoSchedule');
      shadow.theyUntaint('a1');
      shadow.theyTaint('a2', 'NoSchedule');
      shadow.theyUntaint('a2');
    }
    await shadow.advance(2);
    const { episodes, totals, open } = shadow.mode.report();
    assert.equal(episodes.length, 200);
    assert.equal(totals['no-schedule-taint'].only_them, 300);
    assert.equal(open, 0);
  });
});
