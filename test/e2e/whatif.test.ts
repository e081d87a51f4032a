// `nlc whatif` against the embedded API server with hollow nodes.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { WhatifReport } from '../../src/cli/whatif/compare-previews.ts';
import { autonomyLabel } from '../../src/machinery/api/pod.ts';
import { readyOf } from '../../src/controller/health/assess-node.ts';
import { NlcProcess } from '../support/nlc-process.ts';
import { SmallWorld, taintsOf, until } from '../support/small-world.ts';

const soonMs = 30_000;
const silentMs = 5_000;

test('a shorter grace period for one zone would mark its silent node; the cluster is only read', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'nlc-whatif-'));
  try {
    await using world = await SmallWorld.start({ nodes: { a0: 'a', a1: 'a', a2: 'a', b0: 'b' } });
    await world.addPod('p', 'a0', [
      { operator: 'Exists', key: 'node.kubernetes.io/unreachable', effect: 'NoExecute', tolerationSeconds: 9 },
    ]);
    const file = join(folder, 'controller.yaml');
    const selector = '{ matchLabels: { topology.kubernetes.io/zone: a } }';
    const schedules = '[{ cron: 0 8 * * *, duration: 1h, set: { mode: Detect } }]';
    const policy = `{ name: zone-a, nodeSelector: ${selector}, nodeMonitorGracePeriod: 4s, schedules: ${schedules} }`;
    writeFileSync(file, configFile(policy));
    await until('every node is Ready', soonMs, async () =>
      (await world.nodes()).every((node) => readyOf(node) === 'True'),
    );
    world.fleet.cutOff(['a0']);
    await new Promise((resolve) => setTimeout(resolve, silentMs));

    const report = await reportOf(world, file, '--at=2026-11-27T10:00:00Z');
    assert.deepEqual(report.effects.markedUnknown, ['a0']);
    assert.deepEqual(report.effects.taintsAdded, ['a0']);
    assert.deepEqual(report.effects.podsEvicted, { before: 0, after: 1 });
    assert.deepEqual(
      report.nodes.map(({ name }) => name),
      ['a0', 'a1', 'a2'],
    );
    const inWindow = await reportOf(world, file, '--at=2026-11-27T08:30:00Z');
    assert.deepEqual(inWindow.effects.markedUnknown, ['a0']);
    assert.deepEqual([inWindow.effects.taintsAdded, inWindow.effects.podsEvicted], [[], { before: 0, after: 0 }]);
    // The label of a namespace counts where it is read, and the policy permits it.
    await world.api.patch(
      'namespaces',
      { name: 'default' },
      { type: 'merge', body: { metadata: { labels: { [autonomyLabel]: 'true' } } } },
      { signal: AbortSignal.timeout(5_000) },
    );
    const permitting = policy.replace('{ name: zone-a,', '{ name: zone-a, podAutonomy: { evictAfter: 8h },');
    for (const [isRead, after] of [
      [false, 1],
      [true, 0],
    ] as const) {
      writeFileSync(file, configFile(permitting, `namespaceAutonomy: ${isRead}\n`));
      const kept = await reportOf(world, file, '--at=2026-11-27T10:00:00Z');
      assert.deepEqual(kept.effects.podsEvicted, { before: 0, after }, `labels of namespaces are read: ${isRead}`);
    }
    // As registered: no controller runs.
    for (const node of await world.nodes())
      assert.deepEqual([readyOf(node), taintsOf(node)], ['True', ['not-ready:NoSchedule']]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

function configFile(policy: string, more = ''): string {
  return `apiVersion: nodelifecycle/v1alpha1\nkind: ControllerConfiguration\nnodeMonitorPeriod: 1s\n${more}policies: [${policy}]\n`;
}

async function reportOf(world: SmallWorld, file: string, ...flags: readonly string[]): Promise<WhatifReport> {
  const cluster = [`--kubeconfig=${world.kubeconfigFile}`, `--policies=${file}`];
  await using whatif = new NlcProcess(['whatif', ...cluster, '--output=json', ...flags]);
  assert.deepEqual(await whatif.exited, { code: 0, signal: null }, whatif.stderr);
  return JSON.parse(whatif.stdout) as WhatifReport;
}
