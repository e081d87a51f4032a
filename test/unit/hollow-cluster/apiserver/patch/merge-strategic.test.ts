import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { mergeDocuments } from '../../../../../src/hollow-cluster/apiserver/patch/object-patch.ts';
import { mergeRulesOf } from '../../../../../src/hollow-cluster/apiserver/patch/patch-strategies.ts';
import { mergeStrategic, PatchProblem } from '../../../../../src/hollow-cluster/apiserver/patch/merge-strategic.ts';
import { countReads } from '../../../../support/count-reads.ts';

type Map = Record<string, unknown>;
const versions: Readonly<Record<string, string>> = {
  ...Object.fromEntries(['DaemonSet', 'Deployment', 'ReplicaSet', 'StatefulSet'].map((kind) => [kind, 'apps/v1'])),
  ...Object.fromEntries(['Job', 'CronJob'].map((kind) => [kind, 'batch/v1'])),
  PodDisruptionBudget: 'policy/v1',
};
const merge = (original: Map, patch: Map, kind = 'Pod'): Map =>
  mergeStrategic(original, patch, mergeRulesOf(versions[kind] ?? 'v1', kind));

test('a patch as kubectl apply sends it for a changed pod', () => {
  const stored = {
    metadata: { finalizers: ['x.io/a', 'x.io/b'] },
    spec: {
      containers: ['c', 'd'].map((name) => ({ name, image: 'i' })),
      tolerations: [{ key: 'a', operator: 'Exists' }],
    },
  };
  const patch = {
    metadata: {
      '$deleteFromPrimitiveList/finalizers': ['x.io/b'],
      '$setElementOrder/finalizers': ['x.io/a', 'x.io/c'],
      annotations: { note: 'x' },
      finalizers: ['x.io/c'],
    },
    spec: {
      '$setElementOrder/containers': [{ name: 'c' }, { name: 'd' }],
      containers: [{ image: 'i2', name: 'd' }],
      tolerations: [{ key: 'b', operator: 'Exists' }],
    },
  };
  assert.deepEqual(merge(stored, patch), {
    metadata: { finalizers: ['x.io/a', 'x.io/c'], annotations: { note: 'x' } },
    spec: {
      containers: [
        { name: 'c', image: 'i' },
        { name: 'd', image: 'i2' },
      ],
      tolerations: [{ key: 'b', operator: 'Exists' }],
    },
  });
});

test('a patched element keeps its position, a new one comes first', () => {
  const conditions = ['A', 'B', 'C'].map((type) => ({ type, status: 'x' }));
  const after = (patch: readonly Map[]): unknown =>
    (
      merge({ status: { conditions } }, { status: { conditions: patch } }, 'Node')['status'] as { conditions: Map[] }
    ).conditions.map(({ type, status }) => `${String(type)}${String(status)}`);
  assert.deepEqual(after([{ type: 'B', status: 'y' }]), ['Ax', 'By', 'Cx']);
  assert.deepEqual(after([{ type: 'N', status: 'y' }]), ['Ny', 'Ax', 'Bx', 'Cx']);
  assert.deepEqual(after([{ type: 'B', $patch: 'delete' }]), ['Ax', 'Cx']);
  assert.deepEqual(after([{ $patch: 'replace' }, { type: 'Z', status: 'z' }]), ['Zz']);
});

test('taints have no merge key: the list is replaced', () => {
  const original = { spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } };
  const patch = { spec: { taints: [{ key: 'b', effect: 'NoSchedule' }] } };
  assert.deepEqual(merge(original, patch, 'Node'), patch);
});

test('$patch and $retainKeys in maps', () => {
  assert.deepEqual(merge({ spec: { a: 1, b: 2 } }, { spec: { $patch: 'replace', c: 3 } }), { spec: { c: 3 } });
  assert.deepEqual(merge({ spec: { a: 1 } }, { spec: { $patch: 'delete' } }), { spec: {} });
  assert.deepEqual(merge({ spec: { a: 1, b: 2 } }, { spec: { $retainKeys: ['b', 'c'], c: 3 } }), {
    spec: { b: 2, c: 3 },
  });
  assert.throws(() => merge({ spec: {} }, { spec: { $retainKeys: ['b'], c: 3 } }), PatchProblem);
});

