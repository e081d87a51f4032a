import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findDeviations, type Observation } from '../../../control-plane/faults/oracle.ts';

type Node = Observation['nodes'][number];
type Pod = Observation['pods'][number];

const unreachable = 'node.kubernetes.io/unreachable';

function node(name: string, ready: string, taints: Node['spec']['taints'] = []): Node {
  const conditions = [{ type: 'Ready', status: ready, reason: 'r' }];
  return { metadata: { name, uid: name, resourceVersion: '1' }, spec: { taints }, status: { conditions } };
}

const silent = (name: string): Node =>
  node(name, 'Unknown', [
    { key: unreachable, effect: 'NoSchedule' },
    { key: unreachable, effect: 'NoExecute' },
  ]);

function pod(name: string, ready: string): Pod {
  return { metadata: { name, uid: name }, status: { conditions: [{ type: 'Ready', status: ready }] } };
}

const mark = {
  method: 'PATCH',
  path: '/api/v1/namespaces/default/pods/p/status?fieldManager=f',
  body: '{"status":{"conditions":[{"type":"Ready","status":"False"}]}}',
  forwardedAtMs: 1,
};

const empty: Observation = { nodes: [], pods: [], made: [], requests: [] };

test('a silent node must be Unknown with both taints, any other Ready without', () => {
  const nodes = [silent('d'), node('h', 'True')];
  assert.deepEqual(findDeviations({ ...empty, nodes }, { silent: ['d'] }), []);
  assert.deepEqual(findDeviations({ ...empty, nodes }, {}), [
    'node d is Ready=Unknown, not True',
    'node d has the taints [unreachable:NoExecute,unreachable:NoSchedule], not []',
  ]);
  assert.deepEqual(findDeviations({ ...empty, nodes }, { silent: ['d', 'h'] }), [
    'node h is Ready=True, not Unknown',
    'node h has the taints [], not [unreachable:NoExecute,unreachable:NoSchedule]',
  ]);
});

test('taints with other keys are ignored', () => {
  const nodes = [node('h', 'True', [{ key: 'example.com/x', effect: 'NoExecute' }])];
  assert.deepEqual(findDeviations({ ...empty, nodes }, {}), []);
});

test('a healthy node must never have been marked Unknown or tainted NoExecute; a recovered one may', () => {
  const body = `{"spec":{"taints":[{"key":"${unreachable}","effect":"NoExecute"}]}}`;
  const requests = [{ method: 'PATCH', path: '/api/v1/nodes/h?fieldManager=f', body }];
  const observation = { ...empty, nodes: [node('h', 'True')], requests };
  assert.deepEqual(findDeviations(observation, { recovered: ['h'] }), []);
  assert.equal(findDeviations(observation, {}).length, 1);
});

test('pods exist unless they are to be evicted, and are marked on silent nodes', () => {
  const nodes = [silent('d'), node('h', 'True')];
  const made = ['a', 'b', 'c'].map((name) => ({ name, node: 'd' })).concat({ name: 'e', node: 'h' });
  const pods = [pod('a', 'False'), pod('b', 'True'), pod('e', 'True')];
  assert.deepEqual(findDeviations({ ...empty, nodes, made, pods }, { silent: ['d'], evicted: ['a'] }), [
    'pod a of node d was not evicted',
    'pod b of silent node d is Ready=True',
    'pod c of node d was deleted',
  ]);
});

test('only marks that reached the server are counted', () => {
  const { forwardedAtMs: _, ...refused } = mark;
  const observation = { ...empty, requests: [mark, mark, refused] };
  assert.deepEqual(findDeviations(observation, { marks: { p: 2 } }), []);
  assert.deepEqual(findDeviations(observation, { marks: { p: 1 } }), [
    'pod p was marked Ready=False by 2 requests, not 1',
  ]);
});
