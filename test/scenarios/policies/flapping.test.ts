// Nodes that recover often are kept from new pods for a growing time.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { flappingAnnotation } from '../../../src/machinery/api/node.ts';
import { describeNodeOutlook } from '../../../src/controller/report/text/describe-outlooks.ts';
import { describeStatus } from '../../../src/controller/report/text/describe-status.ts';
import type { FlappingRule, NodePolicy } from '../../../src/controller/model/policy.ts';
import { aPolicy } from '../../support/builders.ts';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { explainNode, statusOf } from '../../support/explained.ts';
import { aZonedWorld, names } from '../../support/zoned-world.ts';

const second = 1_000;
const flapping: FlappingRule = {
  recoveries: 3,
  withinMs: 3_600 * second,
  initialMs: 300 * second,
  maxMs: 900 * second,
  budget: { percent: undefined, count: 1 },
};
const sizes = { a: 6, b: 6 };
const keptTaint = 'nodelifecycle/flapping:NoSchedule';

function policiesWith(over: Partial<NodePolicy> = {}, rule: Partial<FlappingRule> = {}): readonly NodePolicy[] {
  return [aPolicy({ name: 'pool', flapping: { ...flapping, ...rule }, ...over })];
}

function aWorld(rule: Partial<FlappingRule> = {}): ControllerWorld {
  return aZonedWorld(sizes, { policies: policiesWith({}, rule) });
}

/** Its kubelet reports Ready=False for 5 s, and then Ready for 5 s. */
async function flap(world: ControllerWorld, name: string, times = 1): Promise<void> {
  for (let left = times; left > 0; left -= 1) {
    world.post(name, 'False');
    await world.advance(5);
    world.post(name, 'True');
    await world.advance(5);
  }
}

function isKept(world: ControllerWorld, name: string): boolean {
  const hasRecord = textOf(world, name) !== undefined;
  assert.equal(world.taints(name).includes(keptTaint), hasRecord, 'the taint and the annotation are written together');
  return hasRecord;
}

function textOf(world: ControllerWorld, name: string): string | undefined {
  return world.node(name).metadata.annotations?.[flappingAnnotation];
}

function recordOf(world: ControllerWorld, name: string): { readonly level: number; readonly until: string } {
  return JSON.parse(textOf(world, name) ?? '{}');
}

/** Seconds until the end in the annotation. */
function leftS(world: ControllerWorld, name: string): number {
  return (Date.parse(recordOf(world, name).until) - world.clock.nowMs()) / second;
}

function writesTo(world: ControllerWorld, name: string): number {
  return world.writes.filter((write) => write.resource === 'nodes' && write.name === name).length;
}

test('the third recovery keeps the node from new pods for 5 minutes, and the end is one write', async () => {
  await using world = aWorld().start();
  await flap(world, 'a-0', 2);
  assert.deepEqual([isKept(world, 'a-0'), world.taints('a-0')], [false, []]);
  await flap(world, 'a-0');
  assert.deepEqual(world.taints('a-0'), [keptTaint]);
  assert.deepEqual([recordOf(world, 'a-0').level, Math.round(leftS(world, 'a-0'))], [1, 295]);
  assert.equal(world.meter.read().get('node_lifecycle_flapping_nodes{policy="pool"}'), 1);
  assert.match(
    world.nodeEventsOf('NodeFlapping').join(),
    /^The node recovered 3 times within 3600s: .* kubectl annotate node a-0/,
  );
  const before = writesTo(world, 'a-0');
  await world.advance(290);
  assert.deepEqual([isKept(world, 'a-0'), writesTo(world, 'a-0')], [true, before], 'nothing is written meanwhile');
  await world.advance(6);
  assert.deepEqual([world.taints('a-0'), textOf(world, 'a-0'), writesTo(world, 'a-0')], [[], undefined, before + 1]);
  assert.equal(world.nodeEventsOf('NodeNoLongerKept').length, 1);
  assert.equal(world.meter.read().get('node_lifecycle_flapping_nodes{policy="pool"}'), 0);
});

test('at no moment is the recovered node without both taints, and none of the health stays on a Ready node', async () => {
  await using world = aWorld().start();
  await flap(world, 'a-0', 2);
  const seen: string[] = [];
  world.afterWrite = async ({ resource, name }) => {
    if (resource === 'nodes' && name === 'a-0') seen.push(`${world.ready(name)} ${world.taints(name).join(' ')}`);
  };
  await flap(world, 'a-0');
  assert.ok(seen.length > 0);
  assert.ok(!seen.includes('True '), seen.join('; '));
  assert.deepEqual(world.taints('a-0'), [keptTaint]);
});

