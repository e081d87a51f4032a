// `npm run bench:hollow-nodes`: CPU time of a lease renewal in the process that sends it, and resources of 2,000 nodes,
// compared with kwok on the same machine: both against a real kube-apiserver that counts the renewals. Figures are printed
// and not checked. Needs the control plane (`npm run control-plane`); kwok is built with Go if available, otherwise figures
// measured on another machine are used. `-- --nodes=200 --seconds=20` is a smaller run.
import { spawn, type ChildProcess, spawnSync } from 'node:child_process';
import { createWriteStream, existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type ControlPlane, startControlPlane } from '../control-plane/control-plane.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { buildNlc } from './build-nlc.ts';
import { processFigures } from './process-figures.ts';

interface Figures {
  readonly renewals: number;
  readonly renewalsPerSecond: number;
  readonly cpuMicrosecondsPerRenewal: number;
  readonly rssMb: number;
  readonly peakRssMb: number;
}

/** kwok 0.8, 2,000 nodes, 200 renewals per second, on two cores. */
const kwokElsewhere = { cpuMicrosecondsPerRenewal: 460, rssMb: 128 } as const;
/** Target: at most this share of kwok's CPU. */
const wantedShare = 0.6;
const settleMs = 25_000;

const nodes = argument('nodes', 2_000);
const seconds = argument('seconds', 60);

function argument(name: string, fallback: number): number {
  return Number(process.argv.find((text) => text.startsWith(`--${name}=`))?.split('=')[1] ?? fallback);
}

/** kwok, built once into the cache folder; undefined if it cannot be built. */
function kwokBinary(): string | undefined {
  const folder = join(
    process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'),
    'node-lifecycle-controller/kwok-0.8.0',
  );
  const binary = join(folder, 'kwok');
  if (existsSync(binary)) return binary;
  mkdirSync(folder, { recursive: true });
  console.log('building kwok; this takes minutes');
  const args = ['build', '-trimpath', '-ldflags=-s -w', '-o', binary, 'sigs.k8s.io/kwok/cmd/kwok'];
  const { status } = spawnSync('go', args, { cwd: join(import.meta.dirname, 'kwok'), stdio: 'inherit' });
  return status === 0 ? binary : undefined;
}

