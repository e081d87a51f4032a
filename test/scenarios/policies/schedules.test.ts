// Windows of policies, of whole replicas in virtual time: what a window holds happens when it ends.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settingsOf } from '../../../src/cli/simulate/scenario-settings.ts';
import { simulationRuntime } from '../../../src/cli/simulate/simulation-runtime.ts';
import type { PolicySchedule } from '../../../src/controller/model/policy.ts';
import { runScenario } from '../../../src/simulator/scenario/run-scenario.ts';
import type { ScenarioResult } from '../../../src/simulator/scenario/scenario-result.ts';
import type { Scenario } from '../../../src/simulator/scenario/scenario.ts';
import { describeStatus } from '../../../src/controller/report/text/describe-status.ts';
import { policiesAt } from '../../../src/policy/schedules/scheduled-policies.ts';
import { aPolicy } from '../../support/builders.ts';
import { DashboardWorld } from '../../support/dashboard-world.ts';
import { statusOf } from '../../support/explained.ts';
import { aZonedWorld, names } from '../../support/zoned-world.ts';

const minuteMs = 60_000;
const nodes = names(8, 'a-');

/** At a quarter to eight a node fails for good; its pod tolerates that for a minute. */
const scenario: Scenario = {
  name: 'a node fails before eight',
  description: '',
  startsAtMs: Date.parse('2026-11-27T07:44:00Z'),
  durationMs: 40 * minuteMs,
  seed: 1,
  nodes: [{ names: nodes, zone: 'a', labels: { pool: 'shop' } }],
  pods: nodes.map((node) => ({ node, count: 1, tolerates: 60, graceSeconds: 1 })),
  servers: 1,
  replicas: 2,
  leaseDurationSeconds: 40,
  steps: [],
};

async function simulate(schedules: readonly PolicySchedule[], failsAtMs = minuteMs): Promise<ScenarioResult> {
  const read = settingsOf([]);
  assert.ok('value' in read);
  const selector = [{ key: 'pool', operator: 'In', values: ['shop'] }] as const;
  const policies = [aPolicy({ name: 'shop', selector, schedules })];
  const order = { selector: { names: ['a-3'] }, fault: { kind: 'partition' }, forMs: undefined };
  const steps = [{ atMs: failsAtMs, kind: 'nodes', order }] as unknown as Scenario['steps'];
  const settings = { ...read.value, config: { ...read.value.config, policies } };
  return runScenario({ ...scenario, steps }, settings, simulationRuntime);
}

/** Minutes of the scenario at which its pod is deleted. */
function deletedAt({ outcomes }: ScenarioResult): number {
  return (outcomes[0]?.firstDeletionAtMs ?? Infinity) / minuteMs;
}

function aWindow(cron: string, minutes: number): PolicySchedule {
  return { cron, timeZone: 'UTC', durationMs: minutes * minuteMs, set: { mode: 'Detect' } };
}

test('without a window a pod leaves after the grace period and its toleration', async () => {
  const atMinute = deletedAt(await simulate([]));
  assert.ok(atMinute > 2.5 && atMinute < 3.2, `${atMinute}`);
});

test('in a window with mode Detect the node is marked and its pods stay until it ends', async () => {
  const result = await simulate([aWindow('30 7 * * *', 45)]);
  const [outcome] = result.outcomes;
  assert.ok((outcome?.notReadyAtMs ?? Infinity) < 2 * minuteMs);
  // It ends at a quarter past eight, half an hour after the beginning and up to a minute for the nodes to be ready.
  const atMinute = deletedAt(result);
  assert.ok(atMinute > 30 && atMinute < 33, `${atMinute}`);
});

test('a window that begins before the toleration ends keeps the pods of a node that is tainted already', async () => {
  // Marked and tainted at about 7:46:50 in a policy that enforces; the pod is due at 7:47:50.
  const result = await simulate([aWindow('47 7 * * *', 20)], 1.1 * minuteMs);
  assert.ok((result.outcomes[0]?.noExecuteAtMs ?? Infinity) < 3 * minuteMs);
  const atMinute = deletedAt(result);
  assert.ok(atMinute > 21 && atMinute < 24, `${atMinute}`);
});

test('the windows that have begun are counted, and shown by status and dashboard, until they end', async () => {
  const given = [
    aPolicy({ name: 'shop', priority: 1, schedules: [aWindow('* * * * *', 1)] }),
    aPolicy({ name: 'other' }),
  ];
  await using world = aZonedWorld({ a: 3 }, { policies: given });
  await using board = new DashboardWorld(await world.running(5));
  const { mirror } = await board.connected();
  const counted = (policy: string): number | undefined =>
    world.meter.read().get(`node_lifecycle_policy_open_windows{policy="${policy}"}`);
  assert.deepEqual([counted('shop'), counted('other')], [0, undefined]);
  assert.doesNotMatch(describeStatus(statusOf(world)), /in the window/u);
  world.changeOptions({ policies: policiesAt(given, world.clock.nowMs()).policies });
  await world.advance(2);
  assert.deepEqual([counted('shop'), counted('other')], [1, undefined]);
  const shown = /\* \* \* \* \* UTC until \d{4}-/u;
  assert.match(describeStatus(statusOf(world)), /shop: mode Detect, applies to 3 nodes; .*in the window \* \*/u);
  assert.match(mirror.state?.cluster.policies[0]?.windows?.join(' ') ?? '', shown);
  world.changeOptions({ policies: [] });
  await world.advance(2);
  assert.equal(counted('shop'), undefined);
});
