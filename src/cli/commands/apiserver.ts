import { readFileSync, writeFileSync } from 'node:fs';
import { PinoLogger } from '../../adapters/pino-logger.ts';
import { SystemClock } from '../../adapters/system-clock.ts';
import { SystemRandom } from '../../adapters/system-random.ts';
import { type RunningApiServer, startApiServer } from '../../apiserver/http/api-server.ts';
import { apiserverFlags } from '../apiserver-flags.ts';
import { type CommandIo, exitDone, exitFailed, refuse } from '../command-io.ts';
import type { FlagValues } from '../flag-definition.ts';
import { readFlags } from '../flag-schema.ts';
import { logFormat } from '../shared-flags.ts';

type ApiserverValues = FlagValues<typeof apiserverFlags>;

/** How we know a kubeconfig again as ours to overwrite. */
const firstLine = '# Written by nlc apiserver. Good for as long as that runs.\n';
/** The file holds a token. */
const onlyForOwner = 0o600;

/** `nlc apiserver`: serves until it is told to stop; then everything it held is gone. */
export async function run(argv: readonly string[], io: CommandIo): Promise<number> {
  const read = readFlags(argv, apiserverFlags);
  if ('problems' in read) return refuse(io, 'apiserver', read.problems);
  const { values } = read;
  const problems = foreignFileProblems(values.kubeconfigOut);
  if (problems.length > 0) return refuse(io, 'apiserver', problems);
  const server = await start(values, io);
  if (server === undefined) return exitFailed;
  try {
    writeFileSync(values.kubeconfigOut, firstLine + server.kubeconfig(), { mode: onlyForOwner });
    io.stdout(greeting(server, values.kubeconfigOut));
    await whenAborted(io.signal);
  } finally {
    await server.close();
  }
  return exitDone;
}

/** Somebody's real kubeconfig must not fall victim to a slip. */
function foreignFileProblems(path: string): readonly string[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    return [`--kubeconfig-out: got ${JSON.stringify(path)}; accepted: a file that can be written (${codeOf(error)})`];
  }
  if (text.startsWith(firstLine)) return [];
  return [`--kubeconfig-out: got ${JSON.stringify(path)}; accepted: a new file, or one that nlc apiserver has written`];
}

/** Undefined, with the reason printed, when the port cannot be had. */
async function start(values: ApiserverValues, io: CommandIo): Promise<RunningApiServer | undefined> {
  try {
    return await startApiServer({
      port: values.port,
      tls: values.tls,
      clock: new SystemClock(),
      random: new SystemRandom(),
      logger: PinoLogger.create({ format: logFormat(values.logFormat), verbosity: values.v }),
    });
  } catch (error) {
    const code = codeOf(error);
    if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error;
    io.stderr(`nlc apiserver: port ${values.port} cannot be had (${code}); --port=0 takes a free one\n`);
    return undefined;
  }
}

function greeting(server: RunningApiServer, path: string): string {
  const shown = /^[\w./-]+$/.test(path) ? path : JSON.stringify(path);
  return `API server at ${server.url}, in memory, for one machine; end with Ctrl-C

  export KUBECONFIG=${shown}
  kubectl get nodes --watch
  nlc hollow-nodes --kubeconfig=${shown}
  nlc controller --kubeconfig=${shown}

`;
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}

function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
