// `npm run bench:large-lists`: two replicas with default flags beside a node of 35,000 taints whose status is patched once a
// second, and 21 pods of 10,000 tolerations each on a node of 10,000 NoExecute taints. Prints how long the leader held its
// lease without a break and how long /livez of both took. Exit code 1: the lease changed hands or was not renewed in time, a replica
// ended, a pod was deleted, or /livez took a second. `-- --seconds=60` is a quick run.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { NlcProcess } from '../support/nlc-process.ts';
import { describeMachine } from './describe-machine.ts';
import { percentile } from './percentile.ts';

const given = process.argv.find((text) => text.startsWith('--seconds='))?.split('=')[1];
const forMs = Number(given ?? 300) * 1_000;
const electionLease = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/node-lifecycle-controller';
const nodeLeases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const nodes = ['taints', 'matrix'] as const;
const podCount = 21;
/** The duration of the lease, after which another replica may lead. */
const leaseMs = 15_000;
const livezMsMax = 1_000;

interface ElectionLease {
  readonly spec: { readonly holderIdentity: string; readonly renewTime: string };
}

const folder = mkdtempSync(join(tmpdir(), 'nlc-large-lists-'));
const kubeconfig = join(folder, 'kubeconfig');
const server = new NlcProcess(['apiserver', '--tls=false', '--port=0', `--kubeconfig-out=${kubeconfig}`]);
while (!server.stdout.includes('press Ctrl-C')) await sleep(50);
const url = /listening on (\S+),/.exec(server.stdout)?.[1] ?? '';
const token = /token: (\S+)/.exec(readFileSync(kubeconfig, 'utf8'))?.[1] ?? '';

async function send(method: string, path: string, body?: unknown): Promise<unknown> {
  const type = method === 'PATCH' ? 'application/strategic-merge-patch+json' : 'application/json';
  const headers = { authorization: `Bearer ${token}`, 'content-type': type };
  const response = await fetch(url + path, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer: unknown = await response.json();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer).slice(0, 200)}`);
  return answer;
}

const taints = (count: number, effect: string): readonly object[] =>
  Array.from({ length: count }, (_, place) => ({ key: `t${place}`, effect }));

function readyNow(): object {
  const now = new Date().toISOString().replace(/\.\d+/, '');
  return { type: 'Ready', status: 'True', lastHeartbeatTime: now, lastTransitionTime: '2026-01-01T00:00:00Z' };
}

async function build(): Promise<void> {
  const lists = { taints: taints(35_000, 'NoSchedule'), matrix: taints(10_000, 'NoExecute') };
  const tolerations = taints(10_000, 'NoExecute').map((taint) => ({ ...taint, operator: 'Exists' }));
  for (const name of nodes) {
    await send('POST', '/api/v1/nodes', { metadata: { name }, spec: { taints: lists[name] } });
    await send('POST', nodeLeases, { metadata: { name }, spec: { holderIdentity: name } });
    await beat(name);
    await renew(name);
  }
  for (let pod = 0; pod < podCount; pod += 1) {
    const spec = { nodeName: 'matrix', tolerations, containers: [{ name: 'main', image: 'a' }] };
    await send('POST', '/api/v1/namespaces/default/pods', { metadata: { name: `p${pod}` }, spec });
  }
}

const beat = (name: string): Promise<unknown> =>
  send('PATCH', `/api/v1/nodes/${name}/status`, { status: { conditions: [readyNow()] } });
const renew = (name: string): Promise<unknown> =>
  send('PATCH', `${nodeLeases}/${name}`, { spec: { renewTime: new Date().toISOString().replace('Z', '000Z') } });

/** Until the end; a round that takes longer than its period is followed by the next at once. */
async function every(periodMs: number, act: () => Promise<unknown>): Promise<void> {
  while (Date.now() < endsAtMs) {
    const done = act().catch((error: unknown) => failures.push(String(error)));
    await Promise.all([done, sleep(periodMs)]);
  }
}

const failures: string[] = [];
const livezMs: number[] = [];
const holders: string[] = [];
const ages: number[] = [];

async function probe(controller: NlcProcess): Promise<void> {
  const fromMs = performance.now();
  await fetch(`http://${controller.address('health')}/livez`).then((response) => response.text());
  livezMs.push(performance.now() - fromMs);
}

async function observeLease(): Promise<void> {
  const { spec } = (await send('GET', electionLease)) as ElectionLease;
  if (holders.at(-1) !== spec.holderIdentity) holders.push(spec.holderIdentity);
  ages.push(Date.now() - Date.parse(spec.renewTime));
}

await build();
const controllers = [NlcProcess.controller(kubeconfig), NlcProcess.controller(kubeconfig)];
while (!controllers.some((one) => one.said('leading'))) await sleep(100);
const endsAtMs = Date.now() + forMs;
await Promise.all([
  every(1_000, () => beat('taints')),
  ...nodes.map((name) => every(5_000, () => renew(name))),
  every(1_000, observeLease),
  ...controllers.map((one) => every(500, () => probe(one))),
]);
const pods = (await send('GET', '/api/v1/namespaces/default/pods')) as { readonly items: readonly unknown[] };
const round = (value: number): number => Math.round(value);
console.log(describeMachine());
console.log(`${forMs / 1_000} s, ${failures.length} requests failed ${failures[0] ?? ''}`);
console.log(
  `holders of the lease: ${holders.length}; ended replicas: ${controllers.filter((one) => one.hasEnded).length}`,
);
console.log(`age of the lease: p99 ${round(percentile(ages, 0.99))} ms, max ${round(Math.max(...ages))} ms`);
console.log(
  `/livez: p50 ${round(percentile(livezMs, 0.5))} ms, p99 ${round(percentile(livezMs, 0.99))} ms of ${livezMs.length}`,
);
console.log(
  `pods: ${pods.items.length} of ${podCount}; log of both: ${controllers.reduce((sum, one) => sum + one.logs().length, 0)} lines`,
);
const isHeld = holders.length === 1 && Math.max(...ages) < leaseMs && controllers.every((one) => !one.hasEnded);
process.exitCode = isHeld && pods.items.length === podCount && percentile(livezMs, 0.99) < livezMsMax ? 0 : 1;
await Promise.all([...controllers, server].map((one) => one.terminate()));
rmSync(folder, { recursive: true });
