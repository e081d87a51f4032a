// Faults between the controller and a real kube-apiserver, one scenario each: `faults/scenarios`. The end state of all is
// checked by `faults/oracle.ts`: silent nodes are Unknown and tainted, healthy nodes are unchanged, pods of recovered nodes
// are running. FAULT_LANES: number of scenarios that run concurrently, 3 by default.
import { after, before, describe, test } from 'node:test';
import { type Scenario, threeZones } from './faults/scenario.ts';
import type { Scene } from './faults/scene.ts';
import { deadlineScenarios } from './faults/scenarios/deadlines.ts';
import { readingScenarios } from './faults/scenarios/reading.ts';
import { refusedWriteScenarios } from './faults/scenarios/refused-writes.ts';
import { slowWriteScenarios } from './faults/scenarios/slow-writes.ts';
import { Stands } from './faults/stands.ts';

const lanes = Number(process.env['FAULT_LANES'] ?? '3');
const scenarioTimeoutMs = 150_000;
const scenarios: readonly Scenario[] = [
  ...refusedWriteScenarios,
  ...slowWriteScenarios,
  ...readingScenarios,
  ...deadlineScenarios,
];

let stands: Stands;

before(async () => {
  stands = await Stands.start(lanes);
});

after(async () => {
  await stands[Symbol.asyncDispose]();
});

async function play(scene: Scene, { pods = [], prepare, play }: Scenario): Promise<void> {
  try {
    for (const pod of pods) await scene.addPod(...pod);
    await prepare?.(scene);
    await scene.start();
    await scene.settle(await play(scene));
  } catch (cause) {
    throw new Error(`${String(cause)}\n${scene.story()}`, { cause });
  }
}

describe('faults', { concurrency: lanes }, () => {
  for (const scenario of scenarios) {
    const { title, nodes = threeZones, args = [] } = scenario;
    test(title, { timeout: scenarioTimeoutMs }, () => stands.use({ nodes, args }, (scene) => play(scene, scenario)));
  }
});
