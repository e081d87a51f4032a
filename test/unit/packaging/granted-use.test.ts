import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuditedRequest } from '../../control-plane/audit-trail.ts';
import { refusedOf, unusedOf } from '../../packaging/granted-use.ts';
import { defaultParts, permissionsOf, permissionText } from '../../../tools/manifests/permissions.ts';

function request(given: Partial<AuditedRequest>): AuditedRequest {
  const nothing = { namespace: '', name: '', subresource: '', body: undefined, answer: undefined };
  return {
    atMs: 0,
    endedAtMs: 0,
    user: '',
    verb: 'get',
    uri: '/api/v1/nodes',
    resource: 'nodes',
    code: 200,
    ...nothing,
    ...given,
  };
}

const any = { group: '', resource: 'events', verb: 'create', namespace: '', name: '' };

test('a permission matches requests by verb, resource, API group, namespace and name', () => {
  const named = { ...any, resource: 'leases', group: 'g', verb: 'get', namespace: 'n', name: 'l' };
  const asking = { resource: 'leases', uri: '/apis/g/v1/namespaces/n/leases/l', namespace: 'n', name: 'l' };
  assert.deepEqual(unusedOf([named], [request(asking)]), []);
  const others = [
    { verb: 'update' },
    { resource: 'pods' },
    { uri: '/apis/other/v1/namespaces/n/leases/l' },
    { namespace: 'elsewhere' },
    { name: 'other' },
    { subresource: 'status' },
  ];
  for (const other of others) {
    const actual = unusedOf([named], [request({ ...asking, ...other })]);
    assert.deepEqual(actual, ['get leases.g/l in n'], JSON.stringify(other));
  }
});

test('a cluster-wide permission matches requests in any namespace', () => {
  const asking = request({ verb: 'create', resource: 'events', uri: '/api/v1/namespaces/a/events', namespace: 'a' });
  assert.deepEqual(unusedOf([any], [asking]), []);
  assert.deepEqual(unusedOf([{ ...any, group: 'events.k8s.io' }], [asking]), ['create events.events.k8s.io']);
});

test('a rejected request is reported once', () => {
  const refused = request({ verb: 'list', uri: '/api/v1/secrets', code: 403 });
  assert.deepEqual(refusedOf([refused, request({}), refused]), ['list /api/v1/secrets']);
});

test('no role grants secrets, wildcards, or verbs for privilege escalation', () => {
  const parts = { ...defaultParts, collects: true, evictionMode: true, watchCanary: true };
  for (const permission of permissionsOf(parts)) {
    assert.doesNotMatch(permissionText(permission), /\*|secrets|roles|serviceaccounts|exec|impersonate|escalate|bind/);
  }
});
