import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildScale, patchForScale } from '../../../../../../src/hollow-cluster/apiserver/kinds/workloads/scale.ts';
import { StoredObject } from '../../../../../../src/hollow-cluster/apiserver/storage/stored-object.ts';

function stored(selector: object): StoredObject {
  const located = { key: 'd/web', namespace: 'd', name: 'web', uid: 'u', revision: 7, labels: {}, fields: {} };
  const metadata = { name: 'web', namespace: 'd', uid: 'u', resourceVersion: '7', creationTimestamp: 't' };
  return new StoredObject(located, { metadata, spec: { replicas: 3, selector }, status: { replicas: 2 } });
}

test('a Scale has the replicas, the identity and the selector of its object', () => {
  assert.deepEqual(buildScale(stored({ matchLabels: { app: 'web' } })), {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name: 'web', namespace: 'd', uid: 'u', resourceVersion: '7', creationTimestamp: 't' },
    spec: { replicas: 3 },
    status: { replicas: 2, selector: 'app=web' },
  });
});

test('selectors are written as text, those of ReplicationControllers too', () => {
  const selectorOf = (selector: object): unknown =>
    (buildScale(stored(selector))['status'] as { selector?: string }).selector;
  const matchExpressions = [
    { key: 'a', operator: 'In', values: ['x', 'y'] },
    { key: 'b', operator: 'NotIn', values: ['z'] },
    { key: 'c', operator: 'Exists' },
    { key: 'd', operator: 'DoesNotExist' },
  ];
  assert.equal(selectorOf({ matchLabels: { k: 'v' }, matchExpressions }), 'k=v,a in (x,y),b notin (z),c,!d');
  assert.equal(selectorOf({ app: 'web', tier: 'front' }), 'app=web,tier=front');
  assert.equal(selectorOf({}), undefined);
});

test('a write patches the replicas, with the version that it states', () => {
  assert.deepEqual(patchForScale({ spec: { replicas: 5 } }, 'd'), { metadata: {}, spec: { replicas: 5 } });
  assert.deepEqual(patchForScale({ metadata: { resourceVersion: '7' }, spec: {} }, 'd'), {
    metadata: { resourceVersion: '7' },
    spec: { replicas: 0 },
  });
  assert.throws(() => patchForScale({ spec: { replicas: -1 } }, 'd'), /must be greater than or equal to 0/);
});
