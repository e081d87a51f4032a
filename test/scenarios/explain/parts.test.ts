// Actions of controllers that do not run in this process are not predicted, and the page shows that.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { taintKeys } from '../../../src/machinery/api/taints.ts';
import { describeNodeOutlook, describePodOutlook } from '../../../src/controller/report/text/describe-outlooks.ts';
import { describeStatus } from '../../../src/controller/report/text/describe-status.ts';
import type { ExplainedHold } from '../../../src/controller/report/pages.ts';
import type { ControllerOptions, ControllerSelection } from '../../../src/controller/model/options.ts';
import { ControllerWorld } from '../../support/controller-world.ts';
import { comesTrue, secondsOf } from '../../support/coming-true.ts';
import { explainNode, explainPod, statusOf } from '../../support/explained.ts';

/** Four nodes, of which `a-0` has a pod without tolerations and becomes silent. */
async function aWorld(
  controllers: Partial<ControllerSelection>,
  options: Partial<ControllerOptions> = {},
): Promise<ControllerWorld> {
  const none = { nodeLifecycle: false, taintEviction: false, podGc: false };
  const world = new ControllerWorld(options, { ...none, ...controllers });
  for (const name of ['a-0', 'a-1', 'b-0', 'b-1']) {
    world.addNode(name, { zone: name.slice(0, 1) });
    world.renewing(name);
  }
  world.addPod('web', 'a-0');
  await world.start().silentFor(10, 'a-0');
  return world;
}

function missingParts(holds: readonly ExplainedHold[]): readonly string[] {
  return holds.flatMap((hold) => (hold.kind === 'not-run' ? [hold.part] : []));
}

test('the node lifecycle controller alone predicts its taint and no eviction', async () => {
  await using world = await aWorld({ nodeLifecycle: true });
  const node = explainNode(world, 'a-0');
  const pod = explainPod(world, 'web');
  assert.deepEqual([node.evictions.predicted, pod.eviction, pod.next.act], [0, null, 'none']);
  assert.deepEqual(pod.stays, { why: 'not-run', part: 'taint-eviction-controller' });
  assert.deepEqual(missingParts(pod.holds), ['taint-eviction-controller']);
  assert.deepEqual(missingParts(node.holds), ['taint-eviction-controller']);
  assert.match(
    describePodOutlook(pod),
    /^ {2}held +this process does not run the taint-eviction-controller, .*; would end: --controllers naming it$/m,
  );
  await comesTrue(world, secondsOf(node.noExecuteTaint?.when), 0.15, () =>
    world.taints('a-0').includes('unreachable:NoExecute'),
  );
  await world.advance(60);
  assert.deepEqual([world.evicted(), explainPod(world, 'web').next.act], [[], 'none']);
});

test('the taint eviction controller alone predicts nothing for a silent node, but the effect of a taint of another component', async () => {
  await using world = await aWorld({ taintEviction: true });
  const node = explainNode(world, 'a-0');
  const expected = [null, null, 0, 'none'];
  assert.deepEqual([node.noExecuteTaint, node.taints.wanted, node.evictions.predicted, node.next.act], expected);
  assert.deepEqual(missingParts(node.holds), ['node-lifecycle-controller']);
  assert.match(describeNodeOutlook(node), /^ {2}taints +has none; not managed by this process$/m);
  await world.advance(100);
  assert.deepEqual([world.ready('a-0'), world.taints('a-0')], ['True', []]);
  world.addPod('patient', 'a-1', [{ key: taintKeys.unreachable, operator: 'Exists', tolerationSeconds: 30 }]);
  world.setTaints('a-1', [{ key: taintKeys.unreachable, effect: 'NoExecute' }]);
  await world.advance(1);
  const pod = explainPod(world, 'patient');
  assert.equal(pod.eviction?.state, 'scheduled');
  await comesTrue(world, secondsOf(pod.next.when), 0.1, () => world.evicted().includes('patient'));
});

test('the pod garbage collector alone predicts its rounds and nothing for the node', async () => {
  await using world = await aWorld({ podGc: true });
  const { noExecuteTaint, evictions, next } = explainNode(world, 'a-0');
  assert.deepEqual([noExecuteTaint, evictions.predicted, next.act], [null, 0, 'none']);
  world.removeNode('a-0');
  const pod = explainPod(world, 'web');
  assert.deepEqual(missingParts(pod.holds), ['node-lifecycle-controller', 'taint-eviction-controller']);
  assert.equal(pod.next.act, 'collect-pod');
  await comesTrue(world, secondsOf(pod.next.when), 0, () => world.evicted().includes('web'));
});

test('without the pod garbage collector no deletion of an orphan is predicted, and none happens', async () => {
  await using world = await aWorld({ nodeLifecycle: true, taintEviction: true });
  world.addPod('done', 'a-1');
  world.changePod('done', (pod) => ({ ...pod, status: { ...pod.status, phase: 'Succeeded' } }));
  assert.equal(explainPod(world, 'done').collection, null, 'decided elsewhere');
  const actual = missingParts(explainPod(world, 'web').holds);
  assert.deepEqual(actual, [], 'no controller that this pod depends on is missing');
  world.removeNode('a-0');
  const pod = explainPod(world, 'web');
  assert.deepEqual([pod.collection, pod.stays, pod.next.act], [null, { why: 'node-unknown' }, 'none']);
  assert.deepEqual(missingParts(pod.holds), ['pod-garbage-collector-controller']);
  await world.advance(200);
  assert.deepEqual(world.evicted(), []);
});

test('eviction mode belongs to the node lifecycle controller: without it nothing is predicted, and taints have no effect', async () => {
  const older = { taintBasedEvictions: false, podEvictionTimeoutMs: 60_000 };
  await using world = await aWorld({ taintEviction: true }, older);
  const { eviction, next, holds } = explainNode(world, 'a-0');
  assert.deepEqual([eviction, next.act, missingParts(holds)], [null, 'none', ['node-lifecycle-controller']]);
  assert.deepEqual(explainPod(world, 'web').stays, { why: 'not-run', part: 'node-lifecycle-controller' });
  assert.deepEqual(statusOf(world).runs, { nodeLifecycle: false, taintEviction: false, podGc: false });
  await world.advance(200);
  assert.deepEqual(world.evicted(), []);
});

test('the status has the running controllers and the mode', async () => {
  const world = await aWorld({ nodeLifecycle: true, podGc: true });
  const status = statusOf(world);
  assert.deepEqual([status.mode, status.runs], ['taint', { nodeLifecycle: true, taintEviction: false, podGc: true }]);
  const actual = describeStatus(status);
  assert.match(actual, /^ {2}runs +node-lifecycle-controller, pod-garbage-collector-controller; taint mode$/m);
  await world.stop();
  const silent = await aWorld({ nodeLifecycle: true });
  assert.equal(statusOf(silent).podGc, null);
  assert.doesNotMatch(describeStatus(statusOf(silent)), /collection|evictions/);
  await silent.stop();
});
