import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkTopologySpread } from '../../../../../../src/hollow-cluster/apiserver/kinds/pod/scheduling-validation.ts';

const constraintOf = (topologyKey: string): { readonly [field: string]: unknown } => ({
  maxSkew: 1,
  topologyKey,
  whenUnsatisfiable: 'DoNotSchedule',
});

test('of equal constraints of a topology spread all but the last are reported', () => {
  const errors = checkTopologySpread(['a', 'b', 'a', 'c', 'a'].map(constraintOf), 'spec');
  const field = '.{topologyKey, whenUnsatisfiable}';
  assert.deepEqual(
    errors.map((error) => error.field),
    [`spec[0]${field}`, `spec[2]${field}`],
  );
});

test('the constraints of a topology spread are checked in linear time', () => {
  const constraints = Array.from({ length: 60_000 }, (_, index) => constraintOf(`key-${index}`));
  const startMs = performance.now();
  assert.deepEqual(checkTopologySpread(constraints, 'spec'), []);
  assert.ok(performance.now() - startMs < 10_000);
});
