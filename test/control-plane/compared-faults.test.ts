// Faults that kube-controller-manager does not survive as it should, each played on it and on nlc: `faults/compared`. Both are
// asserted, so that a defect that a release repairs is noticed. Prints what was measured of each.
// FAULT_LANES: number of control planes, 3 by default. COMPARED_ON: only the controller of this name.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { ComparedScenario, Facts } from './faults/compared/compared-scenario.ts';
import { disruptionScenarios } from './faults/compared/disruptions.ts';
import { leaseReadScenarios } from './faults/compared/lease-reads.ts';
import { podScenarios } from './faults/compared/pods.ts';
import { threeZones } from './faults/scenario.ts';
import type { ControllerName, Scene } from './faults/scene.ts';
import { Stands } from './faults/stands.ts';

const lanes = Number(process.env['FAULT_LANES'] ?? '3');
const scenarioTimeoutMs = 150_000;
const both: readonly ControllerName[] = ['kube-controller-manager', 'nlc'];
const controllers = both.filter((name) => name === (process.env['COMPARED_ON'] ?? name));
const scenarios: readonly ComparedScenario[] = [...leaseReadScenarios, ...disruptionScenarios, ...podScenarios];

let stands: Stands;

before(async () => {
  stands = await Stands.start(lanes);
});

after(async () => {
  await stands[Symbol.asyncDispose]();
});

async function play(scene: Scene, { pods = [], play }: ComparedScenario, lines: string[]): Promise<Facts> {
  try {
    for (const pod of pods) await scene.addPod(...pod);
    await scene.start();
    return await play(scene, (what, value) => lines.push(`${what}: ${value === undefined ? 'not' : value.toFixed(1)}`));
  } catch (cause) {
    throw new Error(`${String(cause)}\n${scene.story()}`, { cause });
  }
}

describe('compared faults', { concurrency: lanes }, () => {
  for (const scenario of scenarios)
    for (const controller of controllers) {
      const { title, nodes = threeZones, args = [], ownArgs = [] } = scenario;
      test(`${controller}: ${title}`, { timeout: scenarioTimeoutMs }, async (t) => {
        const lines: string[] = [];
        const own = controller === 'nlc' ? ownArgs : [];
        const options = { nodes, args: [...args, ...own], controller };
        const facts = await stands.use(options, (scene) => play(scene, scenario, lines));
        t.diagnostic(`${controller}: ${title}: ${lines.join('; ')}`);
        assert.deepEqual(facts, scenario.facts[controller], lines.join('\n'));
      });
    }
});
