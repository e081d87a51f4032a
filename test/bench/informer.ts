// `npm run bench:informer`: lease updates per second on one core, and time and memory to load a large cluster, from bytes
// on a socket to a called listener. Figures are printed and not checked: they depend on the machine.
// `-- --scale=0.1` loads a tenth of the cluster.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Form } from './cluster-objects.ts';

/** client-go's informer on two cores at 2.7 GHz, and the target on the same machine. */
const reference = { protobuf: 168_000, json: 26_000 } as const;
const targets = {
  updates: { protobuf: 500_000, json: 150_000 },
  loadSeconds: 10,
  loadBytes: 600_000_000,
} as const;
const leases = 10_000;
const scale = Number(process.argv.find((argument) => argument.startsWith('--scale='))?.split('=')[1] ?? 1);
const cluster = { nodes: Math.round(100_000 * scale), pods: Math.round(1_000_000 * scale) };

interface Row {
  readonly what: string;
  readonly figure: string;
  readonly target: string;
  readonly ratio: string;
}

function start(script: string, args: readonly string[], nodeArgs: readonly string[] = []): ChildProcess {
  return fork(join(import.meta.dirname, script), args, { execArgv: [...nodeArgs] });
}

async function messageOf<T>(child: ChildProcess): Promise<T> {
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`it exited with code ${String(code)} without output`);
  });
  const [message] = (await Promise.race([once(child, 'message'), ended])) as [T];
  return message;
}

/** Starts a source with these arguments and a reader of it; resolves with the reader's figures. */
async function measure<T>(sourceArgs: readonly string[], form: Form, what: 'updates' | 'load'): Promise<T> {
  const source = start('watch-source.ts', sourceArgs);
  try {
    const { port } = await messageOf<{ readonly port: number }>(source);
    const reader = start('informer-reader.ts', [`http://127.0.0.1:${port}`, form, what], ['--expose-gc']);
    return await messageOf<T>(reader);
  } finally {
    source.disconnect();
  }
}

const thousands = (value: number): string => `${Math.round(value / 1_000).toLocaleString('en')}k`;
const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;

async function updateRows(form: Form): Promise<readonly Row[]> {
  const source = [`--leases=${leases}`, '--endless'];
  const { perSecond, perCpuSecond } = await measure<Updates>(source, form, 'updates');
  const target = targets.updates[form];
  const ratio = `${(perCpuSecond / target).toFixed(2)} of the target, ${(perCpuSecond / reference[form]).toFixed(1)} times client-go`;
  const what = `lease updates per second on one core, ${form}`;
  return [
    {
      what,
      figure: `${thousands(perCpuSecond)} (wall clock ${thousands(perSecond)})`,
      target: thousands(target),
      ratio,
    },
  ];
}

interface Updates {
  readonly perSecond: number;
  readonly perCpuSecond: number;
}

interface Took {
  readonly seconds: number;
  readonly cpuSeconds: number;
}

interface Load {
  readonly nodesTook: Took;
  readonly podsTook: Took;
  readonly peak: number;
  readonly rssAfterCollection: number;
  readonly bytesPerNode: number;
  readonly bytesPerPod: number;
}

async function loadRows(form: Form): Promise<readonly Row[]> {
  const source = [`--nodes=${cluster.nodes}`, `--pods=${cluster.pods}`];
  const load = await measure<Load>(source, form, 'load');
  const { nodesTook, podsTook } = load;
  const seconds = nodesTook.cpuSeconds + podsTook.cpuSeconds;
  const clockSeconds = nodesTook.seconds + podsTook.seconds;
  const secondsMax = targets.loadSeconds * scale;
  const bytesMax = targets.loadBytes * scale;
  const plain = { target: '', ratio: '' };
  return [
    {
      what: `${thousands(cluster.nodes)} nodes and ${thousands(cluster.pods)} pods in sync, ${form}`,
      figure: `${seconds.toFixed(1)} s of one core (wall clock ${clockSeconds.toFixed(1)} s)`,
      target: `${secondsMax} s`,
      ratio: `${(seconds / secondsMax).toFixed(2)} of the target`,
    },
    {
      what: `  resident memory, peak / after a garbage collection`,
      figure: `${megabytes(load.peak)} / ${megabytes(load.rssAfterCollection)}`,
      target: megabytes(bytesMax),
      ratio: `${(load.peak / bytesMax).toFixed(2)} of the target`,
    },
    { what: '  a cached node', figure: `${Math.round(load.bytesPerNode)} B`, ...plain },
    { what: '  a cached pod', figure: `${Math.round(load.bytesPerPod)} B`, ...plain },
  ];
}

function print(rows: readonly Row[]): void {
  const titles: Row = { what: 'what', figure: 'measured', target: 'target', ratio: 'ratio' };
  const columns = ['what', 'figure', 'target', 'ratio'] as const;
  const widths = columns.map((column) => Math.max(...[titles, ...rows].map((row) => row[column].length)));
  for (const row of [titles, ...rows]) {
    console.log(
      columns
        .map((column, place) => row[column].padEnd(widths[place] ?? 0))
        .join('  ')
        .trimEnd(),
    );
  }
}

const rows: Row[] = [];
for (const form of ['protobuf', 'json'] as const) rows.push(...(await updateRows(form)));
for (const form of ['protobuf', 'json'] as const) rows.push(...(await loadRows(form)));
print(rows);
