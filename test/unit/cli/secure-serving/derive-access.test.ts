import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  deriveAccess,
  deriveBearerToken,
  deriveCertificateUser,
  isAlwaysAllowed,
} from '../../../../src/cli/secure-serving/derive-access.ts';

test('the token of a header, as the API server reads it', () => {
  const rows: readonly (readonly [string | undefined, string | undefined])[] = [
    [undefined, undefined],
    ['', undefined],
    ['Bearer abc', 'abc'],
    ['bearer abc', 'abc'],
    ['  Bearer abc  ', 'abc'],
    ['Bearer abc def', 'abc'],
    ['Bearer', undefined],
    ['Bearer  abc', undefined],
    ['Basic abc', undefined],
    ['Bearerabc', undefined],
  ];
  for (const [header, token] of rows) assert.equal(deriveBearerToken(header), token, JSON.stringify(header));
});

test('the user of a certificate', () => {
  assert.deepEqual(deriveCertificateUser({ commonName: 'alice', organizations: ['ops', 'ops'] }), {
    username: 'alice',
    uid: '',
    groups: ['ops', 'system:authenticated'],
    extra: {},
  });
  assert.equal(deriveCertificateUser({ commonName: '', organizations: ['system:masters'] }), undefined);
});

test('method and path in the words of RBAC', () => {
  assert.deepEqual(deriveAccess('GET', '/explain/nodes/a%20b'), { verb: 'get', path: '/explain/nodes/a b' });
  assert.deepEqual(deriveAccess('HEAD', '/%ff'), { verb: 'head', path: '/%ff' });
});

test('paths that are always allowed: exact, or everything that begins so', () => {
  const allowed = ['/livez', '/explain/*'];
  const rows: readonly (readonly [string, boolean])[] = [
    ['/livez', true],
    ['/livez/ping', false],
    ['/live', false],
    ['/explain/', true],
    ['/explain/nodes/a', true],
    ['/explain', false],
    ['/metrics', false],
  ];
  for (const [path, isAllowed] of rows) assert.equal(isAlwaysAllowed(path, allowed), isAllowed, path);
  assert.equal(isAlwaysAllowed('/metrics', []), false);
});
