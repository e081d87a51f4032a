import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import {
  ruleAllows,
  rulesOf,
  type PolicyRule,
} from '../../../../../src/hollow-cluster/apiserver/authorization/decide-rule.ts';
import {
  describeRule,
  selectMissingRules,
} from '../../../../../src/hollow-cluster/apiserver/authorization/select-missing-rules.ts';

const rules = (...all: readonly object[]): readonly PolicyRule[] => rulesOf({ rules: all });
const pods = { apiGroups: [''], resources: ['pods'] };

function missing(owned: readonly object[], wanted: readonly object[]): readonly string[] {
  return selectMissingRules(rules(...owned), rules(...wanted)).map(describeRule);
}

test('what is held is not missing', () => {
  assert.deepEqual(missing([{ ...pods, verbs: ['get', 'list'] }], [{ ...pods, verbs: ['list'] }]), []);
  assert.deepEqual(missing([{ ...pods, verbs: ['*'] }], [{ ...pods, verbs: ['get'], resourceNames: ['p'] }]), []);
  assert.deepEqual(
    missing(
      [{ apiGroups: ['*'], resources: ['*/status'], verbs: ['get'] }],
      [{ apiGroups: ['apps'], resources: ['daemonsets/status'], verbs: ['get'] }],
    ),
    [],
  );
});

test('missing verbs of one resource are one rule', () => {
  assert.deepEqual(missing([{ ...pods, verbs: ['get'] }], [{ ...pods, verbs: ['get', 'list', 'watch'] }]), [
    '{APIGroups:[""], Resources:["pods"], Verbs:["list" "watch"]}',
  ]);
});

test('a rule for names does not cover all objects, nor other names', () => {
  const owned = [{ ...pods, verbs: ['get'], resourceNames: ['p'] }];
  assert.deepEqual(missing(owned, [{ ...pods, verbs: ['get'] }]).length, 1);
  assert.deepEqual(missing(owned, [{ ...pods, verbs: ['get'], resourceNames: ['p', 'q'] }]), [
    '{APIGroups:[""], Resources:["pods"], ResourceNames:["q"], Verbs:["get"]}',
  ]);
});

test('paths are missing one by one', () => {
  const owned = [{ verbs: ['get'], nonResourceURLs: ['/metrics/*'] }];
  assert.deepEqual(missing(owned, [{ verbs: ['get', 'put'], nonResourceURLs: ['/metrics/a', '/x'] }]), [
    '{NonResourceURLs:["/metrics/a"], Verbs:["put"]}',
    '{NonResourceURLs:["/x"], Verbs:["get"]}',
    '{NonResourceURLs:["/x"], Verbs:["put"]}',
  ]);
});

const word = (...words: readonly string[]): fc.Arbitrary<string[]> => fc.subarray([...words], { minLength: 1 });
const anyRule = fc.record({
  verbs: word('*', 'get', 'list'),
  apiGroups: word('*', '', 'apps'),
  resources: word('*', 'pods', 'pods/status', '*/status'),
  resourceNames: fc.subarray(['p', 'q']),
});

test('who misses nothing may do all that the wanted rules allow', () => {
  const requests = ['get', 'list'].flatMap((verb) =>
    ['', 'apps'].flatMap((group) =>
      ['', 'status'].flatMap((subresource) =>
        ['', 'p', 'q'].map((name) => {
          return { kind: 'resource', verb, group, resource: 'pods', subresource, namespace: '', name } as const;
        }),
      ),
    ),
  );
  fc.assert(
    fc.property(fc.array(anyRule, { maxLength: 3 }), anyRule, (owned, wanted) => {
      const [own, want] = [rules(...owned), rules(wanted)];
      if (selectMissingRules(own, want).length > 0) return;
      for (const request of requests.filter((each) => want.some((rule) => ruleAllows(rule, each)))) {
        assert.ok(
          own.some((rule) => ruleAllows(rule, request)),
          JSON.stringify(request),
        );
      }
    }),
  );
});