test('contradictory patches are rejected', () => {
  const original = { spec: { containers: [{ name: 'c' }] } };
  for (const containers of [[{ image: 'x' }], ['x'], [{ name: 'c', $patch: 'merge' }]]) {
    assert.throws(() => merge(original, { spec: { containers } }), PatchProblem, JSON.stringify(containers));
  }
  const stray = { '$setElementOrder/containers': [{ name: 'c' }], containers: [{ name: 'd' }] };
  assert.throws(() => merge(original, { spec: stray }), PatchProblem);
});

const json = fc.letrec<{ value: unknown; map: Map }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constant(null),
    fc.integer(),
    fc.string(),
    fc.array(fc.integer()),
    tie('map'),
  ),
  map: fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), tie('value'), { noNullPrototype: true }),
}));

test('a merge modifies neither patch nor original, and is idempotent', () => {
  fc.assert(
    fc.property(json.map, json.map, (original, patch) => {
      const before = JSON.stringify([original, patch]);
      for (const apply of [mergeDocuments, merge] as const) {
        const once = apply(original, patch) as Map;
        assert.deepEqual(apply(once, patch), once);
      }
      assert.equal(JSON.stringify([original, patch]), before);
    }),
  );
});

test('without merged lists, strategic merge equals JSON merge', () => {
  fc.assert(
    fc.property(json.map, json.map, (original, patch) => {
      assert.deepEqual(merge(original, patch), mergeDocuments(original, patch));
    }),
  );
});

test('the result contains no directive and no null of the patch', () => {
  const patch = {
    metadata: { labels: { a: null }, $retainKeys: ['labels'] },
    spec: {
      volumes: [
        { name: 'v', $retainKeys: ['name'] },
        { name: 'w', $patch: 'delete' },
      ],
    },
  };
  assert.deepEqual(merge({}, patch), { metadata: { labels: {} }, spec: { volumes: [{ name: 'v' }] } });
});

test('the containers of a pod template merge by name in every kind that has one', () => {
  const before = { containers: [{ name: 'c', image: 'i:1', ports: [{ containerPort: 80 }] }, { name: 'd' }] };
  const change = { containers: [{ name: 'c', image: 'i:2' }] };
  const after = { containers: [{ name: 'c', image: 'i:2', ports: [{ containerPort: 80 }] }, { name: 'd' }] };
  const within = (spec: Map): Map => ({ spec: { template: { spec } } });
  for (const kind of ['DaemonSet', 'Deployment', 'Job', 'ReplicaSet', 'ReplicationController', 'StatefulSet'])
    assert.deepEqual(merge(within(before), within(change), kind), within(after), kind);
  const cron = (spec: Map): Map => ({ spec: { jobTemplate: within(spec) } });
  assert.deepEqual(merge(cron(before), cron(change), 'CronJob'), cron(after));
  assert.deepEqual(merge({ template: { spec: before } }, { template: { spec: change } }, 'PodTemplate'), {
    template: { spec: after },
  });
});

test('the ports of a Service merge by number, and the selector of a budget is replaced as a whole', () => {
  const ports = (...list: readonly Map[]): Map => ({ spec: { ports: list } });
  const stored = ports({ port: 80, name: 'http' }, { port: 443, name: 'https' });
  const patch = ports({ port: 443, targetPort: 8443 });
  const merged = ports({ port: 80, name: 'http' }, { port: 443, name: 'https', targetPort: 8443 });
  assert.deepEqual(merge(stored, patch, 'Service'), merged);
  const selector = (labels: Map): Map => ({ spec: { selector: { matchLabels: labels } } });
  assert.deepEqual(merge(selector({ a: '1' }), selector({ b: '2' }), 'PodDisruptionBudget'), selector({ b: '2' }));
});

test('each element of a merged list is read a few times only', () => {
  const listOf = (from: number): Map[] =>
    Array.from({ length: 1_000 }, (_, index) => ({ name: `c${from + index}`, image: 'i' }));
  const stored = countReads(listOf(0));
  const { spec } = merge({ spec: { containers: stored.items } }, { spec: { containers: listOf(500) } });
  assert.equal((spec as { containers: Map[] }).containers.length, 1_500);
  assert.ok(stored.reads() < 100_000, `${stored.reads()} reads`);
});
