import assert from 'node:assert/strict';
import { test } from 'node:test';
import { demandOf } from '../../../../src/hollow-cluster/scheduler/node-loads.ts';
import { decideFit, scoreNode } from '../../../../src/hollow-cluster/scheduler/select-node.ts';
import type { Node } from '../../../../src/machinery/api/node.ts';
import type { Pod } from '../../../../src/machinery/api/pod.ts';

const allocatable = { cpu: '1', memory: '1Gi', pods: '3' };

function node(
  over: { labels?: Record<string, string>; spec?: Node['spec']; allocatable?: Record<string, string> } = {},
): Node {
  const labels = { 'kubernetes.io/os': 'linux', zone: 'a', ...over.labels };
  return {
    metadata: { name: 'n', labels },
    ...(over.spec === undefined ? {} : { spec: over.spec }),
    status: { allocatable: { ...allocatable, ...over.allocatable } },
  };
}

function pod(spec: Pod['spec'] = {}, requests: Record<string, string> = {}): Pod {
  const containers = [{ name: 'main', resources: { requests } }];
  return { metadata: { name: 'p', namespace: 'default' }, spec: { containers, ...spec } };
}

const withPort = (hostPort: number, hostIP?: string, protocol?: string): Pod =>
  pod({
    containers: [
      {
        name: 'main',
        ports: [
          { hostPort, ...(hostIP === undefined ? {} : { hostIP }), ...(protocol === undefined ? {} : { protocol }) },
        ],
      },
    ],
  });

function fit(wanted: Pod, on: Node = node(), others: readonly Pod[] = []): readonly string[] {
  return decideFit(wanted, demandOf(wanted), { name: 'n', node: on, pods: others.map(demandOf) });
}

const required = (key: string, operator: string, values: string[]): Pod['spec'] => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key, operator, values }] }],
      },
    },
  },
});

const taint = (effect: string): Node => node({ spec: { taints: [{ key: 'k', value: 'v', effect }] } });
const affinity = ["node(s) didn't match Pod's node affinity/selector"];
const ports = ["node(s) didn't have free ports for the requested pod ports"];
const untolerated = ['node(s) had untolerated taint(s)'];

const rows: readonly [string, Pod, Node, readonly Pod[], readonly string[]][] = [
  ['an empty node', pod(), node(), [], []],
  ['a cordoned node', pod(), node({ spec: { unschedulable: true } }), [], ['node(s) were unschedulable']],
  [
    'a cordoned node and a pod that tolerates that, as of a DaemonSet',
    pod({ tolerations: [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }] }),
    node({ spec: { unschedulable: true } }),
    [],
    [],
  ],
  ['a NoSchedule taint', pod(), taint('NoSchedule'), [], untolerated],
  ['a NoExecute taint', pod(), taint('NoExecute'), [], untolerated],
  ['a PreferNoSchedule taint', pod(), taint('PreferNoSchedule'), [], []],
  ['a tolerated taint', pod({ tolerations: [{ key: 'k', value: 'v' }] }), taint('NoSchedule'), [], []],
  ['a node selector that matches', pod({ nodeSelector: { zone: 'a' } }), node(), [], []],
  ['a node selector that does not', pod({ nodeSelector: { zone: 'b' } }), node(), [], affinity],
  ['a required affinity that matches', pod(required('zone', 'In', ['a', 'b'])), node(), [], []],
  ['a required affinity that does not', pod(required('zone', 'NotIn', ['a'])), node(), [], affinity],
  ['the operating system of the node', pod({ os: { name: 'linux' } }), node(), [], []],
  [
    'another operating system',
    pod({ os: { name: 'windows' } }),
    node(),
    [],
    ["node(s) didn't match the operating system of the pod"],
  ],
  ['a port that is free', withPort(80), node(), [withPort(81)], []],
  ['a port that is taken', withPort(80), node(), [withPort(80)], ports],
  ['a port that is taken on one address', withPort(80, '10.0.0.1'), node(), [withPort(80)], ports],
  ['a port of another address', withPort(80, '10.0.0.1'), node(), [withPort(80, '10.0.0.2')], []],
  ['a port of another protocol', withPort(80, '', 'UDP'), node(), [withPort(80)], []],
  [
    'requests that fit exactly',
    pod({}, { cpu: '400m', memory: '512Mi' }),
    node(),
    [pod({}, { cpu: '600m', memory: '512Mi' })],
    [],
  ],
  ['too little CPU', pod({}, { cpu: '401m' }), node(), [pod({}, { cpu: '600m' })], ['Insufficient cpu']],
  [
    'too little of two resources',
    pod({}, { cpu: '2', memory: '2Gi' }),
    node(),
    [],
    ['Insufficient cpu', 'Insufficient memory'],
  ],
  [
    'a resource that the node does not have',
    pod({}, { 'example.com/gpu': '1' }),
    node(),
    [],
    ['Insufficient example.com/gpu'],
  ],
  ['as many pods as the node allows', pod(), node(), [pod(), pod(), pod()], ['Too many pods']],
  ['a taint before resources', pod({}, { cpu: '2' }), taint('NoSchedule'), [], untolerated],
];

for (const [title, wanted, on, others, expected] of rows) {
  test(`${expected.length === 0 ? 'fits' : 'does not fit'}: ${title}`, () => {
    assert.deepEqual(fit(wanted, on, others), expected);
  });
}

test('the emptier node has the better score, and pods without requests count', () => {
  const score = (others: readonly Pod[]): number => {
    return scoreNode(demandOf(pod()), { name: 'n', node: node(), pods: others.map(demandOf) });
  };
  assert.ok(score([]) > score([pod()]));
  assert.ok(score([pod()]) > score([pod({}, { cpu: '500m', memory: '500Mi' })]));
  assert.equal(score([pod({}, { cpu: '1', memory: '1Gi' })]), 0);
});
