import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseTokenAudiences } from '../../../../src/cli/secure-serving/delegating-authorizer.ts';

const jwt = (claims: unknown): string => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.signature`;

test('the audiences of a JWT are its claim, a text or a list; anything else has none', () => {
  assert.deepEqual(parseTokenAudiences(jwt({ aud: 'a' })), ['a']);
  assert.deepEqual(parseTokenAudiences(jwt({ aud: ['a', 'b', 7] })), ['a', 'b']);
  for (const token of ['', 'opaque', 'a.b', 'a.!!.c', jwt(null), jwt([]), jwt({ aud: { a: 1 } }), 'a.eyJ.c']) {
    assert.deepEqual(parseTokenAudiences(token), [], token);
  }
});
