import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDnsLabel, isDnsSubdomain, isPathSegment } from '../../../../src/api/names.ts';
import { describeNameProblems } from '../../../../src/apiserver/registry/describe-name.ts';

const kinds = { isDnsLabel, isDnsSubdomain, isPathSegment };

/** The beginnings of the messages, which are those of kube-apiserver. */
const rows: readonly (readonly [keyof typeof kinds, string, readonly RegExp[]])[] = [
  ['isDnsLabel', 'team', []],
  ['isDnsLabel', 'Team', [/^a lowercase RFC 1123 label must consist of/]],
  ['isDnsLabel', 'a.b', [/^must not contain dots$/]],
  ['isDnsLabel', 'a'.repeat(64), [/^must be no more than 63 characters$/]],
  ['isDnsLabel', 'A'.repeat(64), [/^must be no more than 63 characters$/, /^a lowercase RFC 1123 label/]],
  ['isDnsSubdomain', 'a.b', []],
  ['isDnsSubdomain', 'a_b', [/^a lowercase RFC 1123 subdomain must consist of/]],
  ['isDnsSubdomain', 'a'.repeat(254), [/^must be no more than 253 characters$/]],
  ['isPathSegment', 'system:node', []],
  ['isPathSegment', '..', [/^may not be '\.\.'$/]],
  ['isPathSegment', 'a/%', [/^may not contain '\/'$/, /^may not contain '%'$/]],
];

for (const [kind, name, expected] of rows) {
  test(`${kind} ${name.slice(0, 20)}: ${expected.length} problems`, () => {
    const isName = kinds[kind];
    const problems = describeNameProblems(name, isName);
    assert.equal(problems.length, expected.length);
    for (const [index, pattern] of expected.entries()) assert.match(problems[index] ?? '', pattern);
    assert.equal(isName(name), problems.length === 0);
  });
}
