import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  selectServerControllers,
  selectServerGates,
  validateServerControllers,
  validateServerGates,
} from '../../../../../src/cli/simulation/apiserver/flags.ts';

test('* is all of them, and the first entry for a controller counts', () => {
  assert.equal(selectServerControllers('*').length, 4);
  assert.deepEqual(selectServerControllers('none'), []);
  assert.deepEqual(selectServerControllers('namespace-controller'), ['namespace-controller']);
  assert.equal(selectServerControllers('*,-namespace-controller').includes('namespace-controller'), false);
  assert.equal(selectServerControllers('namespace-controller,-namespace-controller').length, 1);
  assert.deepEqual(selectServerControllers('-namespace-controller'), []);
});

test('an unknown name is a problem', () => {
  for (const text of ['*', 'none', '*,-disruption-controller']) assert.deepEqual(validateServerControllers(text), []);
  const [problem = ''] = validateServerControllers('*,-job-controller');
  assert.match(problem, /^--controllers: must be .*disruption-controller.*\(got "-job-controller"\)$/);
});

test('feature gates are off unless they are true, and others are a problem', () => {
  const gate = 'TaintTolerationComparisonOperators';
  assert.deepEqual([...selectServerGates(undefined)], []);
  assert.deepEqual([...selectServerGates({ [gate]: 'false' })], []);
  assert.deepEqual([...selectServerGates({ [gate]: 'true' })], [gate]);
  for (const gates of [undefined, { [gate]: 'true' }, { [gate]: 'false' }])
    assert.deepEqual(validateServerGates(gates), []);
  assert.deepEqual(validateServerGates({ [gate]: 'yes', Other: 'true' }), [
    `--feature-gates: must be ${gate}=true or =false (got ${gate}=yes, Other=true)`,
  ]);
});
