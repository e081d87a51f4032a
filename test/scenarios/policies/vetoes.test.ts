// Marks of other tools: where a policy lets them, they hold the taints and evictions of an unhealthy node for a bounded time.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { VetoRule } from '../../../src/controller/model/policy.ts';
import { describeNodeOutlook } from '../../../src/controller/report/text/describe-outlooks.ts';
import { knownVetoes, vetoOwners } from '../../../src/machinery/api/vetoes.ts';
import { aPolicy } from '../../support/builders.ts';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { explainNode } from '../../support/explained.ts';
import { aZonedWorld } from '../../support/zoned-world.ts';

const rule: VetoRule = { of: vetoOwners, labels: [], taints: [], maxDurationMs: 300_000 };
const karpenter = 'karpenter.sh/do-not-repair';

/** Zone a is of the policy, zone b is not; a pod on a node of each. */
async function aWorld(vetoes: VetoRule | 'none' = rule): Promise<ControllerWorld> {
  const world = aZonedWorld(
    { a: 4, b: 4 },
    { policies: [aPolicy({ name: 'spot', ...(vetoes !== 'none' && { vetoes }) })] },
  );
  world.addPod('pa', 'a-0');
  world.addPod('pb', 'b-0');
  return world.running(20);
}

for (const { kind, name, owner } of knownVetoes)
  test(`${kind} ${name} of ${owner} holds its node, and no node without such a policy`, async () => {
    await using world = await aWorld();
    for (const node of ['a-0', 'b-0'])
      if (kind === 'annotation') world.annotate(node, name, 'true');
      else world.addLabel(node, name, 'true');
    await world.silentFor(200, 'a-0', 'b-0');
    assert.deepEqual([world.ready('a-0'), world.taints('a-0')], ['Unknown', ['unreachable:NoSchedule']]);
    assert.equal(world.podReady('pa'), 'False');
    assert.deepEqual(world.evicted(), ['pb']);
  });

test('a mark with the value false holds nothing, nor does one of a tool that the policy does not name', async () => {
  await using world = await aWorld({ ...rule, of: ['karpenter'] });
  world.annotate('a-0', karpenter, 'false');
  world.annotate('a-0', 'cluster.x-k8s.io/skip-remediation', '');
  await world.silentFor(100, 'a-0');
  assert.deepEqual(world.evicted(), ['pa']);
});

test('without the rule nothing is held', async () => {
  await using world = await aWorld('none');
  world.annotate('a-0', karpenter, 'true');
  await world.silentFor(100, 'a-0');
  assert.deepEqual(world.evicted(), ['pa']);
});

test('it ends with the mark, at once', async () => {
  await using world = await aWorld();
  world.annotate('a-0', karpenter, 'true');
  await world.silentFor(200, 'a-0');
  assert.deepEqual(world.evicted(), []);
  world.annotate('a-0', karpenter, undefined);
  await world.advance(2);
  assert.deepEqual(world.evicted(), ['pa']);
});

test('it ends at its maximum, counted since the node is unhealthy, also after a restart', async () => {
  await using world = await aWorld();
  world.annotate('a-0', karpenter, 'true');
  await world.silentFor(200, 'a-0');
  await world.restart();
  world.annotate('a-0', karpenter, 'again');
  await world.advance(130);
  assert.deepEqual(world.evicted(), []);
  await world.advance(60);
  assert.deepEqual(world.evicted(), ['pa']);
});

test('labels and taints of the policy hold too, and a mark that comes later holds what is left', async () => {
  await using world = await aWorld({ ...rule, of: [], labels: ['example.com/keep'], taints: ['example.com/debug'] });
  const lasting = [{ key: 'node.kubernetes.io/unreachable', operator: 'Exists', tolerationSeconds: 100 }];
  world.addPod('later', 'a-0', lasting);
  await world.silentFor(60, 'a-0');
  assert.deepEqual(world.evicted(), ['pa']);
  world.addLabel('a-0', 'example.com/keep', '');
  await world.advance(150);
  assert.deepEqual(world.evicted(), ['pa']);
  world.setTaints('a-1', [{ key: 'example.com/debug', effect: 'PreferNoSchedule' }]);
  world.addPod('debugged', 'a-1');
  await world.silentFor(120, 'a-1');
  assert.equal(world.evicted().includes('debugged'), false);
});

test('the mark is explained with its owner, and counted', async () => {
  await using world = await aWorld();
  world.annotate('a-0', karpenter, 'true');
  await world.silentFor(100, 'a-0');
  const page = describeNodeOutlook(explainNode(world, 'a-0'));
  assert.match(
    page,
    /held {7}annotation karpenter\.sh\/do-not-repair \(Karpenter\) says that it is not to be repaired, which policy spot lets hold/u,
  );
  assert.match(page, /would end: annotation karpenter\.sh\/do-not-repair removed, or it is unhealthy for longer than/u);
  assert.equal(world.meter.read().get('node_lifecycle_held_nodes{reason="veto"}'), 1);
});
