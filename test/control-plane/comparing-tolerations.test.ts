// Tolerations with the operators Lt and Gt (TaintTolerationComparisonOperators, alpha in 1.37): what kube-apiserver admits with its gate
// on, and that the same pods stay and go as with kube-controller-manager with its gate on.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '../contract/apiserver/client.ts';
import { checkComparingAdded, checkComparingRow, comparingRows } from '../contract/apiserver/comparing-tolerations.ts';
import { NlcProcess } from '../support/nlc-process.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import { ScriptedCluster } from './scripted-cluster.ts';
import { waitUntil } from './wait-until.ts';

const gate = '--feature-gates=TaintTolerationComparisonOperators=true';
const controllerFlags = [
  '--controllers=node-lifecycle-controller,taint-eviction-controller',
  '--leader-elect=false',
  '--kube-api-qps=500',
  '--kube-api-burst=500',
];
const key = 'example.com/sla';
/** Node and value of its taint, which cannot begin with a sign: it is the value of a label. */
const taints = {
  small: '100',
  large: '9223372036854775807',
  zero: '0',
  textual: 'gold',
  padded: '0100',
  empty: '',
};
type NodeName = keyof typeof taints;
const nodes = Object.keys(taints) as readonly NodeName[];
const tolerationSeconds = 5;
/** Tolerance of the comparison of times: two control planes on one machine delete some fifty pods at once. */
const laterMsMax = 5_000;
const pollMs = 100;
/** After the last deadline: whatever goes is gone. */
const watchedMs = 12_000;

interface Group {
  readonly name: string;
  readonly operator: 'Lt' | 'Gt' | 'Equal' | 'Exists';
  readonly value?: string;
  readonly seconds?: number;
}

/** One pod of each on each node. */
const groups: readonly Group[] = [
  { name: 'gt-99', operator: 'Gt', value: '99' },
  { name: 'gt-100', operator: 'Gt', value: '100' },
  { name: 'lt-101', operator: 'Lt', value: '101' },
  { name: 'lt-100', operator: 'Lt', value: '100' },
  { name: 'lt-1', operator: 'Lt', value: '1' },
  { name: 'gt-minus-6', operator: 'Gt', value: '-6' },
  { name: 'lt-max', operator: 'Lt', value: '9223372036854775807' },
  { name: 'gt-max-1', operator: 'Gt', value: '9223372036854775806' },
  { name: 'gt-99-timed', operator: 'Gt', value: '99', seconds: tolerationSeconds },
  { name: 'lt-1-timed', operator: 'Lt', value: '1', seconds: tolerationSeconds },
  { name: 'equal-100', operator: 'Equal', value: '100' },
  { name: 'exists-timed', operator: 'Exists', seconds: tolerationSeconds },
];

/** Pods whose tolerations match the taint of their node without a limit. */
const staying = [
  ...['gt-99', 'lt-101', 'gt-minus-6', 'lt-max', 'equal-100'].map((name) => `small-${name}`),
  ...['gt-99', 'gt-100', 'gt-minus-6', 'gt-max-1'].map((name) => `large-${name}`),
  ...['lt-101', 'lt-100', 'lt-1', 'gt-minus-6', 'lt-max'].map((name) => `zero-${name}`),
];

interface Side {
  readonly plane: ControlPlane;
  readonly cluster: ScriptedCluster;
  readonly controller: string;
}

/** Milliseconds from the taint to the end of each pod that went, by name. */
type Ends = ReadonlyMap<string, number>;

const sides: Side[] = [];
let manager: NlcProcess | undefined;

async function startSide(controller: string): Promise<Side> {
  const apiServerArgs = [gate, '--disable-admission-plugins=ServiceAccount,DefaultTolerationSeconds'];
  const plane = await startControlPlane({ apiServerArgs });
  const cluster = new ScriptedCluster(plane.client());
  const side = { plane, cluster, controller };
  sides.push(side);
  for (const node of nodes) await cluster.addNode(node, 'z');
  cluster.start();
  for (const node of nodes) for (const group of groups) await addPod(side, node, group);
  return side;
}

async function addPod({ cluster }: Side, node: NodeName, { name, operator, value, seconds }: Group): Promise<void> {
  const toleration = {
    key,
    operator,
    effect: 'NoExecute' as const,
    ...(value === undefined ? {} : { value }),
    ...(seconds === undefined ? {} : { tolerationSeconds: seconds }),
  };
  await cluster.addPod(`${node}-${name}`, node, [toleration]);
}

before(async () => {
  const [upstream, nlc] = [await startSide('kube-controller-manager'), await startSide('nlc')] as const;
  await upstream.plane.startControllerManager([...controllerFlags, gate]);
  manager = NlcProcess.controller(nlc.plane.kubeconfigFile, ...controllerFlags);
  for (const { cluster } of sides) for (const node of nodes) await cluster.untilClean(node);
});

