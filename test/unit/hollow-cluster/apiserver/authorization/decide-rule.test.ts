import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  pathCovers,
  ruleAllows,
  rulesOf,
} from '../../../../../src/hollow-cluster/apiserver/authorization/decide-rule.ts';
import type { ResourceAttributes } from '../../../../../src/hollow-cluster/apiserver/authorization/parse-attributes.ts';

const getPod: ResourceAttributes = {
  kind: 'resource',
  verb: 'get',
  group: '',
  resource: 'pods',
  subresource: '',
  namespace: 'a',
  name: 'p',
};

function allows(rule: object, attributes: Partial<ResourceAttributes> = {}): boolean {
  const [parsed] = rulesOf({ rules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'], ...rule }] });
  assert.ok(parsed);
  return ruleAllows(parsed, { ...getPod, ...attributes });
}

test('verb, group, resource and name have to match', () => {
  assert.equal(allows({}), true);
  assert.equal(allows({}, { verb: 'list' }), false);
  assert.equal(allows({}, { group: 'apps' }), false);
  assert.equal(allows({}, { resource: 'nodes' }), false);
  assert.equal(allows({ resourceNames: ['p'] }), true);
  assert.equal(allows({ resourceNames: ['q'] }), false);
  assert.equal(allows({ resourceNames: ['q'] }, { name: '' }), false);
});

test('wildcards', () => {
  assert.equal(allows({ verbs: ['*'] }, { verb: 'evict' }), true);
  assert.equal(allows({ apiGroups: ['*'] }, { group: 'apps' }), true);
  assert.equal(allows({ resources: ['*'] }, { resource: 'nodes', subresource: 'status' }), true);
  assert.equal(allows({ resources: ['*/status'] }, { subresource: 'status' }), true);
  assert.equal(allows({ resources: ['*/status'] }, {}), false);
});

test('a subresource is a resource of its own', () => {
  assert.equal(allows({}, { subresource: 'status' }), false);
  assert.equal(allows({ resources: ['pods/status'] }, { subresource: 'status' }), true);
  assert.equal(allows({ resources: ['pods/status'] }), false);
});

test('paths', () => {
  const [rule] = rulesOf({ rules: [{ verbs: ['get'], nonResourceURLs: ['/metrics', '/livez/*'] }] });
  assert.ok(rule);
  const path = (text: string): boolean => ruleAllows(rule, { kind: 'path', verb: 'get', path: text });
  assert.deepEqual(['/metrics', '/livez/ping', '/livez', '/metrics/x'].map(path), [true, true, false, false]);
  assert.equal(ruleAllows(rule, getPod), false);
  assert.equal(pathCovers('*', '/x'), true);
});

test('a malformed role has no rules', () => {
  assert.deepEqual(rulesOf({ rules: null }), []);
  assert.deepEqual(rulesOf({ rules: [{ verbs: 'get', apiGroups: [1] }] })[0]?.apiGroups, []);
});