test('each further recovery doubles the time up to the maximum, also when the node is kept, and a quiet hour ends it', async () => {
  await using world = aWorld().start();
  await flap(world, 'a-0', 4);
  assert.deepEqual([recordOf(world, 'a-0').level, Math.round(leftS(world, 'a-0'))], [2, 595]);
  await world.advance(600);
  assert.equal(isKept(world, 'a-0'), false);
  await flap(world, 'a-0');
  assert.deepEqual([recordOf(world, 'a-0').level, Math.round(leftS(world, 'a-0'))], [3, 895]);
  await world.advance(3_600);
  assert.equal(isKept(world, 'a-0'), false);
  await flap(world, 'a-0', 2);
  assert.equal(isKept(world, 'a-0'), false, 'counted from the beginning');
  assert.equal(world.lifecycle.stages.flapping.budget.size, 0);
});

test('level and end survive a restart, and the deadline is kept', async () => {
  await using world = aWorld().start();
  await flap(world, 'a-0', 3);
  const text = textOf(world, 'a-0');
  await world.restart();
  await world.advance(100);
  assert.equal(textOf(world, 'a-0'), text);
  await flap(world, 'a-0');
  assert.equal(recordOf(world, 'a-0').level, 2);
  await world.restart();
  await world.advance(Math.ceil(leftS(world, 'a-0')) + 1);
  assert.deepEqual(world.taints('a-0'), []);
  await flap(world, 'a-0');
  assert.equal(recordOf(world, 'a-0').level, 3, 'the time of the recovery follows from the annotation');
});

test('a node whose lease stops is counted too', async () => {
  await using world = aWorld({ recoveries: 2 }).start();
  for (let left = 2; left > 0; left -= 1) {
    await world.silentFor(70, 'a-0');
    world.recover('a-0');
    await world.advance(10);
  }
  assert.deepEqual(world.taints('a-0'), [keptTaint]);
});

test('removing the annotation clears within a second, and counting starts again', async () => {
  await using world = aWorld().start();
  await flap(world, 'a-0', 3);
  world.annotate('a-0', flappingAnnotation, undefined);
  await world.advance(1);
  assert.deepEqual([world.taints('a-0'), textOf(world, 'a-0')], [[], undefined]);
  assert.match(world.nodeEventsOf('NodeNoLongerKept').join(), /another client removed the annotation or the taint/);
  await flap(world, 'a-0', 2);
  assert.equal(isKept(world, 'a-0'), false);
  await flap(world, 'a-0');
  assert.equal(recordOf(world, 'a-0').level, 1);
});

test('removing the taint clears too', async () => {
  await using world = aWorld().start();
  await flap(world, 'a-0', 3);
  world.setTaints('a-0', []);
  await world.advance(1);
  assert.deepEqual([world.taints('a-0'), textOf(world, 'a-0')], [[], undefined]);
  await flap(world, 'a-0', 2);
  assert.equal(isKept(world, 'a-0'), false);
});

test('an annotation that cannot be read, or ends too late, keeps no node, and is reported', async () => {
  await using world = aWorld().start();
  for (const [value, reason, why] of [
    ['soon', 'MalformedFlappingAnnotation', 'malformed'],
    ['{"level":1,"until":"2099-01-01T00:00:00Z"}', 'NodeNoLongerKept', 'too-long'],
  ] as const) {
    world.annotate('a-1', flappingAnnotation, value);
    world.setTaints('a-1', [{ key: flappingAnnotation, effect: 'NoSchedule' }]);
    await world.advance(1);
    assert.deepEqual([world.taints('a-1'), textOf(world, 'a-1')], [[], undefined], value);
    assert.equal(world.decided('flapping-released').at(-1)?.why, why);
    assert.ok(world.nodeEventsOf(reason).length > 0, reason);
  }
});

test('a node that is not Ready at the end of its time loses the taint all the same, and the next recovery goes on', async () => {
  await using world = aWorld().start();
  await flap(world, 'a-0', 3);
  world.post('a-0', 'False');
  await world.advance(310);
  assert.deepEqual(world.taints('a-0'), ['not-ready:NoExecute', 'not-ready:NoSchedule']);
  assert.equal(textOf(world, 'a-0'), undefined);
  world.post('a-0', 'True');
  await world.advance(5);
  assert.equal(recordOf(world, 'a-0').level, 2);
});

