import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../../../src/machinery/api/api-error.ts';
import { describeAccessError, describeNotFound } from '../../../../src/cli/kubectl/describe-access.ts';

const attempt = { what: 'find the controller', verbs: 'list', resource: 'pods', namespace: 'nlc' };

test('a forbidden request names the permission, the role of the chart and how to bind it', () => {
  const error = new ApiError({ reason: 'forbidden', code: 403, message: 'no' });
  const text = describeAccessError(attempt, error);
  assert.match(text, /^cannot find the controller: forbidden; needed: list on pods in namespace nlc/);
  assert.match(
    text,
    /kubectl create rolebinding NAME --clusterrole=node-lifecycle-controller-kubectl --user=USER --namespace=nlc/,
  );
  assert.match(describeAccessError({ ...attempt, namespace: '' }, error), /in all namespaces/);
});

test('other errors are shown as they are', () => {
  assert.equal(
    describeAccessError(attempt, new Error('no route to host')),
    'cannot find the controller: no route to host',
  );
});

test('that no controller was found names where it was looked for', () => {
  assert.match(
    describeNotFound('a=b', ['x', 'all namespaces (forbidden)']),
    /labels a=b in x, all namespaces \(forbidden\); set --namespace/,
  );
});
