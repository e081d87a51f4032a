import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readMeasured } from '../../../../tools/docs/measured-faults.ts';

test('the measured faults are one section of a decision record, without its heading', () => {
  const { record, text } = readMeasured();
  assert.match(record, /^0079-/);
  assert.match(text, /^Each fault was played/);
  assert.match(text, /\| kube-controller-manager 1\.37\.2 \|/);
  assert.doesNotMatch(text, /^## /m);
});
