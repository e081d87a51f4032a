// Where kube-scheduler places the pods of the chart: when the node of a replica dies, in rollouts, and when every node has a
// taint that only this controller removes.
import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { waitUntil } from '../control-plane/wait-until.ts';
import { presetValues } from '../../tools/manifests/manifest-pages.ts';
import { graceSeconds, nodeNames, ScheduledRelease } from './scheduled-release.ts';

/** From the death of a node to two ready replicas on living nodes, less what the shorter grace period saves. */
const replacedWithinMs = (90 - 50 + graceSeconds) * 1_000;
const rollouts = 15;
/** Of living nodes; removed by the controller alone. */
const ownTaints = ['not-ready', 'disk-pressure', 'memory-pressure', 'pid-pressure', 'network-unavailable'];
const unreachable = 'node.kubernetes.io/unreachable:NoSchedule';

let release: ScheduledRelease;
before(async () => {
  release = await ScheduledRelease.start();
});
after(async () => {
  await release?.stop();
});

/** Cuts the node of a replica off until the test ends, and returns it and the nodes that live. */
async function killNodeOfReplica(
  t: TestContext,
): Promise<{ readonly dead: string; readonly living: readonly string[] }> {
  const [pod] = await release.stayingPods();
  const dead = pod?.spec?.nodeName ?? '';
  t.after(() => revive(dead));
  release.fleet.cutOff([dead]);
  return { dead, living: nodeNames.filter((name) => name !== dead) };
}

async function revive(dead: string): Promise<void> {
  release.fleet.reconnect([dead]);
  await release.untilNodesAreUntainted();
}

/** While no controller runs: nodes keep the taint of a cordon that ended, and those of conditions that ended. */
async function leaveTaintsBehind(): Promise<void> {
  await release.kubectl('cordon', ...nodeNames);
  await waitUntil('the taint of the cordon', { timeoutMs: 20_000 }, async () => {
    const nodes = await release.nodes();
    return nodes.every(({ spec }) => spec?.taints?.some(({ key }) => key === 'node.kubernetes.io/unschedulable'));
  });
  await release.stopController();
  await release.kubectl('uncordon', ...nodeNames);
  const taints = ownTaints.map((name) => `node.kubernetes.io/${name}:NoSchedule`);
  await release.kubectl('taint', 'nodes', '--all', ...taints);
}

async function untilReplaced(count: number): Promise<void> {
  const before = await release.deletePods();
  await release.untilReady(count, { isWanted: ({ metadata }) => !before.has(metadata.name) });
}

describe('a Deployment', () => {
  before(async () => {
    await release.install('');
    await release.untilReady(2);
  });

  test(`${rollouts} rollouts with one control plane node: never two replicas on one node`, async () => {
    const together: string[] = [];
    for (let round = 0; round < rollouts; round++) {
      const isWanted = await release.roll(`round-${round}`);
      const nodes = await release.untilReady(2, { isWanted });
      if (new Set(nodes).size < 2) together.push(`round ${round}: ${nodes.join()}`);
    }
    assert.deepEqual(together, []);
  });

  test('the node of a replica dies: two replicas are ready on living nodes within 90 s, and a rollout ends', async (t) => {
    const diedAtMs = performance.now();
    const { dead, living } = await killNodeOfReplica(t);
    const before = new Set((await release.pods()).map(({ metadata }) => metadata.uid));
    const nodes = await release.untilReady(2, { on: living });
    assert.ok(performance.now() - diedAtMs < replacedWithinMs, `took ${performance.now() - diedAtMs} ms`);
    assert.equal(new Set(nodes).size, 2);
    const isWanted = await release.roll('during-the-outage');
    await release.kubectl(
      'rollout',
      'status',
      'deployment/node-lifecycle-controller',
      '--timeout=30s',
      '-nnode-lifecycle-controller',
    );
    await release.untilReady(2, { on: living, isWanted });
    const onDead = (await release.pods()).filter(({ spec }) => spec?.nodeName === dead);
    assert.deepEqual(
      onDead.filter(({ metadata }) => !before.has(metadata.uid)),
      [],
      'no replica was placed on the dead node',
    );
  });

  test('taints that the controller left on every node: its pods start, and then the taints are removed', async () => {
    await leaveTaintsBehind();
    await untilReplaced(2);
    release.startController();
    await release.untilNodesAreUntainted();
  });

  test('every node unreachable and no replica left: the pods wait until the taint is removed by hand', async () => {
    await release.stopController();
    await release.kubectl('taint', 'nodes', '--all', unreachable);
    await release.deletePods();
    await waitUntil('pods that no node accepts', { timeoutMs: 20_000 }, async () => {
      const staying = await release.stayingPods();
      const conditions = staying.flatMap(({ status }) => status?.conditions ?? []);
      const refused = conditions.filter(({ type, status }) => type === 'PodScheduled' && status === 'False');
      return staying.length === 2 && refused.length === 2;
    });
    await release.kubectl('taint', 'nodes', '--all', `${unreachable}-`);
    await release.untilReady(2);
    release.startController();
  });
});

const daemonSets = {
  'all nodes': { values: 'kind: DaemonSet', label: 'node-role.kubernetes.io/control-plane-' },
  'three control plane nodes': {
    values: presetValues('control-plane'),
    label: 'node-role.kubernetes.io/control-plane=',
  },
} as const;

for (const [where, { values, label }] of Object.entries(daemonSets))
  describe(`a DaemonSet on ${where}`, () => {
    before(async () => {
      await release.kubectl('label', 'node', 'n-1', 'n-2', label);
      await release.install(values);
      await release.untilReady(3);
    });

    test('a node dies: two replicas stay ready on living nodes, and a rollout reaches them', async (t) => {
      const { dead, living } = await killNodeOfReplica(t);
      await waitUntil('the dead node', { timeoutMs: 30_000 }, async () => {
        const node = (await release.nodes()).find(({ metadata }) => metadata.name === dead);
        return node?.spec?.taints?.some(({ effect }) => effect === 'NoExecute');
      });
      await release.untilReady(2, { on: living });
      const isWanted = await release.roll('during-the-outage');
      await release.untilReady(2, { on: living, isWanted });
    });

    test('taints that the controller left on every node: its pods start, and then the taints are removed', async () => {
      await leaveTaintsBehind();
      await untilReplaced(3);
      release.startController();
      await release.untilNodesAreUntainted();
    });

    test('every node unreachable and no replica left: the pods start', async () => {
      await release.stopController();
      await release.kubectl('taint', 'nodes', '--all', unreachable);
      await untilReplaced(3);
      release.startController();
      await release.untilNodesAreUntainted();
    });
  });