after(async () => {
  await manager?.kill();
  await Promise.all(sides.map(({ cluster }) => cluster.stop()));
  await Promise.all(sides.map(({ plane }) => plane.stop()));
});

/** Taints all nodes, and returns when each pod ended that ended. */
async function taintAll({ plane }: Side): Promise<Ends> {
  const client = plane.client();
  const strategic = { contentType: 'application/strategic-merge-patch+json' } as const;
  for (const node of nodes) {
    const spec = { taints: [{ key, value: taints[node], effect: 'NoExecute' }] };
    await client.must('PATCH', `/api/v1/nodes/${node}`, { spec }, strategic);
  }
  const fromMs = Date.now();
  const ends = new Map<string, number>();
  const all = nodes.flatMap((node) => groups.map(({ name }) => `${node}-${name}`));
  while (Date.now() - fromMs < watchedMs) {
    const { items } = await client.must<{ items: readonly { metadata: { name: string } }[] }>(
      'GET',
      '/api/v1/namespaces/default/pods',
    );
    const there = new Set(items.map(({ metadata: { name } }) => name));
    for (const name of all) if (!there.has(name) && !ends.has(name)) ends.set(name, Date.now() - fromMs);
    await sleep(pollMs);
  }
  return ends;
}

test('the same pods stay and go as with kube-controller-manager, at the same times', {
  timeout: 120_000,
}, async (t) => {
  const [upstream, nlc] = await Promise.all(sides.map(taintAll));
  assert.ok(upstream !== undefined && nlc !== undefined);
  assert.deepEqual([...nlc.keys()].sort(), [...upstream.keys()].sort());
  const stay = nodes
    .flatMap((node) => groups.map(({ name }) => `${node}-${name}`))
    .filter((name) => !upstream.has(name));
  t.diagnostic(`${upstream.size} pods go, ${stay.length} stay: ${stay.join(' ')}`);
  assert.deepEqual(stay, staying);
  const late = [...nlc].filter(([name, ms]) => ms > (upstream.get(name) ?? 0) + laterMsMax);
  const early = [...nlc].filter(
    ([name, ms]) => name.endsWith('-timed') && timedOn(name) && ms < tolerationSeconds * 1_000 - 1_000,
  );
  assert.deepEqual({ late, early }, { late: [], early: [] });
  for (const [what, ends] of Object.entries({ 'kube-controller-manager': upstream, nlc }))
    t.diagnostic(`${what}: ${describeTimes(ends)}`);
});

/** Whether the toleration with a time matches the taint of the pod's node. */
function timedOn(name: string): boolean {
  return ['small-gt-99-timed', 'large-gt-99-timed', 'zero-lt-1-timed'].includes(name) || name.includes('exists');
}

function describeTimes(ends: Ends): string {
  const ms = (timed: boolean): readonly number[] =>
    [...ends].filter(([name]) => timedOn(name) === timed).map(([, at]) => at);
  const range = (times: readonly number[]): string => `${Math.min(...times)} to ${Math.max(...times)} ms`;
  return `not tolerated ${range(ms(false))}, tolerated for ${tolerationSeconds} s ${range(ms(true))}`;
}

test('a value that changes under a toleration is compared again on both', { timeout: 60_000 }, async () => {
  for (const { plane, cluster, controller } of sides) {
    const client = plane.client();
    const strategic = { contentType: 'application/strategic-merge-patch+json' } as const;
    const spec = { taints: [{ key, value: '99', effect: 'NoExecute' }] };
    assert.ok((await cluster.pod('small-gt-99')) !== undefined, controller);
    await client.must('PATCH', '/api/v1/nodes/small', { spec }, strategic);
    await waitUntil(`small-gt-99 gone with ${controller}`, { timeoutMs: 10_000 }, async () => {
      return (await cluster.pod('small-gt-99')) === undefined;
    });
    assert.ok((await cluster.pod('small-lt-101')) !== undefined, controller);
  }
});

test('kube-apiserver with the gate answers as the embedded server does', { timeout: 120_000 }, async (t) => {
  const [{ plane }] = sides as [Side];
  const client = new Client({
    kind: 'real',
    url: plane.url,
    token: plane.adminToken,
    ca: readFileSync(plane.caFile, 'utf8'),
    forget: undefined,
    close: async () => {},
  });
  t.after(() => client.close());
  for (const row of comparingRows)
    await t.test(`${row.operator} ${JSON.stringify(row.value)}`, () => checkComparingRow(client, row));
  await t.test('added to a pod', () => checkComparingAdded(client));
});
