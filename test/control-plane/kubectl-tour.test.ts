// The records of kubectl, with which the contract tests compare the embedded server, are what a real kube-apiserver answers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readDrainRecord } from '../contract/apiserver-clients/kubectl-drain.ts';
import { describeRow, readTourRecord } from '../contract/apiserver-clients/kubectl-tour.ts';
import { tourRows } from '../contract/apiserver-clients/kubectl-tour-rows.ts';
import { drainRealNodes, takeRealTour } from './kubectl-on-real.ts';

test('kubectl prints on a real kube-apiserver what is recorded', async (t) => {
  const { answers } = await takeRealTour();
  const record = readTourRecord();
  for (const [index, row] of tourRows.entries()) {
    await t.test(`${index + 1}: ${describeRow(row)}`, () => {
      const recorded = { command: record[index]?.command, answer: record[index]?.real };
      assert.deepEqual({ command: describeRow(row), answer: answers[index] }, recorded, 'record it again');
    });
  }
});

test('kubectl drains nodes of a real kube-apiserver as it is recorded', async () => {
  assert.deepEqual(await drainRealNodes(), readDrainRecord(), 'record it again');
});
