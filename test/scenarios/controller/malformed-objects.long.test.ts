// Ten thousand objects that no API server should send, through the informers and the whole controller.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../../src/machinery/api/meta.ts';
import { type Lease, transformLease } from '../../../src/machinery/api/lease.ts';
import { type Node, transformNode } from '../../../src/machinery/api/node.ts';
import { type Pod, transformPod } from '../../../src/machinery/api/pod.ts';
import { SharedInformer } from '../../../src/machinery/informer/shared-informer.ts';
import { linesMax } from '../../../src/machinery/informer/malformed-objects.ts';
import { describeNodeOutlook } from '../../../src/controller/report/text/describe-outlooks.ts';
import { aNode, aPod } from '../../support/builders.ts';
import { aCondition, ControllerWorld } from '../../support/controller-world.ts';
import { malformed } from '../../support/malformed-objects.ts';
import { ManualClock, settled } from '../../support/manual-clock.ts';
import { RecordingLogger, RecordingMeter, SeededRandom } from '../../support/fakes.ts';
import { explainNode } from '../../support/explained.ts';
import { ScriptedReader } from '../../support/scripted-reader.ts';
import { names } from '../../support/zoned-world.ts';

const healthy = names(5, 'well-');
const at = '2026-01-02T03:00:00Z';

const zone = { 'topology.kubernetes.io/region': 'r', 'topology.kubernetes.io/zone': 'malformed' };

const aFullNode = (name: string): Node =>
  aNode(name, {
    metadata: { creationTimestamp: at, labels: { ...zone, 'kubernetes.io/os': 'linux' } },
    spec: { unschedulable: false, taints: [{ key: 'example.com/x', effect: 'NoSchedule', timeAdded: at }] },
    status: {
      conditions: [aCondition('Ready', 'True', at), aCondition('MemoryPressure', 'False', at)],
      nodeInfo: { bootID: `boot-${name}` },
    },
  });

const aFullPod = (name: string, nodeName: string): Pod =>
  aPod(name, {
    metadata: { resourceVersion: '1', creationTimestamp: at, labels: {} },
    spec: {
      nodeName,
      tolerations: [{ key: 'node.kubernetes.io/unreachable', operator: 'Exists', tolerationSeconds: 30 }],
    },
    status: { phase: 'Running', conditions: [aCondition('Ready', 'True', at)] },
  });

function aLease(name: string): Lease {
  const metadata = { name, namespace: 'kube-node-lease', uid: `uid-lease-${name}`, resourceVersion: '1' };
  return { metadata, spec: { renewTime: '2026-01-02T03:00:00.000000Z', leaseDurationSeconds: 40 } };
}

interface Arrived<Raw> {
  readonly kept: ReadonlyMap<string, Raw>;
  readonly logger: RecordingLogger;
  readonly counted: number;
}

/** Has a real informer read these objects as one state, and once more, and returns what it kept and said. */
async function read<Raw extends KubeObject>(
  resource: 'nodes' | 'pods' | 'leases',
  objects: readonly Raw[],
  view: (raw: Raw) => { readonly uid: string; readonly resourceVersion: string; readonly problems?: readonly string[] },
): Promise<Arrived<Raw>> {
  const api = new ScriptedReader();
  const clock = new ManualClock();
  const logger = new RecordingLogger();
  const meter = new RecordingMeter();
  const informer = new SharedInformer({
    resource,
    transform: (raw: Raw) => ({ ...view(raw), raw }),
    identity: ({ uid, resourceVersion }) => ({ uid, resourceVersion }),
    problemsOf: ({ problems }) => problems,
    api,
    clock,
    random: new SeededRandom(1),
    logger,
    meter,
  });
  const stop = new AbortController();
  const running = informer.run(stop.signal);
  await settled();
  for (let time = 0; time < 2; time += 1) {
    const stream = await api.nextWatch().accept();
    await stream.send(...objects.map((object) => ({ type: 'ADDED' as const, object: object as KubeObject })));
    const end = { 'k8s.io/initial-events-end': 'true' };
    await stream.send({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '9', annotations: end } } });
    await stream.send({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } });
    await clock.advance(60_000);
  }
  const kept = new Map([...informer.store.keys()].map((key) => [key, informer.store.get(key)?.raw as Raw]));
  stop.abort();
  await running;
  const series = (problem: string): string =>
    `informer_malformed_objects_total{resource="${resource}",problem="${problem}"}`;
  return { kept, logger, counted: meter.series.get(series('field')) ?? 0 };
}

/**
 * Every malformed object was counted once, though it arrived twice; the log names the first of them, with their
 * problems.
 */