test('it loses the taint also while a pause holds that it is marked Unknown', async () => {
  await using world = aWorld().start();
  await flap(world, 'a-0', 3);
  world.annotatePause('a-0', '2099-01-01T00:00:00Z');
  await world.silentFor(310, 'a-0');
  assert.equal(world.ready('a-0'), 'True', 'the pause holds');
  assert.equal(isKept(world, 'a-0'), false);
});

test('beyond the budget a node is not kept, and not later either', async () => {
  await using world = aWorld().start();
  await flap(world, 'a-0', 3);
  await flap(world, 'a-1', 3);
  assert.deepEqual([isKept(world, 'a-0'), isKept(world, 'a-1')], [true, false]);
  const [refused, ...more] = world.decided('flapping-not-kept');
  assert.deepEqual([refused?.node, refused?.kept, refused?.limit, more], ['a-1', 1, 1, []]);
  assert.equal(
    world.meter.read().get('node_lifecycle_flapping_recoveries_total{policy="pool",result="over_budget"}'),
    1,
  );
  await world.advance(400);
  assert.deepEqual([isKept(world, 'a-0'), isKept(world, 'a-1')], [false, false]);
  await flap(world, 'a-1');
  assert.equal(recordOf(world, 'a-1').level, 2);
});

test('nodes that recover at one moment do not exceed the budget', async () => {
  await using world = aWorld({ recoveries: 2, budget: { percent: 34, count: 1 } }).start();
  const nodes = ['a-0', 'a-1', 'a-2', 'a-3'];
  for (let left = 2; left > 0; left -= 1) {
    for (const node of nodes) world.post(node, 'False');
    await world.advance(5);
    for (const node of nodes) world.post(node, 'True');
    await world.advance(5);
  }
  assert.equal(nodes.filter((node) => isKept(world, node)).length, 2, '34 % of 6');
  assert.deepEqual(
    nodes.map((node) => world.ready(node)),
    ['True', 'True', 'True', 'True'],
  );
});

test('without the field, the policy, or a policy that selects the node, kept nodes are released within a second', async () => {
  await using world = aWorld({ budget: { percent: undefined, count: 6 } }).start();
  const removals: readonly ((name: string) => void)[] = [
    () => world.changeOptions({ policies: policiesWith({ flapping: undefined }) }),
    () => world.changeOptions({ policies: [] }),
    (name) => world.setLabels(name, {}),
  ];
  for (const [place, remove] of removals.entries()) {
    const name = `a-${place}`;
    world.changeOptions({ policies: policiesWith() });
    await world.advance(1);
    await flap(world, name, 3);
    assert.equal(isKept(world, name), true, name);
    remove(name);
    await world.advance(1);
    assert.equal(isKept(world, name), false, name);
    assert.equal(world.decided('flapping-released').at(-1)?.why, 'no-rule');
  }
});

test('a pause holds the taint and not the recovery, and does not hold the release', async () => {
  await using world = aWorld().start();
  await flap(world, 'a-0', 2);
  world.post('a-0', 'False');
  await world.advance(5);
  world.annotatePause('a-0', 'true');
  world.post('a-0', 'True');
  await world.advance(5);
  assert.deepEqual([isKept(world, 'a-0'), world.taints('a-0')], [false, []]);
  world.annotatePause('a-0', undefined);
  await world.advance(2);
  assert.equal(isKept(world, 'a-0'), true, 'it is still due');
  world.annotatePause('a-0', 'true');
  await world.advance(300);
  assert.equal(isKept(world, 'a-0'), false);
});

test('mode Observe neither adds nor removes the taint', async () => {
  await using world = aWorld().start();
  await flap(world, 'a-0', 3);
  world.changeOptions({ policies: policiesWith({ mode: 'Observe' }) });
  const before = writesTo(world, 'a-0');
  await world.advance(400);
  await flap(world, 'a-0');
  assert.deepEqual([isKept(world, 'a-0'), writesTo(world, 'a-0')], [true, before]);
  world.changeOptions({ policies: policiesWith() });
  await world.advance(1);
  assert.equal(isKept(world, 'a-0'), false);
});

