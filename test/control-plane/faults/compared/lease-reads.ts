// The read of a lease before its node is marked Unknown, and what keeps it from giving an answer.
import assert from 'node:assert/strict';
import { graceMs, type Scene } from '../scene.ts';
import type { ComparedScenario } from './compared-scenario.ts';
import { secondsUntilUnknown } from './seconds-until.ts';

const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const merge = { contentType: 'application/merge-patch+json' } as const;
/** Time for Unknown after the end of the grace period, without a fault. */
const promptMs = 5_000;
/** Three grace periods after one ended: what has not happened by then waits for an end of the fault. */
const patienceMs = 3 * graceMs;

const touchedLease: ComparedScenario = {
  title: 'limitation 34: a silent node whose lease was changed without a later renewTime becomes Unknown',
  async play(scene, measure) {
    for (const node of ['a0', 'b0']) scene.cluster.stopHeartbeats(node);
    await scene.sleep(1_000);
    await scene.client.must('PATCH', `${leases}/a0`, { metadata: { annotations: { changed: 'once' } } }, merge);
    const other = await secondsUntilUnknown(scene, 'b0', graceMs + promptMs);
    const touched = await secondsUntilUnknown(scene, 'a0', patienceMs);
    measure('s until the other silent node was Unknown', other);
    measure('s until the node of the changed lease was Unknown, after that', touched);
    return { other: other !== undefined, touched: touched !== undefined };
  },
  facts: {
    'kube-controller-manager': { other: true, touched: false },
    nlc: { other: true, touched: true },
  },
};

const deadLeaseWatch: ComparedScenario = {
  title: 'limitation 35: while the watch of leases delivers nothing and reads work, a silent node becomes Unknown',
  async play(scene, measure) {
    const frozen = scene.proxy.freezeAnswers(/\/leases\?.*watch=/);
    assert.equal(frozen.count, 1, 'watches of leases');
    // A node whose last heartbeat has arrived may be evaluated before the first that shows the cache to be behind.
    await scene.sleep(2_000);
    scene.cluster.stopHeartbeats('a0');
    const during = await secondsUntilUnknown(scene, 'a0', graceMs + patienceMs);
    measure('s until the silent node was Unknown', during);
    frozen.cut();
    const afterwards = await secondsUntilUnknown(scene, 'a0', graceMs + promptMs);
    measure('s after the watch was closed', afterwards);
    const nodes = await scene.nodes();
    const unknown = nodes.filter(({ metadata }) => isUnknown(nodes, metadata.name));
    return { during: during !== undefined, afterwards: afterwards !== undefined, unknown: unknown.length };
  },
  facts: {
    'kube-controller-manager': { during: false, afterwards: true, unknown: 1 },
    nlc: { during: true, afterwards: true, unknown: 1 },
  },
};

const unreadableLeases: ComparedScenario = {
  title: 'limitation 36: a silent node whose lease cannot be read becomes Unknown after a bounded time',
  ownArgs: ['--lease-confirmation-hold=6s'],
  async play(scene, measure) {
    for (const [node, code] of [['a0', 403] as const, ['b0', 503] as const])
      scene.proxy.inject({
        methods: ['GET'],
        path: new RegExp(`/leases/${node}([?]|$)`),
        fault: { kind: 'answer', code, form: 'status' },
      });
    for (const node of ['a0', 'b0', 'c0']) scene.cluster.stopHeartbeats(node);
    const readable = await secondsUntilUnknown(scene, 'c0', graceMs + promptMs);
    const [forbidden, unavailable] = await Promise.all([
      secondsUntilUnknown(scene, 'a0', patienceMs),
      secondsUntilUnknown(scene, 'b0', patienceMs),
    ]);
    measure('s until the node with a readable lease was Unknown', readable);
    measure('s until that with 403 was Unknown, after that', forbidden);
    measure('s until that with 503 was Unknown, after that', unavailable);
    const readings = { readable, forbidden, unavailable };
    return Object.fromEntries(Object.entries(readings).map(([what, seconds]) => [what, seconds !== undefined]));
  },
  facts: {
    'kube-controller-manager': { readable: true, forbidden: false, unavailable: false },
    nlc: { readable: true, forbidden: true, unavailable: true },
  },
};

const zoneOfTwenty = Array.from({ length: 20 }, (_, index) => `b${index}`);
const countedMs = 10_000;

const repeatedReads: ComparedScenario = {
  title: 'limitation 37: the lease of a node that is Unknown is not read again and again',
  nodes: Object.fromEntries([
    ...['a0', 'a1', 'a2', 'c0', 'c1', 'c2'].map((name) => [name, name.slice(0, 1)] as const),
    ...zoneOfTwenty.map((name) => [name, 'b'] as const),
  ]),
  async play(scene, measure) {
    for (const node of zoneOfTwenty) scene.cluster.stopHeartbeats(node);
    const tookMs = await scene.within(graceMs + patienceMs, 'all silent nodes are Unknown', async () => {
      const nodes = await scene.nodes();
      return zoneOfTwenty.every((name) => isUnknown(nodes, name));
    });
    measure('s until 20 silent nodes were Unknown', tookMs / 1_000);
    const fromMs = performance.now();
    await scene.sleep(countedMs);
    const reads = scene.proxy.requests.filter(
      ({ method, path, atMs }) => method === 'GET' && atMs >= fromMs && /\/leases\/b\d+$/.test(path),
    ).length;
    measure('reads of their leases in the next 10 s', reads);
    return { readEachAgain: reads >= 2 * zoneOfTwenty.length };
  },
  facts: {
    'kube-controller-manager': { readEachAgain: true },
    nlc: { readEachAgain: false },
  },
};

function isUnknown(nodes: Awaited<ReturnType<Scene['nodes']>>, name: string): boolean {
  const conditions = nodes.find(({ metadata }) => metadata.name === name)?.status.conditions ?? [];
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'Unknown');
}

export const leaseReadScenarios: readonly ComparedScenario[] = [
  touchedLease,
  deadLeaseWatch,
  unreadableLeases,
  repeatedReads,
];
