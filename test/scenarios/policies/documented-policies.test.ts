// Each example of docs/policies.md runs: a node of each of its policies becomes silent, and what follows is what the mode, the grace period
// and the windows of the policy say. What further fields do has tests of its own.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { settingsOf } from '../../../src/cli/simulate/scenario-settings.ts';
import { simulationRuntime } from '../../../src/cli/simulate/simulation-runtime.ts';
import type { NodePolicy } from '../../../src/controller/model/policy.ts';
import { runScenario } from '../../../src/simulator/scenario/run-scenario.ts';
import type { NodeOutcome } from '../../../src/simulator/scenario/scenario-result.ts';
import type { Scenario } from '../../../src/simulator/scenario/scenario.ts';
import { names } from '../../support/zoned-world.ts';

const minuteMs = 60_000;
/** A weekday at noon, for windows. */
const startsAtMs = Date.parse('2026-11-24T12:00:00Z');
const failsAtMs = minuteMs;
const toleratedSeconds = 30;
/** A renewal of before may be so old, and what is due waits for a token or the next pass. */
const renewalMs = 11_000;
const lateMs = 25_000;

const text = readFileSync(join(import.meta.dirname, '../../../docs/policies.md'), 'utf8');
const header = 'apiVersion: nodelifecycle/v1alpha1\nkind: ControllerConfiguration\n';

/** The examples that are whole config files, or would be with the two first lines, by the title above them. */
const examples = text.split(/^#{2,4} /mu).flatMap((section) =>
  [...section.matchAll(/```yaml\n([^`]*?^policies:[^`]*)```/gmu)].map(([, block = ''], index) => {
    const title = section.split('\n', 1)[0] ?? '';
    return { title: index === 0 ? title : `${title}, example ${index + 1}`, block };
  }),
);

test('policies.md has examples', () => {
  assert.ok(examples.length > 15, String(examples.length));
});

for (const { title, block } of examples)
  test(`the example of ${title} does what it says to a silent node`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'documented-policy-'));
    try {
      const file = join(folder, 'controller.yaml');
      writeFileSync(file, block.includes('apiVersion') ? block : header + block);
      const read = settingsOf([`--config=${file}`]);
      assert.ok('value' in read, JSON.stringify(read));
      // With mode Observe another controller has to remove the taint with which nodes register: here is none.
      const policies = read.value.config.policies.filter(({ mode }) => mode !== 'Observe');
      const { outcomes } = await runScenario(scenarioOf(policies), read.value, simulationRuntime);
      for (const policy of policies) expectOutcome(policy, outcomes);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

/** Six nodes for each policy, with the labels that it selects by, of which the first one becomes silent. */
function scenarioOf(policies: readonly NodePolicy[]): Scenario {
  const groups = policies.map(({ name, selector }) => {
    const wanted = selector.filter(({ operator }) => operator === 'In' || operator === 'Exists');
    const labels = Object.fromEntries(wanted.map(({ key, values }) => [key, values?.[0] ?? '']));
    return { names: names(6, `${name}-`), zone: 'a', labels };
  });
  const nodes = groups.flatMap((group) => group.names);
  const silent = { selector: { names: groups.map((group) => group.names[0]) }, fault: { kind: 'partition' } };
  return {
    name: 'a node of each policy becomes silent',
    description: '',
    startsAtMs,
    durationMs: 7 * minuteMs,
    seed: 1,
    nodes: groups,
    pods: nodes.map((node) => ({ node, count: 1, tolerates: toleratedSeconds, graceSeconds: 1 })),
    servers: 1,
    replicas: 2,
    leaseDurationSeconds: 40,
    steps: [{ atMs: failsAtMs, kind: 'nodes', order: { ...silent, forMs: undefined } }],
  } as unknown as Scenario;
}

function expectOutcome(policy: NodePolicy, outcomes: readonly NodeOutcome[]): void {
  const { name, nodeMonitorGracePeriodMs: graceMs = 50_000, detection } = policy;
  const mode = policy.schedules === undefined ? policy.mode : 'Detect';
  const outcome = outcomes.find(({ node }) => node === `${name}-0`);
  const shown = JSON.stringify(outcome);
  if (mode === 'Paused') return assert.equal(outcome?.notReadyAtMs, undefined, shown);
  const afterMs = (outcome?.notReadyAtMs ?? NaN) - failsAtMs;
  const earliestMs = detection?.earliestMs ?? graceMs;
  assert.ok(afterMs > earliestMs - renewalMs && afterMs < graceMs + lateMs, shown);
  if (mode === 'Detect') return assert.deepEqual([outcome?.noExecuteAtMs, outcome?.podsDeleted], [undefined, 0], shown);
  const deletedMs = (outcome?.firstDeletionAtMs ?? NaN) - failsAtMs;
  assert.ok(deletedMs >= afterMs + toleratedSeconds * 1_000, shown);
  assert.ok(deletedMs < graceMs + toleratedSeconds * 1_000 + 2 * lateMs, shown);
}
