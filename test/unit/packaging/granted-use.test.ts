import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuditedRequest } from '../../control-plane/audit-trail.ts';
import { refusedOf, unusedOf } from '../../packaging/granted-use.ts';
import { defaultParts, permissionsOf, permissionText } from '../../packaging/permissions.ts';

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

test('a permission is used by its verb on its resource, of its group, in its namespace, under its name', () => {
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
    assert.deepEqual(
      unusedOf([named], [request({ ...asking, ...other })]),
      ['get leases.g/l in n'],
      JSON.stringify(other),
    );
  }
});

test('a permission for the whole cluster is used in any namespace', () => {
  const asking = request({ verb: 'create', resource: 'events', uri: '/api/v1/namespaces/a/events', namespace: 'a' });
  assert.deepEqual(unusedOf([any], [asking]), []);
  assert.deepEqual(unusedOf([{ ...any, group: 'events.k8s.io' }], [asking]), ['create events.events.k8s.io']);
});

test('what was refused is told once', () => {
  const refused = request({ verb: 'list', uri: '/api/v1/secrets', code: 403 });
  assert.deepEqual(refusedOf([refused, request({}), refused]), ['list /api/v1/secrets']);
});

test('nobody is granted a secret, a wildcard, or anything that an escalation begins with', () => {
  const parts = { ...defaultParts, collects: true, evictionMode: true, watchCanary: true };
  for (const permission of permissionsOf(parts)) {
    assert.doesNotMatch(permissionText(permission), /\*|secrets|roles|serviceaccounts|exec|impersonate|escalate|bind/);
  }
});
