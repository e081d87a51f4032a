import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseTokenFile } from '../../../../../src/cli/simulation/apiserver/parse-token-file.ts';

test('users of a file in the format of kube-apiserver', () => {
  const text = 'secret,scheduler,1,"system:authenticated, robots"\r\n\n"a ""b""",other user,\nt3,u3,3,one\n';
  assert.deepEqual(parseTokenFile(text), {
    users: [
      { token: 'secret', user: 'scheduler', uid: '1', groups: ['system:authenticated', 'robots'] },
      { token: 'a "b"', user: 'other user', uid: '', groups: [] },
      { token: 't3', user: 'u3', uid: '3', groups: ['one'] },
    ],
  });
  assert.deepEqual(parseTokenFile(''), { users: [] });
});

test('a problem names the line and no token', () => {
  const problemOf = (text: string): unknown => ({ problem: '', ...parseTokenFile(text) }).problem;
  const shape = 'must be token,user,uid or token,user,uid,"group1,group2"';
  assert.equal(problemOf('a,b,c\nsecret,user\n'), `line 2: ${shape}`);
  assert.equal(problemOf(',user,1'), `line 1: ${shape}`);
  assert.equal(problemOf('a,,1'), `line 1: ${shape}`);
  assert.equal(problemOf('a,u,1\na,v,2'), 'line 2: repeats a token');
  assert.equal(problemOf('a,u,1,"open'), 'line 1: a quote has no end');
});
