import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { transformLease } from '../../../../src/machinery/api/lease.ts';
import { transformNode } from '../../../../src/machinery/api/node.ts';
import { transformPod } from '../../../../src/machinery/api/pod.ts';
import { readTrace } from '../../../../src/cli/simulate/trace-file.ts';
import { ClusterRecorder } from '../../../../src/simulator/recording/cluster-recorder.ts';
import type { ClusterTrace } from '../../../../src/simulator/recording/cluster-trace.ts';
import { toScenario } from '../../../../src/simulator/recording/to-scenario.ts';

const header = {
  apiVersion: 'nodelifecycle/v1alpha1',
  kind: 'ClusterTrace',
  startedAt: '2026-01-02T03:04:05Z',
  hashedNames: false,
  gapSeconds: 15,
} as const;

describe('the recorder of a cluster', () => {
  let text: string;
  let nowMs: number;
  let recorder: ClusterRecorder;

  function start(bytesMax = 1_000_000, labels?: readonly string[]): void {
    text = '';
    nowMs = 5_000;
    const write = (line: string): void => {
      text += line;
    };
    const head = labels === undefined ? header : { ...header, labels };
    recorder = new ClusterRecorder({ write, nowMs: () => nowMs, header: head, nameOf: (name) => name, bytesMax });
  }

  function node(name: string, ready: string, zone = 'a', labels: Readonly<Record<string, string>> = {}): void {
    const object = transformNode({
      metadata: {
        name,
        uid: `uid-${name}`,
        resourceVersion: '1',
        labels: { ...labels, 'topology.kubernetes.io/zone': zone },
      },
      status: { conditions: [{ type: 'Ready', status: ready }] },
    });
    recorder.onNode({ kind: 'modified', key: name, object, previous: object });
  }

  function renew(name: string, renewTime: string): void {
    const object = transformLease({ metadata: { name, namespace: 'kube-node-lease' }, spec: { renewTime } });
    recorder.onLease({ kind: 'modified', key: `kube-node-lease/${name}`, object, previous: object });
  }

  function pod(name: string, nodeName: string, tolerationSeconds?: number): void {
    const toleration = { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' };
    const tolerations = [tolerationSeconds === undefined ? toleration : { ...toleration, tolerationSeconds }];
    const object = transformPod({ metadata: { name, namespace: 'd', uid: name }, spec: { nodeName, tolerations } });
    recorder.onPod({ kind: 'added', key: `d/${name}`, object });
  }

  function trace(): ClusterTrace {
    const read = readTrace(text);
    assert.ok('value' in read, JSON.stringify(read));
    return read.value;
  }

  beforeEach(() => start());

  test('records what changed, and nothing else', () => {
    node('n1', 'True');
    nowMs += 10_000;
    node('n1', 'True');
    node('n1', 'False');
    node('n1', 'False', 'b');
    recorder.end('stopped');
    assert.deepEqual(trace().records, [
      { t: 0, node: 'n1', zone: 'a', ready: 'True', taints: [] },
      { t: 10, node: 'n1', ready: 'False' },
      { t: 10, node: 'n1', zone: 'b' },
    ]);
    assert.deepEqual(trace().end, { t: 10, end: 'stopped' });
  });

  test('records late heartbeats only, and a gap that has not ended', () => {
    for (const name of ['n1', 'n2']) {
      node(name, 'True');
      renew(name, '2026-01-02T03:04:05.000000Z');
    }
    nowMs += 10_000;
    renew('n1', '2026-01-02T03:04:15.000000Z');
    nowMs += 31_000;
    renew('n1', '2026-01-02T03:04:46.000000Z');
    recorder.end('time');
    const gaps = trace().records.filter(({ gap }) => gap !== undefined);
    assert.deepEqual(gaps, [
      { t: 41, node: 'n1', gap: 31 },
      { t: 41, node: 'n2', gap: 41, open: true },
    ]);
  });

  test('records the wanted labels when they change, and no others', () => {
    start(1_000_000, ['pool', 'rack']);
    node('n1', 'True', 'a', { pool: 'edge', secret: 'x' });
    node('n1', 'True', 'a', { pool: 'edge', secret: 'y' });
    node('n1', 'True', 'a', {});
    node('n2', 'True', 'a', {});
    recorder.end('stopped');
    const { header: first, records } = trace();
    assert.deepEqual(first.labels, ['pool', 'rack']);
    assert.deepEqual(records, [
      { t: 0, node: 'n1', zone: 'a', ready: 'True', taints: [], labels: { pool: 'edge' } },
      { t: 0, node: 'n1', labels: {} },
      { t: 0, node: 'n2', zone: 'a', ready: 'True', taints: [] },
    ]);
    assert.ok(!text.includes('secret'));
    const groups = toScenario(trace(), 'recorded').nodes;
    assert.deepEqual(groups, [
      { names: ['n1'], zone: 'a', labels: { pool: 'edge' } },
      { names: ['n2'], zone: 'a', labels: {} },
    ]);
  });

  test('counts pods by their toleration, without their names', () => {
    node('n1', 'True');
    pod('secret-name', 'n1', 300);
    pod('another', 'n1', 300);
    pod('third', 'n1');
    pod('unbound', '');
    recorder.writePods();
    assert.deepEqual(trace().records.at(-1)?.pods, { '300': 2, forever: 1 });
    assert.ok(!text.includes('secret-name'));
  });

  test('ends below its maximum size, with the reason', () => {
    start(600);
    for (let index = 0; index < 100; index += 1) node(`n${index}`, 'True');
    recorder.end('time');
    assert.ok(recorder.isFull);
    assert.ok(text.length <= 600, String(text.length));
    assert.equal(trace().end?.end, 'size');
  });

  test('as a scenario: a gap is a silence, and a node that reported Ready=False is unhealthy until it did not', () => {
    node('n1', 'True');
    node('n2', 'True', 'b');
    pod('p', 'n1', 60);
    recorder.writePods();
    renew('n1', 'a');
    nowMs += 100_000;
    renew('n1', 'b');
    node('n2', 'False', 'b');
    nowMs += 50_000;
    node('n2', 'True', 'b');
    recorder.end('stopped');
    const scenario = toScenario(trace(), 'recorded');
    assert.equal(scenario.durationMs, 210_000);
    assert.deepEqual(
      scenario.nodes.map(({ zone, names }) => `${zone} ${names.join()}`),
      ['a n1', 'b n2'],
    );
    assert.deepEqual(scenario.pods, [{ node: 'n1', count: 1, tolerates: 60, graceSeconds: 30 }]);
    const steps = scenario.steps.map((step) =>
      step.kind === 'nodes' ? [step.order.fault.kind, step.atMs, step.order.forMs] : [],
    );
    assert.deepEqual(steps, [
      ['silence', 0, 95_000],
      ['silence', 100_000, undefined],
      ['unhealthy', 100_000, 50_000],
    ]);
  });
});

test('a line that is no record is reported with its number, and a line that was cut off is ignored', () => {
  const first = JSON.stringify(header);
  const wrong = readTrace(`${first}\n{"t":1}\n`);
  assert.ok('problems' in wrong);
  assert.match(wrong.problems[0] ?? '', /^line 2: /);
  const cut = readTrace(`${first}\n{"t":1,"node":"n","zone":"a"}\n{"t":2,"no`);
  assert.ok('value' in cut);
  assert.equal(cut.value.records.length, 1);
  assert.ok('problems' in readTrace('no trace\n'));
});
