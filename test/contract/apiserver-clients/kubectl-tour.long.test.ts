// What kubectl prints for each command of the tour on the embedded server is what it prints on a real kube-apiserver, whose
// answers are recorded. test/control-plane/kubectl-tour.test.ts checks the record.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { KubectlAnswer } from './kubectl-answer.ts';
import { tourRows } from './kubectl-tour-rows.ts';
import { describeRow, findTourKubectl, readTourRecord, startTouredServer, takeTour } from './kubectl-tour.ts';

const binary = findTourKubectl();
const skip =
  binary === undefined
    ? 'no kubectl of the recorded release in KUBEBUILDER_ASSETS or in the build of `npm run control-plane`'
    : false;

describe('a tour of kubectl', { skip }, () => {
  const record = readTourRecord();
  let answers: readonly KubectlAnswer[];

  before(async () => {
    const backend = await startTouredServer();
    try {
      answers = await takeTour(binary ?? '', backend);
    } finally {
      await backend.close();
    }
  });

  test('every row is recorded', () => {
    assert.deepEqual(
      record.map(({ command }) => command),
      tourRows.map(describeRow),
    );
  });

  for (const [index, row] of tourRows.entries()) {
    test(`${index + 1}: ${describeRow(row)}`, () => {
      const { real, embedded } = record[index]!;
      assert.deepEqual(answers[index], row.differs === undefined ? real : embedded);
      if (row.differs !== undefined) assert.notDeepEqual(embedded, real, `no longer a difference: ${row.differs}`);
    });
  }
});