/** Number of lease writes executed by kube-apiserver, including a few of its own. */
async function leaseWrites(plane: ControlPlane): Promise<number> {
  const response = await plane.kubectl(['get', '--raw=/metrics']);
  const lines = response.stdout.split('\n').filter((line) => {
    return /^apiserver_request_total\{.*code="2\d\d".*resource="leases".*verb="(PUT|PATCH)"/.test(line);
  });
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

async function readyNodes(plane: ControlPlane): Promise<number> {
  const jsonpath = '{range .items[*]}{.status.conditions[?(@.type=="Ready")].status}{"\\n"}{end}';
  const { stdout } = await plane.kubectl(['get', 'nodes', `--output=jsonpath=${jsonpath}`]);
  return stdout.split('\n').filter((line) => line === 'True').length;
}

async function sleep(ms: number): Promise<void> {
  await new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** Starts a program, waits until all nodes are ready and renew their leases, and measures it for a while. */
async function measure(name: string, start: (plane: ControlPlane) => Promise<ChildProcess>): Promise<Figures> {
  await using plane = await startControlPlane();
  const child = await start(plane);
  child.stderr?.pipe(createWriteStream(join(plane.folder, `${name}.log`)));
  try {
    await waitUntil(`${nodes} ready nodes`, { timeoutMs: 300_000, pollMs: 2_000 }, async () => {
      return (await readyNodes(plane)) === nodes ? true : undefined;
    });
    await sleep(settleMs);
    return await look(plane, child.pid ?? -1);
  } finally {
    child.kill('SIGKILL');
  }
}

async function look(plane: ControlPlane, pid: number): Promise<Figures> {
  const [before, writesBefore] = [processFigures(pid), await leaseWrites(plane)];
  const startMs = performance.now();
  await sleep(seconds * 1_000);
  const [after, writesAfter] = [processFigures(pid), await leaseWrites(plane)];
  const renewals = writesAfter - writesBefore;
  return {
    renewals,
    renewalsPerSecond: renewals / ((performance.now() - startMs) / 1_000),
    cpuMicrosecondsPerRenewal: ((after.cpuSeconds - before.cpuSeconds) * 1e6) / renewals,
    rssMb: after.rssBytes / 1e6,
    peakRssMb: after.peakRssBytes / 1e6,
  };
}

async function startNlc(plane: ControlPlane): Promise<ChildProcess> {
  // kwok's nodes record no events.
  const args = [
    // Both programs are measured as shipped.
    buildNlc(plane.folder),
    'hollow-nodes',
    `--nodes=${nodes}`,
    `--kubeconfig=${plane.kubeconfigFile}`,
    '--events=false',
  ];
  const extra = (process.env['BENCH_NODE_ARGS'] ?? '').split(' ').filter((text) => text !== '');
  return spawn(process.execPath, [...extra, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
}

/** Stages of kwok's nodes, as in its own releases. */
function kwokStages(): readonly string[] {
  const args = ['list', '-m', '-f', '{{.Dir}}', 'sigs.k8s.io/kwok'];
  const { stdout } = spawnSync('go', args, { cwd: join(import.meta.dirname, 'kwok'), encoding: 'utf8' });
  const files = ['fast/node-initialize.yaml', 'heartbeat-with-lease/node-heartbeat-with-lease.yaml'];
  return files.map((file) => `--config=${join(stdout.trim(), 'kustomize/stage/node', file)}`);
}

async function startKwok(plane: ControlPlane, binary: string): Promise<ChildProcess> {
  const common = [
    `--kubeconfig=${plane.kubeconfigFile}`,
    '--manage-all-nodes=true',
    '--node-lease-duration-seconds=40',
  ];
  const args = [...common, ...kwokStages()];
  const child = spawn(binary, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const client = plane.client();
  for (let from = 0; from < nodes; from += 50) {
    const names = Array.from({ length: Math.min(50, nodes - from) }, (_, index) => `kwok-node-${from + index}`);
    await Promise.all(names.map((name) => client.must('POST', '/api/v1/nodes', { metadata: { name } })));
  }
  return child;
}

function show(name: string, figures: Figures): void {
  const { renewals, renewalsPerSecond, cpuMicrosecondsPerRenewal, rssMb, peakRssMb } = figures;
  console.log(
    `${name}: ${renewals} renewals, ${renewalsPerSecond.toFixed(1)} per second, ` +
      `${cpuMicrosecondsPerRenewal.toFixed(0)} µs of CPU per renewal, ${rssMb.toFixed(0)} MB (peak ${peakRssMb.toFixed(0)} MB)`,
  );
}

const nlc = await measure('hollow-nodes', startNlc);
show(`nlc hollow-nodes, ${nodes} nodes`, nlc);
const binary = process.argv.includes('--without-kwok') ? undefined : kwokBinary();
const kwok = binary === undefined ? kwokElsewhere : await measure('kwok', (plane) => startKwok(plane, binary));
if ('renewals' in kwok) show(`kwok, ${nodes} nodes`, kwok);
else
  console.log(`kwok, measured on another machine: ${kwok.cpuMicrosecondsPerRenewal} µs per renewal, ${kwok.rssMb} MB`);
const cpuShare = nlc.cpuMicrosecondsPerRenewal / kwok.cpuMicrosecondsPerRenewal;
console.log(
  `nlc takes ${cpuShare.toFixed(2)} of kwok's CPU per renewal (target: at most ${wantedShare}) and ` +
    `${(nlc.rssMb / kwok.rssMb).toFixed(2)} of its memory (target: at most 1)`,
);