function assertReportedOnce<Raw>(
  { kept, logger, counted }: Arrived<Raw>,
  problemsOf: (raw: Raw) => readonly string[] | undefined,
): void {
  const reported = logger.lines.filter(({ message }) => message.startsWith('object has malformed fields'));
  const byKey = new Map(reported.map(({ fields }) => [fields['key'], fields['problems']]));
  const malformed = [...kept].filter(([, raw]) => problemsOf(raw) !== undefined);
  assert.ok(malformed.length > kept.size / 3, `${malformed.length} of ${kept.size} are malformed`);
  const problemsByKey = new Map(malformed.map(([key, raw]) => [key, problemsOf(raw)]));
  for (const [key, problems] of byKey) assert.deepEqual(problems, problemsByKey.get(String(key)), String(key));
  // One line may have been used for an object without a name.
  assert.ok(reported.length === byKey.size && (reported.length === linesMax || reported.length === linesMax - 1));
  // A few have the same random name: only one of them is kept, and the problems of each are counted.
  assert.ok(counted >= malformed.length && counted <= malformed.length * 1.01, `${counted} counted`);
  assert.ok(reported.every(({ fields }) => typeof fields['key'] === 'string'));
  assert.deepEqual(logger.at('error'), []);
}

test('ten thousand malformed objects: each is counted once, no crash, and no wrong assessment', {
  timeout: 120_000,
}, async () => {
  await using world = new ControllerWorld();
  for (const name of healthy) {
    world.addNode(name, { zone: 'well' });
    world.addPod(`pod-of-${name}`, name, []);
  }
  const nodes = await read(
    'nodes',
    names(4_000, 'node-').map((name, seed) => malformed(aFullNode(name), seed)),
    transformNode,
  );
  const pods = await read(
    'pods',
    names(4_000, 'pod-').map((name, seed) =>
      malformed(aFullPod(name, seed % 2 === 0 ? `node-${seed}` : healthy[seed % 5]!), seed),
    ),
    transformPod,
  );
  const leases = await read(
    'leases',
    names(2_000, 'node-').map((name, seed) => malformed(aLease(name), seed)),
    transformLease,
  );
  assertReportedOnce(nodes, (raw) => transformNode(raw).problems);
  assertReportedOnce(pods, (raw) => transformPod(raw).problems);
  assertReportedOnce(leases, (raw) => transformLease(raw).problems);

  // All were read; every fourth node lives on for minutes of virtual time.
  const nodeNames = [...nodes.kept.keys()].filter((_, place) => place % 4 === 0);
  for (const name of nodeNames) world.putNode(nodes.kept.get(name)!);
  for (const raw of pods.kept.values()) world.putPod(raw);
  for (const [key, raw] of leases.kept) world.leases.set(key, transformLease(raw));
  const allNodes = [...healthy, ...nodeNames];
  world.renewing(...allNodes);
  await world.running(180);
  const left = world.writes.filter(({ name }) => healthy.includes(name) || name.startsWith('pod-of-'));
  assert.deepEqual(left, []);
  assert.deepEqual(world.evicted(), []);
  const wrong = world.decisions
    .map(({ decision }) => decision)
    .filter(
      ({ kind }) =>
        kind === 'node-silent' ||
        kind === 'pod-marked-not-ready' ||
        kind === 'taint-queued' ||
        kind === 'evaluation-failed',
    );
  assert.deepEqual(wrong, [], 'all nodes renew, so no node is silent');
  for (const { verb, body } of world.writes) assert.ok(verb !== 'patch' || JSON.stringify(body).length < 10_000);
  assert.deepEqual(world.logger.at('error'), []);

  for (const name of nodeNames)
    assert.deepEqual(explainNode(world, name).problems, transformNode(world.node(name)).problems ?? []);
  const page = describeNodeOutlook(
    explainNode(world, nodeNames.find((name) => transformNode(world.node(name)).problems !== undefined) ?? ''),
  );
  assert.match(page, /\n  malformed +\S+: must be .* \(got .*\)/);

  await world.silentFor(120, ...allNodes.filter((name) => name !== 'well-1'));
  assert.equal(world.ready('well-0'), 'Unknown', 'silent nodes are detected, malformed or not');
  assert.equal(world.ready('well-1'), 'True');
  assert.equal(world.ready('node-4'), 'Unknown');
  assert.ok(world.writes.every(({ body }) => !/NaN|Invalid|undefined/.test(JSON.stringify(body) ?? '')));
});

test('a condition whose type is the name of an object property causes no taint', async () => {
  await using world = new ControllerWorld().start();
  world.addNode('unusual');
  const node = world.node('unusual');
  const unusual = [
    { type: 'constructor', status: 'name' },
    { type: 'toString', status: 'length' },
  ];
  world.putNode({ ...node, status: { ...node.status, conditions: [...(node.status?.conditions ?? []), ...unusual] } });
  world.renewing('unusual');
  await world.advance(30);
  assert.deepEqual([world.taints('unusual'), world.writes], [[], []]);
});