test('a conflict does not open a gap: the health taints go with the write that adds the other', async () => {
  await using world = aWorld().start();
  await flap(world, 'a-0', 2);
  const seen: string[] = [];
  let conflicts = 2;
  world.beforeWrite = async ({ name, body }) => {
    const annotated = JSON.stringify(body).includes(flappingAnnotation);
    if (name !== 'a-0' || !annotated || conflicts === 0) return;
    conflicts -= 1;
    world.annotate('a-0', 'example.com/other', String(conflicts));
  };
  world.afterWrite = async ({ name }) => {
    if (name === 'a-0') seen.push(`${world.ready(name)} ${world.taints(name).join(' ')}`);
  };
  await flap(world, 'a-0');
  assert.equal(conflicts, 0);
  assert.ok(!seen.includes('True '), seen.join('; '));
  assert.equal(isKept(world, 'a-0'), true);
});

test('where the taint is denied the node recovers within seconds all the same, and the attempts end with its time', async () => {
  await using world = aWorld({ initialMs: 60 * second }).start();
  await flap(world, 'a-0', 2);
  let denied = 0;
  world.beforeWrite = async ({ body }) => {
    if (!JSON.stringify(body).includes(flappingAnnotation)) return;
    denied += 1;
    world.failNext('patch', 'nodes', 'forbidden');
  };
  await flap(world, 'a-0');
  await world.advance(5);
  assert.deepEqual(world.taints('a-0'), []);
  await world.advance(60);
  const after = denied;
  await world.advance(300);
  assert.deepEqual([denied, isKept(world, 'a-0')], [after, false]);
  assert.ok(denied > 3 && denied < 20, `${denied}`);
});

test('a write whose response was lost is reported once', async () => {
  await using world = aWorld().start();
  await flap(world, 'a-0', 2);
  world.post('a-0', 'False');
  await world.advance(5);
  world.failNext('patch', 'nodes', 'timeout', 5, true);
  world.post('a-0', 'True');
  await world.advance(60);
  assert.equal(isKept(world, 'a-0'), true);
  assert.equal(world.nodeEventsOf('NodeFlapping').length, 1);
  assert.equal(world.decided('flapping-kept').length, 1);
});

test('a node that was in planned maintenance did not flap', async () => {
  const maintenance = { conditions: ['Drained'], taints: [], maxDurationMs: 3_600 * second };
  await using world = aZonedWorld(sizes, { policies: policiesWith({ maintenance }) }).start();
  world.setCondition('a-0', 'Drained', 'True');
  await flap(world, 'a-0', 4);
  world.setCondition('a-0', 'Drained', 'False');
  await flap(world, 'a-0', 2);
  assert.equal(isKept(world, 'a-0'), false);
});

test('nodes of no such policy and healthy nodes are never touched', async () => {
  await using world = aWorld().start();
  await flap(world, 'b-0', 5);
  await world.advance(120);
  assert.equal(
    world.writes.some(({ body }) => JSON.stringify(body ?? {}).includes(flappingAnnotation)),
    false,
  );
  assert.equal(writesTo(world, 'a-1'), 0);
  assert.equal(explainNode(world, 'a-1').flapping, undefined);
});

test('explain and status say why, until when, and how to end it', async () => {
  await using world = aWorld().start();
  await flap(world, 'a-0', 2);
  assert.match(
    describeNodeOutlook(explainNode(world, 'a-0')),
    /flapping {3}recovered 2 times within 3600s; it is kept .* at 3/,
  );
  await flap(world, 'a-0');
  const text = describeNodeOutlook(explainNode(world, 'a-0'));
  const { until } = recordOf(world, 'a-0');
  assert.ok(
    text.includes(
      `flapping   no new pods until ${until} (level 1); recovered 3 times within 3600s; to end it: kubectl annotate node a-0 ${flappingAnnotation}-`,
    ),
    text,
  );
  assert.match(
    text,
    /taints {5}has nodelifecycle\/flapping:NoSchedule; should have nodelifecycle\/flapping:NoSchedule/,
  );
  assert.match(
    describeStatus(statusOf(world)),
    /pool: mode Enforce, applies to 6 nodes; 1 flapping nodes kept of at most 1/,
  );
  const { kind, level } = world.decided('flapping-kept')[0] ?? { kind: '', level: 0 };
  assert.deepEqual([kind, level], ['flapping-kept', 1]);
});

test('a standby counts what another leader does, and goes on when it leads', async () => {
  await using world = aWorld();
  for (let left = 2; left > 0; left -= 1) {
    world.post('a-0', 'False');
    world.setTaints('a-0', [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }]);
    await world.advance(5);
    world.post('a-0', 'True');
    world.setTaints('a-0', []);
  }
  world.start();
  await flap(world, 'a-0');
  assert.equal(isKept(world, 'a-0'), true);
});

