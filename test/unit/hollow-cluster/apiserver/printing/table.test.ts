import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { KubeObject } from '../../../../../src/machinery/api/meta.ts';
import { servedResources } from '../../../../../src/hollow-cluster/apiserver/resources.ts';
import {
  columnsOf,
  parseIncludeObject,
  printRow,
  printTable,
} from '../../../../../src/hollow-cluster/apiserver/printing/table.ts';

const nowMs = Date.parse('2026-01-02T03:04:05Z');
const metadata = { name: 'x', creationTimestamp: '2026-01-02T03:03:05Z' };
const kinds = {
  node: { group: '', version: 'v1', kind: 'Node' },
  pod: { group: '', version: 'v1', kind: 'Pod' },
  event: { group: '', version: 'v1', kind: 'Event' },
  newEvent: { group: 'events.k8s.io', version: 'v1', kind: 'Event' },
  lease: { group: 'coordination.k8s.io', version: 'v1', kind: 'Lease' },
  namespace: { group: '', version: 'v1', kind: 'Namespace' },
  daemonSet: { group: 'apps', version: 'v1', kind: 'DaemonSet' },
  other: { group: 'example.com', version: 'v1', kind: 'Widget' },
} as const;

function cellsOf(kind: keyof typeof kinds, fields: object): readonly unknown[] {
  return printRow(kinds[kind], { metadata, ...fields }, { nowMs }).cells;
}

test('a healthy node with all columns of -o wide', () => {
  const roles = { 'node-role.kubernetes.io/worker': '', 'node-role.kubernetes.io/edge': '' };
  const labels = { ...roles, 'kubernetes.io/role': 'edge' };
  const system = { osImage: 'Debian', kernelVersion: '6.12', architecture: 'arm64' };
  const nodeInfo = { ...system, kubeletVersion: 'v1.36.3', containerRuntimeVersion: 'containerd://2.1' };
  const addresses = [
    { type: 'Hostname', address: 'x' },
    { type: 'InternalIP', address: '10.0.0.1' },
    { type: 'InternalIP', address: '10.0.0.2' },
  ];
  const status = { conditions: [{ type: 'Ready', status: 'True' }], nodeInfo, addresses };
  assert.equal(
    cellsOf('node', { metadata: { ...metadata, labels }, status }).join(' | '),
    'x | Ready | edge,worker | 60s | v1.36.3 | 10.0.0.1 | <none> | Debian | 6.12 (arm64) | containerd://2.1',
  );
});

test('STATUS of a node from its Ready condition and spec.unschedulable', () => {
  const statusWith = (conditions: readonly object[], spec = {}): unknown =>
    cellsOf('node', { spec, status: { conditions } })[1];
  assert.equal(statusWith([]), 'Unknown');
  assert.equal(statusWith([{ type: 'Ready', status: 'False' }]), 'NotReady');
  assert.equal(statusWith([{ type: 'Ready', status: 'Unknown' }]), 'NotReady');
  assert.equal(statusWith([{ type: 'Ready', status: 'True' }], { unschedulable: true }), 'Ready,SchedulingDisabled');
});

test('a restarted pod with IP, node and readiness gates', () => {
  const lastState = { terminated: { finishedAt: '2026-01-02T03:00:05Z' } };
  const pod = {
    spec: { nodeName: 'n1', containers: [{}], readinessGates: [{ conditionType: 'a' }, { conditionType: 'b' }] },
    status: {
      phase: 'Running',
      podIPs: [{ ip: '10.1.0.1' }],
      conditions: [{ type: 'b', status: 'True' }],
      containerStatuses: [{ ready: true, restartCount: 2, state: { running: {} }, lastState }],
    },
  };
  assert.equal(cellsOf('pod', pod).join(' | '), 'x | 1/1 | Running | 2 (4m ago) | 60s | 10.1.0.1 | n1 | <none> | 1/2');
});

test('the row of a pod that has ended has a Completed condition', () => {
  const row = printRow(kinds.pod, { metadata, status: { phase: 'Failed' } } as KubeObject, { nowMs });
  assert.deepEqual([row.conditions?.[0]?.type, row.conditions?.[0]?.reason], ['Completed', 'Failed']);
  assert.equal(printRow(kinds.pod, { metadata }, { nowMs }).conditions, undefined);
});

test('a repeated event, a single event and an events.k8s.io/v1 event', () => {
  const about = { kind: 'Node', name: 'n1', fieldPath: 'spec' };
  const common = { type: 'Normal', reason: 'NodeNotReady' };
  const old = {
    ...common,
    involvedObject: about,
    message: ' gone \n',
    source: { component: 'node-controller', host: 'h' },
    firstTimestamp: '2026-01-02T03:00:05Z',
    lastTimestamp: '2026-01-02T03:04:00Z',
    count: 7,
  };
  const cells = ['Normal', 'NodeNotReady', 'node/n1', 'spec'];
  assert.deepEqual(cellsOf('event', old), ['5s', ...cells, 'node-controller, h', 'gone', '4m', 7, 'x']);
  const once = {
    ...common,
    involvedObject: about,
    eventTime: '2026-01-02T03:04:02.500000Z',
    reportingComponent: 'me',
    firstTimestamp: null,
    lastTimestamp: null,
  };
  assert.deepEqual(cellsOf('event', once), ['2s', ...cells, 'me', '', '2s', 1, 'x']);
  const series = { count: 3, lastObservedTime: '2026-01-02T03:04:04.500000Z' };
  const fresh = {
    ...common,
    regarding: about,
    note: 'gone',
    reportingController: 'me',
    reportingInstance: 'i',
    series,
  };
  assert.deepEqual(cellsOf('newEvent', fresh), ['0s', ...cells, 'me, i', 'gone', '<unknown>', 3, 'x']);
});

