import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bootstrapPolicy } from '../../../../../../src/hollow-cluster/apiserver/kinds/rbac/bootstrap-policy.ts';
import { planAggregation } from '../../../../../../src/hollow-cluster/apiserver/kinds/rbac/role-aggregation-controller.ts';
import { listOf, mapOf } from '../../../../../../src/machinery/api/json-map.ts';

const role = (name: string, labels: Record<string, string>, content: object) => ({ name, labels, content });
const collect = (...labels: readonly object[]) => ({
  aggregationRule: { clusterRoleSelectors: labels.map((matchLabels) => ({ matchLabels })) },
});
const [a, b] = [{ verbs: ['a'] }, { verbs: ['b'] }];

test('rules of matching roles, in the order of their names, equal ones once, its own not', () => {
  const roles = [
    role('sum', { to: 'x' }, { ...collect({ to: 'x' }, { too: 'x' }), rules: [{ verbs: ['old'] }] }),
    role('z', { to: 'x' }, { rules: [a] }),
    role('y', { to: 'x', too: 'x' }, { rules: [b, a] }),
    role('other', {}, { rules: [{ verbs: ['c'] }] }),
  ];
  assert.deepEqual(planAggregation(roles), [{ name: 'sum', rules: [b, a] }]);
});

test('an aggregated role that is up to date is not written', () => {
  assert.deepEqual(
    planAggregation([role('sum', {}, { ...collect({ to: 'x' }), rules: [a] }), role('z', { to: 'x' }, { rules: [a] })]),
    [],
  );
  assert.deepEqual(planAggregation([role('sum', {}, { ...collect({ to: 'x' }), rules: null })]), []);
  assert.deepEqual(planAggregation([role('plain', {}, { rules: [a] })]), []);
});

test('admin, edit and view of a new cluster collect what their names say', () => {
  const roles = bootstrapPolicy()
    .filter(({ plural }) => plural === 'clusterroles')
    .map(({ name, body }) => {
      const labels = mapOf(mapOf(body['metadata'])['labels']) as Record<string, string>;
      return role(name, labels, body);
    });
  const planned = planAggregation(roles);
  assert.deepEqual(
    planned.map(({ name }) => name),
    ['admin', 'edit', 'view'],
  );
  const text = (name: string): string => JSON.stringify(planned.find((each) => each.name === name)?.rules);
  assert.ok(
    text('view').includes('"pods"') && !text('view').includes('"delete"') && !text('view').includes('"secrets"'),
  );
  assert.ok(text('edit').includes('"pods/eviction"') && !text('edit').includes('"rolebindings"'));
  assert.ok(listOf(JSON.parse(text('edit'))).length > 5);
});

test('roles that collect from each other are complete after some rounds, and then not written again', () => {
  const [c, d] = [role('cc', { of: 'a' }, { rules: [a] }), role('dd', { of: 'b' }, { rules: [b] })];
  const collected = new Map<string, readonly unknown[]>();
  const rounds = Array.from({ length: 6 }, () => {
    const pair = [
      role('aa', { of: 'b' }, { ...collect({ of: 'a' }), rules: collected.get('aa') ?? [] }),
      role('bb', { of: 'a' }, { ...collect({ of: 'b' }), rules: collected.get('bb') ?? [] }),
    ];
    const planned = planAggregation([...pair, c, d]);
    for (const { name, rules } of planned) collected.set(name, rules);
    return planned.length;
  });
  assert.deepEqual(rounds.slice(-3), [0, 0, 0], `writes by round: ${rounds.join(' ')}`);
  assert.equal(collected.get('aa')?.length, 2);
});
