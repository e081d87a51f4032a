// The same story on a real kube-apiserver and in the simulator: a zone goes silent node by node. The order of the NoExecute
// taints is the same, and each comes at the same time after its node's fault, within the interval of renewals and the API
// server's latency.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { ScenarioResult } from '../../src/simulator/scenario/scenario-result.ts';
import { NlcProcess } from '../support/nlc-process.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import { waitUntil } from './wait-until.ts';

const soon = { timeoutMs: 60_000 };
const nodes = Array.from({ length: 18 }, (_, index) => `hollow-node-${index}`);
const inZone = (zone: number): readonly string[] => nodes.filter((_, index) => index % 3 === zone);
/** One renewal interval, and a busy machine. */
const toleranceMs = 3_000;

const flags = {
  'node-monitor-grace-period': '8s',
  'node-monitor-period': '1s',
  'node-eviction-rate': '1',
  'control-plane-path-failure-hold': '0s',
};
const steps = [
  {
    at: '5s',
    selector: { zone: 'hollow-1' },
    action: { kind: 'partition', id: 'zone', nodesPerSecond: 0.25 },
  },
];
const scenario = {
  apiVersion: 'nodelifecycle/v1alpha1',
  kind: 'SimulationScenario',
  name: 'a zone goes silent',
  duration: '1m30s',
  cluster: {
    nodes: [0, 1, 2].map((zone) => ({ names: inZone(zone), zone: `hollow-${zone + 1}` })),
    leaseDuration: '4s',
    apiServers: 1,
    replicas: 1,
  },
  flags,
  steps,
};

interface Taint {
  readonly node: string;
  readonly afterMs: number;
}

let plane: ControlPlane;
before(async () => {
  plane = await startControlPlane();
});
after(async () => {
  await plane.stop();
});

async function simulated(): Promise<readonly Taint[]> {
  const file = join(plane.folder, 'scenario.json');
  writeFileSync(file, JSON.stringify(scenario));
  await using run = new NlcProcess(['simulate', file, '--output=json']);
  assert.deepEqual(await run.exited, { code: 0, signal: null }, run.stderr);
  const { outcomes } = JSON.parse(run.stdout) as ScenarioResult;
  return outcomes
    .filter(({ noExecuteAtMs }) => noExecuteAtMs !== undefined)
    .sort((a, b) => (a.noExecuteAtMs ?? 0) - (b.noExecuteAtMs ?? 0))
    .map(({ node, noExecuteAtMs = 0, faultAtMs = 0 }) => ({ node, afterMs: noExecuteAtMs - faultAtMs }));
}

async function real(): Promise<readonly Taint[]> {
  const [script, truth] = [join(plane.folder, 'script.json'), join(plane.folder, 'truth.log')];
  writeFileSync(script, JSON.stringify(steps));
  const given = Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
  await using controller = NlcProcess.controller(plane.kubeconfigFile, '--leader-elect=false', ...given);
  await waitUntil('leading', soon, () => controller.said('leading'));
  await using fleet = new NlcProcess([
    'hollow-nodes',
    `--kubeconfig=${plane.kubeconfigFile}`,
    '--nodes=18',
    '--zones=3',
    '--lease-duration=4s',
    '--seed=1',
    `--script=${script}`,
    `--ground-truth-log=${truth}`,
  ]);
  // Not `not-ready`: a pass may find a node that has just registered before its kubelet is ready.
  const taints = (): readonly Readonly<Record<string, unknown>>[] =>
    controller
      .logs()
      .filter(({ decision, added }) => decision === 'taints-changed' && /unreachable:NoExecute/.test(String(added)));
  await waitUntil(
    'all nodes of the zone are tainted',
    { timeoutMs: 120_000 },
    () => taints().length >= inZone(0).length,
  );
  assert.equal(fleet.hasEnded, false, fleet.stderr);
  const faults = new Map(
    readFileSync(truth, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { node: string; at: string; change: string })
      .filter(({ change }) => change === 'begin')
      .map(({ node, at }) => [node, Date.parse(at)]),
  );
  return taints().map(({ node, ts }) => {
    const name = String(node);
    return { node: name, afterMs: Date.parse(String(ts)) - (faults.get(name) ?? Number.NaN) };
  });
}

test('the order of the taints and their times agree with the simulator', { timeout: 300_000 }, async () => {
  const [expected, actual] = [await simulated(), await real()];
  assert.deepEqual(
    actual.map(({ node }) => node),
    expected.map(({ node }) => node),
  );
  for (const [index, { node, afterMs }] of expected.entries()) {
    const apart = Math.abs((actual[index]?.afterMs ?? Number.NaN) - afterMs);
    assert.ok(apart <= toleranceMs, `${node}: ${actual[index]?.afterMs} ms, simulated ${afterMs} ms`);
  }
});
