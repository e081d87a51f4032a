import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  buildCertificateUser,
  isAlwaysAllowed,
  parseAccess,
  parseBearerToken,
} from '../../../../src/cli/secure-serving/delegated-auth-filter.ts';

test('the bearer token of an Authorization header, as the API server parses it', () => {
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
  for (const [header, token] of rows) assert.equal(parseBearerToken(header), token, JSON.stringify(header));
});

test('the user of a client certificate', () => {
  assert.deepEqual(buildCertificateUser({ commonName: 'alice', organizations: ['ops', 'ops'] }), {
    username: 'alice',
    uid: '',
    groups: ['ops', 'system:authenticated'],
    extra: {},
  });
  assert.equal(buildCertificateUser({ commonName: '', organizations: ['system:masters'] }), undefined);
});

test('verb and path as in RBAC rules', () => {
  assert.deepEqual(parseAccess('GET', '/explain/nodes/a%20b'), { verb: 'get', path: '/explain/nodes/a b' });
  assert.deepEqual(parseAccess('HEAD', '/%ff'), { verb: 'head', path: '/%ff' });
});

test('always allowed paths match exactly, or by prefix with a trailing *', () => {
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
