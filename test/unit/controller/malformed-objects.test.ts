// Ten thousand objects as no API server should send them, through the informers and the whole controller.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../../src/api/meta.ts';
import { type Lease, viewLease } from '../../../src/api/lease.ts';
import { type Node, viewNode } from '../../../src/api/node.ts';
import { type Pod, viewPod } from '../../../src/api/pod.ts';
import { SharedInformer } from '../../../src/informer/shared-informer.ts';
import { describeNodeOutlook } from '../../../src/controller/explain/describe-node-outlook.ts';
import { aCondition, ControllerWorld } from '../../support/controller-world.ts';
import { malformed } from '../../support/malformed-objects.ts';
import { ManualClock, settled } from '../../support/manual-clock.ts';
import { KeepingLogger, KeepingMeter, SeededRandom } from '../../support/quiet.ts';
import { explainNode } from './explain/explained.ts';
import { ScriptedReader } from '../../support/scripted-reader.ts';
import { names } from '../../support/zoned-world.ts';

const healthy = names(5, 'well-');
const at = '2026-01-02T03:00:00Z';

function aNode(name: string): Node {
  return {
    metadata: {
      name,
      uid: `uid-${name}`,
      resourceVersion: '1',
      creationTimestamp: at,
      labels: {
        'topology.kubernetes.io/region': 'r',
        'topology.kubernetes.io/zone': 'odd',
        'kubernetes.io/os': 'linux',
      },
    },
    spec: { unschedulable: false, taints: [{ key: 'example.com/x', effect: 'NoSchedule', timeAdded: at }] },
    status: {
      conditions: [aCondition('Ready', 'True', at), aCondition('MemoryPressure', 'False', at)],
      nodeInfo: { bootID: `boot-${name}` },
    },
  };
}

function aPod(name: string, nodeName: string): Pod {
  return {
    metadata: {
      name,
      namespace: 'default',
      uid: `uid-${name}`,
      resourceVersion: '1',
      creationTimestamp: at,
      labels: {},
    },
    spec: {
      nodeName,
      tolerations: [{ key: 'node.kubernetes.io/unreachable', operator: 'Exists', tolerationSeconds: 30 }],
    },
    status: { phase: 'Running', conditions: [aCondition('Ready', 'True', at)] },
  };
}

function aLease(name: string): Lease {
  const metadata = { name, namespace: 'kube-node-lease', uid: `uid-lease-${name}`, resourceVersion: '1' };
  return { metadata, spec: { renewTime: '2026-01-02T03:00:00.000000Z', leaseDurationSeconds: 40 } };
}

interface Arrived<Raw> {
  readonly kept: ReadonlyMap<string, Raw>;
  readonly logger: KeepingLogger;
  readonly counted: number;
}