test('rows of a lease and a namespace', () => {
  assert.deepEqual(cellsOf('lease', { spec: { holderIdentity: 'n1' } }), ['x', 'n1', '60s']);
  assert.deepEqual(cellsOf('namespace', { status: { phase: 'Active' } }), ['x', 'Active', '60s']);
});

test('row of a DaemonSet with its selector', () => {
  const spec = {
    selector: {
      matchLabels: { b: '1' },
      matchExpressions: [
        { key: 'd', operator: 'NotIn', values: ['z', 'y'] },
        { key: 'a', operator: 'Exists' },
        { key: 'c', operator: 'DoesNotExist' },
        { key: 'e', operator: 'In', values: ['v'] },
      ],
    },
    template: {
      spec: {
        nodeSelector: { os: 'linux', arch: 'arm64' },
        containers: [
          { name: 'c', image: 'i:1' },
          { name: 'd', image: 'j:2' },
        ],
      },
    },
  };
  const scheduled = { desiredNumberScheduled: 5, currentNumberScheduled: 4, updatedNumberScheduled: 2 };
  const status = { ...scheduled, numberReady: 3, numberAvailable: 1 };
  assert.equal(
    cellsOf('daemonSet', { spec, status }).join(' | '),
    'x | 5 | 4 | 3 | 2 | 1 | arch=arm64,os=linux | 60s | c,d | i:1,j:2 | a,b=1,!c,d notin (y,z),e in (v)',
  );
  assert.equal(cellsOf('daemonSet', {})[10], '<none>');
});

test('a kind without a printer has the columns Name and Age', () => {
  const columns = columnsOf(kinds.other).map(({ name, type }) => `${name} ${type}`);
  assert.deepEqual(columns, ['Name string', 'Age string']);
  assert.deepEqual(cellsOf('other', {}), ['x', '60s']);
});

test('rows contain the part of the object that includeObject requests', () => {
  const object = { metadata, spec: {} } as KubeObject;
  const objectWith = (options: object): unknown => printRow(kinds.node, object, { nowMs, ...options }).object;
  const partial = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata };
  assert.deepEqual(objectWith({}), partial);
  assert.deepEqual(objectWith({ includeObject: 'Metadata', version: 'v1beta1' }), {
    ...partial,
    apiVersion: 'meta.k8s.io/v1beta1',
  });
  assert.deepEqual(objectWith({ includeObject: 'Object' }), { ...object, kind: 'Node', apiVersion: 'v1' });
  assert.equal(objectWith({ includeObject: 'None' }), null);
});

test('includeObject accepts None, Metadata and Object', () => {
  assert.equal(parseIncludeObject(undefined), 'Metadata');
  assert.equal(parseIncludeObject(null), 'Metadata');
  assert.equal(parseIncludeObject('Object'), 'Object');
  assert.equal(parseIncludeObject('None'), 'None');
  assert.equal(parseIncludeObject('object'), undefined);
});

test('a table has the metadata of the list, and columnDefinitions only if requested', () => {
  const list = { resourceVersion: '7', continue: 'token', remainingItemCount: 3 };
  const table = printTable(kinds.lease, [{ metadata }], list, { nowMs });
  assert.deepEqual([table.kind, table.apiVersion, table.metadata], ['Table', 'meta.k8s.io/v1', list]);
  assert.equal(table.columnDefinitions?.map(({ name }) => name).join(), 'Name,Holder,Age');
  assert.equal(printTable(kinds.lease, [{ metadata }], list, { nowMs, withColumns: false }).columnDefinitions, null);
});

test('any object is printed, with a cell of the right type for every column', () => {
  const anyFields = fc.dictionary(
    fc.constantFrom('spec', 'status', 'metadata', 'involvedObject', 'regarding', 'series', 'source', 'message'),
    fc.oneof(
      fc.jsonValue(),
      fc.dictionary(
        fc.constantFrom('conditions', 'addresses', 'containers', 'containerStatuses', 'nodeInfo', 'selector', 'labels'),
        fc.jsonValue(),
      ),
    ),
  );
  fc.assert(
    fc.property(fc.constantFrom(...servedResources, kinds.other), anyFields, (kind, object) => {
      const { cells } = printRow(kind, { metadata: {}, ...object }, { nowMs });
      const columns = columnsOf(kind);
      assert.equal(cells.length, columns.length);
      for (const [index, { type }] of columns.entries()) {
        if (type === 'integer') assert.equal(typeof cells[index], 'number');
        if (type === 'boolean') assert.equal(typeof cells[index], 'boolean');
      }
    }),
    { numRuns: 300 },
  );
});