test('a standby whose policies come after its nodes counts recoveries and kept nodes all the same', async () => {
  await using world = aZonedWorld(sizes);
  const until = new Date(world.clock.nowMs() + 250 * second).toISOString();
  world.annotate('a-5', flappingAnnotation, `{"level":1,"until":"${until}"}`);
  world.setTaints('a-5', [{ key: flappingAnnotation, effect: 'NoSchedule' }]);
  world.changeOptions({ policies: policiesWith({}, { recoveries: 2 }) });
  assert.equal(world.meter.read().get('node_lifecycle_flapping_nodes{policy="pool"}'), 1);
  for (let left = 2; left > 0; left -= 1) {
    world.post('a-0', 'False');
    world.setTaints('a-0', [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }]);
    await world.advance(5);
    world.post('a-0', 'True');
    if (left > 1) world.setTaints('a-0', []);
  }
  world.start();
  await world.advance(5);
  assert.deepEqual([isKept(world, 'a-0'), isKept(world, 'a-5')], [false, true], 'the budget is used up');
  assert.equal(world.decided('flapping-not-kept').length, 1);
});

test('where the taint has been denied for long, the next recovery removes the health taints within seconds too', async () => {
  await using world = aWorld().start();
  await flap(world, 'a-0', 2);
  world.beforeWrite = async ({ body }) => {
    if (JSON.stringify(body).includes(flappingAnnotation)) world.failNext('patch', 'nodes', 'forbidden');
  };
  for (const waitS of [60, 53, 47]) {
    await flap(world, 'a-0');
    await world.advance(waitS);
    world.post('a-0', 'False');
    await world.advance(5);
    world.post('a-0', 'True');
    await world.advance(6);
    assert.deepEqual(world.taints('a-0'), [], `after ${waitS} s`);
  }
});

test('the budget is a share of the nodes of the policy as it is now, not as before a change a moment ago', async () => {
  const budget = { percent: 50, count: undefined };
  await using world = aWorld({ recoveries: 2, budget }).start();
  await flap(world, 'a-0');
  world.post('a-0', 'False');
  await world.advance(5);
  world.meter.read();
  world.changeOptions({ policies: policiesWith({ name: 'renamed' }, { recoveries: 2, budget }) });
  world.post('a-0', 'True');
  await world.advance(5);
  assert.equal(isKept(world, 'a-0'), true);
});

test('a node whose taint a pause held takes no place of the budget when its time is over', async () => {
  await using world = aWorld({ recoveries: 2, initialMs: 60 * second }).start();
  await flap(world, 'a-0');
  await flap(world, 'a-1');
  world.post('a-0', 'False');
  await world.advance(5);
  world.annotatePause('a-0', 'true');
  world.post('a-0', 'True');
  await world.advance(50);
  world.post('a-1', 'False');
  await world.advance(11);
  world.post('a-1', 'True');
  await world.advance(2);
  assert.deepEqual([isKept(world, 'a-0'), isKept(world, 'a-1')], [false, true]);
});

test('what the leader before did not keep is not kept minutes later by the next one', async () => {
  await using world = aWorld({ recoveries: 2 });
  for (let left = 2; left > 0; left -= 1) {
    world.post('a-0', 'False');
    world.setTaints('a-0', [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }]);
    await world.advance(5);
    world.post('a-0', 'True');
    world.setTaints('a-0', []);
    await world.advance(5);
  }
  await world.advance(120);
  world.start();
  await world.advance(5);
  assert.equal(isKept(world, 'a-0'), false);
  await flap(world, 'a-0');
  assert.equal(recordOf(world, 'a-0').level, 2, 'the recovery counts');
});

/** The path to all nodes fails for 80 s, for 15 s of which they are Unknown, and they recover. */
async function failPath(world: ControllerWorld, nodes: readonly string[]): Promise<void> {
  await world.silentFor(65, ...nodes);
  world.recover(...nodes);
  await world.advance(60);
}

test('a path failure is no recovery of its nodes, however often; that of one node is', async () => {
  const all = ['a', 'b'].flatMap((zone) => names(6, `${zone}-`));
  await using world = aWorld();
  await world.running(20);
  for (let times = 4; times > 0; times -= 1) await failPath(world, all);
  assert.deepEqual(
    [world.decided('acts-held').length, all.filter((node) => isKept(world, node))],
    [4, []],
    'each was held, and no node is kept',
  );
  assert.equal(explainNode(world, 'a-0').flapping, undefined);
  for (let times = 3; times > 0; times -= 1) await failPath(world, ['a-0']);
  assert.equal(isKept(world, 'a-0'), true);
});
