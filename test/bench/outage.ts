// `npm run bench:outage`: how long `nlc controller` and kube-controller-manager are without a leader, and a dead node stays
// Ready, after an outage of the API server in which the controller is restarted (docs/performance.md). Needs the control
// plane (`npm run control-plane`).
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type ControlPlane, startControlPlane } from '../control-plane/control-plane.ts';
import { freePorts } from '../../src/cli/simulation/programs/free-ports.ts';
import { controllerManagerArguments } from '../control-plane/program-arguments.ts';
import type { RestClient } from '../control-plane/rest-client.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { buildNlc, imageCommand } from './build-nlc.ts';
import { nodeObject, nodeStatus } from './side-by-side/cluster-objects.ts';

const nodes = ['n1', 'n2', 'n3'] as const;
/** Dies with the API server. */
const deadNode = 'n1';
const renewEveryMs = 10_000;
const graceSeconds = 20;
const timeoutMs = 180_000;
const pollMs = 100;

interface Lease {
  readonly spec?: { readonly holderIdentity?: string; readonly renewTime?: string };
}

interface NodeState {
  readonly status: { readonly conditions: readonly { readonly type: string; readonly status: string }[] };
}

interface Contender {
  readonly lease: string;
  readonly command: (plane: ControlPlane, port: number) => readonly [string, ...string[]];
}

const commonFlags = [
  '--controllers=node-lifecycle-controller,taint-eviction-controller',
  '--leader-elect=true',
  `--node-monitor-grace-period=${graceSeconds}s`,
];

const contenders: Readonly<Record<string, Contender>> = {
  'kube-controller-manager': {
    lease: 'kube-controller-manager',
    command: (plane, port) => {
      const { kubeconfigFile, serviceAccountKeyFile, caFile, folder, binaries } = plane;
      const certificateFolder = join(folder, 'kube-controller-manager');
      const files = { kubeconfigFile, serviceAccountKeyFile, caFile, certificateFolder };
      return [binaries.kubeControllerManager, ...controllerManagerArguments(files, port), ...commonFlags];
    },
  },
  nlc: {
    lease: 'node-lifecycle-controller',
    command: (plane, port) => {
      const pages = ['--metrics-bind-address=127.0.0.1:0', `--health-probe-bind-address=127.0.0.1:${port}`];
      const flags = ['controller', `--kubeconfig=${plane.kubeconfigFile}`, ...commonFlags, ...pages];
      return imageCommand(buildNlc(plane.folder), flags) as [string, ...string[]];
    },
  },
};

const { values } = parseArgs({ options: { away: { type: 'string', default: '45,150' } } });
console.log('| controller | API server away | leads after | dead node Unknown after |');
console.log('| --- | --- | --- | --- |');
for (const awaySeconds of values.away.split(',').map(Number))
  for (const name of Object.keys(contenders)) console.log(await measure(name, awaySeconds));

async function measure(name: string, awaySeconds: number): Promise<string> {
  const contender = contenders[name];
  if (contender === undefined) throw new RangeError(`no controller ${name}`);
  await using plane = await startControlPlane({
    apiServerArgs: ['--disable-admission-plugins=ServiceAccount,TaintNodesByCondition'],
  });
  const client = plane.client();
  const life = new AbortController();
  for (const node of nodes) await register(client, node);
  const renewing = nodes.filter((node) => node !== deadNode).map((node) => renew(client, node, life.signal));
  const [program, ...args] = contender.command(plane, (await freePorts(1))[0] ?? 0);
  const first = await plane.startProgram(`${name}-1`, program, args);
  await waitUntil('a leader', { timeoutMs }, async () => (await holderOf(client, contender)) !== undefined);
  await sleep(renewEveryMs);
  const former = await holderOf(client, contender);
  const stopped = plane.killApiServer();
  await Promise.all([stopped, first.kill()]);
  await sleep(awaySeconds * 500);
  // As a kubelet does, one that ends because no API server answers is started again.
  const restarted = keepRunning(() => plane.startProgram(`${name}-2`, program, args), life.signal);
  await sleep(awaySeconds * 500);
  const starting = plane.restartApiServer();
  await waitUntil('an answer', { timeoutMs, pollMs }, () => holderOf(client, contender));
  const answeredAtMs = performance.now();
  const after = async (what: string, ask: () => Promise<boolean>): Promise<string> => {
    await waitUntil(what, { timeoutMs, pollMs }, () => ask().catch(() => false));
    return `${((performance.now() - answeredAtMs) / 1_000).toFixed(1)} s`;
  };
  const leads = await after('a new leader', async () => {
    const holder = await holderOf(client, contender);
    return holder !== undefined && holder !== former;
  });
  const unknown = await after(`${deadNode} Unknown`, async () => (await readyOf(client, deadNode)) === 'Unknown');
  life.abort();
  await Promise.all([starting, restarted, ...renewing]);
  return `| ${name} | ${awaySeconds} s | ${leads} | ${unknown} |`;
}

type Run = Awaited<ReturnType<ControlPlane['startProgram']>>;

async function keepRunning(start: () => Promise<Run>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const run = await start();
    const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    await Promise.race([run.ended, aborted]);
    await run.kill();
    await sleep(1_000);
  }
}

async function holderOf(client: RestClient, { lease }: Contender): Promise<string | undefined> {
  const path = `/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/${lease}`;
  const answer = await client.send<Lease>('GET', path).catch(() => undefined);
  return answer?.status === 200 ? answer.body.spec?.holderIdentity || undefined : undefined;
}

async function readyOf(client: RestClient, node: string): Promise<string | undefined> {
  const { status } = await client.must<NodeState>('GET', `/api/v1/nodes/${node}`);
  return status.conditions.find(({ type }) => type === 'Ready')?.status;
}

async function register(client: RestClient, node: string): Promise<void> {
  await client.must('POST', '/api/v1/nodes', nodeObject(node, Date.now()));
  await client.must('POST', '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases', {
    metadata: { name: node },
    spec: { holderIdentity: node, leaseDurationSeconds: 40, renewTime: microTime() },
  });
}

async function renew(client: RestClient, node: string, signal: AbortSignal): Promise<void> {
  const merge = { contentType: 'application/merge-patch+json' };
  while (!signal.aborted) {
    const body = { spec: { renewTime: microTime() } };
    const path = `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${node}`;
    const answer = await client.send('PATCH', path, body, merge).catch(() => undefined);
    if (answer?.status === 200 && (await readyOf(client, node).catch(() => 'True')) !== 'True')
      await post(client, node);
    await sleep(renewEveryMs, undefined, { signal }).catch(() => undefined);
  }
}

async function post(client: RestClient, node: string): Promise<void> {
  const merge = { contentType: 'application/merge-patch+json' };
  await client.send('PATCH', `/api/v1/nodes/${node}/status`, { status: nodeStatus(Date.now()) }, merge);
}

function microTime(): string {
  return new Date().toISOString().replace('Z', '000Z');
}
