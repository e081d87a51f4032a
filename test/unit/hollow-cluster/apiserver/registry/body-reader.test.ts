import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readBody } from '../../../../../src/hollow-cluster/apiserver/registry/body-reader.ts';
import { ServedTargets } from '../../../../../src/hollow-cluster/apiserver/registry/served-targets.ts';
import { makeStrategies } from '../../../../../src/hollow-cluster/apiserver/kinds/strategies.ts';
import { servedResources } from '../../../../../src/hollow-cluster/apiserver/resources.ts';

const target = new ServedTargets(servedResources, makeStrategies(300)).of('', 'configmaps');
const entry = {
  manager: 'kubectl',
  operation: 'Update',
  apiVersion: 'v1',
  time: '2026-01-01T00:00:00Z',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:data': {} },
};

function read(managedFields: unknown, fieldValidation: 'Warn' | 'Strict' = 'Warn'): ReturnType<typeof readBody> {
  const body = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a', managedFields, other: 1 } };
  return readBody(body, target, { fieldValidation });
}

test('the managers of a body are given as they are, and are not part of the draft', () => {
  for (const given of [[entry], [{ ...entry, time: null }], [{}], [], null]) {
    const { draft, given: read_ } = read(given);
    assert.deepEqual(read_, given);
    assert.deepEqual(draft.metadata, { name: 'a' });
  }
});

test('unknown fields and wrong types of the managers of a body are reported', () => {
  assert.deepEqual(read([entry]).warnings, ['unknown field "metadata.other"']);
  const unknown = ['unknown field "metadata.managedFields[1].more"', 'unknown field "metadata.other"'];
  assert.deepEqual(read([entry, { ...entry, more: 1 }]).warnings, unknown);
  assert.throws(() => read([entry], 'Strict'), /unknown field "metadata.other"/u);
  assert.throws(() => read([{ ...entry, time: 'now' }]), /managedFields\[0\]\.time: must be a time/u);
  assert.throws(() => read([{ ...entry, manager: 1 }]), /managedFields\[0\]\.manager: must be a string/u);
  assert.throws(() => read({ ...entry }), /managedFields: must be a list/u);
});