/** Has a real informer read these objects as one state, and once more, and returns what it kept and said. */
async function read<Raw extends KubeObject>(
  resource: 'nodes' | 'pods' | 'leases',
  objects: readonly Raw[],
  view: (raw: Raw) => { readonly uid: string; readonly resourceVersion: string; readonly flaws?: readonly string[] },
): Promise<Arrived<Raw>> {
  const api = new ScriptedReader();
  const clock = new ManualClock();
  const logger = new KeepingLogger();
  const meter = new KeepingMeter();
  const informer = new SharedInformer({
    resource,
    view: (raw: Raw) => ({ ...view(raw), raw }),
    identity: ({ uid, resourceVersion }) => ({ uid, resourceVersion }),
    flawsOf: ({ flaws }) => flaws,
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
  return { kept, logger, counted: meter.series.get(`informer_malformed_objects_total{resource="${resource}"}`) ?? 0 };
}

/** Every object that has flaws was named once in the log, with its flaws, though it came twice; and counted once. */
function assertToldOnce<Raw>(
  { kept, logger, counted }: Arrived<Raw>,
  flawsOf: (raw: Raw) => readonly string[] | undefined,
): void {
  const told = logger.lines.filter(({ message }) => message.startsWith('an object is malformed'));
  const byKey = new Map(told.map(({ fields }) => [fields['key'], fields['flaws']]));
  const flawed = [...kept].filter(([, raw]) => flawsOf(raw) !== undefined);
  assert.ok(flawed.length > kept.size / 3, `${flawed.length} of ${kept.size} are malformed`);
  for (const [key, raw] of flawed) assert.deepEqual(byKey.get(key), flawsOf(raw), key);
  assert.equal(counted, told.length);
  assert.ok(told.every(({ fields }) => typeof fields['key'] === 'string'));
  assert.deepEqual(
    logger.lines.filter(({ level }) => level === 'error'),
    [],
  );
}

test('ten thousand malformed objects: each is told once, nothing crashes, and nobody is misjudged', {
  timeout: 120_000,
}, async () => {
  const world = new ControllerWorld();
  for (const name of healthy) {
    world.addNode(name, { zone: 'well' });
    world.addPod(`pod-of-${name}`, name, []);
  }
  const nodes = await read(
    'nodes',
    names(4_000, 'node-').map((name, seed) => malformed(aNode(name), seed)),
    viewNode,
  );
  const pods = await read(
    'pods',
    names(4_000, 'pod-').map((name, seed) =>
      malformed(aPod(name, seed % 2 === 0 ? `node-${seed}` : healthy[seed % 5]!), seed),
    ),
    viewPod,
  );
  const leases = await read(
    'leases',
    names(2_000, 'node-').map((name, seed) => malformed(aLease(name), seed)),
    viewLease,
  );
  assertToldOnce(nodes, (raw) => viewNode(raw).flaws);
  assertToldOnce(pods, (raw) => viewPod(raw).flaws);
  assertToldOnce(leases, (raw) => viewLease(raw).flaws);

  for (const raw of nodes.kept.values()) world.putNode(raw);
  for (const raw of pods.kept.values()) world.putPod(raw);
  for (const [key, raw] of leases.kept) world.leases.set(key, viewLease(raw));
  const everybody = [...healthy, ...nodes.kept.keys()];
  world.renewing(...everybody);
  world.start();
  await world.advance(180);
  assert.deepEqual(
    world.writes.filter(({ name }) => healthy.includes(name) || name.startsWith('pod-of-')),
    [],
  );
  assert.deepEqual(world.evicted(), []);
  const wrong = world.decisions
    .map(({ decision }) => decision)
    .filter(
      ({ kind }) =>
        kind === 'node-silent' || kind === 'pod-marked-not-ready' || kind === 'taint-queued' || kind === 'look-failed',
    );
  assert.deepEqual(wrong, [], 'everybody renews, so nobody is silent');
  for (const { verb, body } of world.writes) assert.ok(verb !== 'patch' || JSON.stringify(body).length < 10_000);
  assert.deepEqual(
    world.logger.lines.filter(({ level }) => level === 'error'),
    [],
  );

  for (const name of nodes.kept.keys())
    assert.deepEqual(explainNode(world, name).flaws, viewNode(world.node(name)).flaws ?? []);
  const page = describeNodeOutlook(
    explainNode(world, [...nodes.kept.keys()].find((name) => viewNode(world.node(name)).flaws !== undefined) ?? ''),
  );
  assert.match(page, /\n  malformed +\S+: got .*; accepted: /);

  world.goDark(...everybody.filter((name) => name !== 'well-1'));
  await world.advance(120);
  assert.equal(world.ready('well-0'), 'Unknown', 'and who is silent is called so, malformed or not');
  assert.equal(world.ready('well-1'), 'True');
  assert.equal(world.ready('node-1'), 'Unknown');
  assert.ok(world.writes.every(({ body }) => !/NaN|Invalid|undefined/.test(JSON.stringify(body) ?? '')));
  await world.stop();
});
