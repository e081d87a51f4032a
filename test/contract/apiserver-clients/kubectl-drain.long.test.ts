// kubectl drain on the embedded server, with hollow kubelets and a PodDisruptionBudget, prints what it prints on a real
// kube-apiserver with kube-controller-manager. test/control-plane/kubectl-tour.test.ts checks the record.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { type DrainStep, readDrainRecord, runDrainScenario } from './kubectl-drain.ts';
import { findTourKubectl, startTouredServer } from './kubectl-tour.ts';

const binary = findTourKubectl();
const skip = binary === undefined ? 'no kubectl of the recorded release: see kubectl-tour.test.ts' : false;

describe('kubectl drain with a budget', { skip, timeout: 180_000 }, () => {
  const record = readDrainRecord();
  let steps: readonly DrainStep[];

  before(async () => {
    const backend = await startTouredServer({ controllers: ['disruption-controller'] });
    try {
      steps = await runDrainScenario(binary ?? '', backend);
    } finally {
      await backend.close();
    }
  });

  for (const [index, expected] of record.entries()) {
    test(`${index + 1}: ${expected.command}`, () => {
      assert.deepEqual(steps[index], expected);
    });
  }
});
