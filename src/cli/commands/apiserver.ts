import { readFileSync } from 'node:fs';
import { loadConnection } from '../../machinery/kubeconfig/connection.ts';
import { PinoLogger } from '../../machinery/adapters/pino-logger.ts';
import { SystemClock } from '../../machinery/adapters/system-clock.ts';
import { SystemRandom } from '../../machinery/adapters/system-random.ts';
import type { TokenUser } from '../../hollow-cluster/apiserver/http/static-tokens.ts';
import { type RunningApiServer, startApiServer } from '../../hollow-cluster/apiserver/http/api-server.ts';
import { DataDir } from '../../hollow-cluster/apiserver/data-dir/data-dir.ts';
import { DataDirError } from '../../hollow-cluster/apiserver/data-dir/data-dir-error.ts';
import type { Logger } from '../../machinery/ports/logger.ts';
import { SeededRandom } from '../../hollow-cluster/kubelet/faults/seeded-random.ts';
import { runScheduler } from '../simulation/apiserver/scheduler-process.ts';
import {
  apiserverFlags,
  selectServerControllers,
  selectServerGates,
  validateServerControllers,
  validateServerGates,
} from '../simulation/apiserver/flags.ts';
import { parseTokenFile } from '../simulation/apiserver/parse-token-file.ts';
import { type CommandIo, exitSuccess, exitFailure, usageError } from '../io/command-io.ts';
import type { FlagValues } from '../flags/flag-definition.ts';
import { readFlags } from '../flags/flag-schema.ts';
import { writePrivateFile } from '../io/write-private-file.ts';
import { servedPolicies } from '../simulation/policy-resource.ts';
import { untilAborted } from '../../machinery/supervision/abort.ts';

type ApiserverValues = FlagValues<typeof apiserverFlags>;

/** Marks a kubeconfig that `nlc apiserver` wrote and may overwrite. */
const firstLine = '# Written by nlc apiserver';

/** `nlc apiserver`: serves until the signal aborts. Without `--data-dir`, all objects are in memory and lost at the end. */
export async function run(argv: readonly string[], io: CommandIo): Promise<number> {
  const read = readFlags(argv, apiserverFlags);
  if ('problems' in read) return usageError(io, 'apiserver', read.problems);
  const { values } = read;
  const users = readUsers(values.tokenAuthFile);
  const problems = [
    ...foreignFileProblems(values.kubeconfigOut),
    ...(typeof users === 'string' ? [users] : []),
    ...validateServerControllers(values.controllers),
    ...validateServerGates(values.featureGates),
  ];
  if (problems.length > 0 || typeof users === 'string') return usageError(io, 'apiserver', problems);
  const logger = PinoLogger.create({ format: values.logFormat, verbosity: values.v });
  const dataDir = await openDataDir(values, logger, io);
  if (dataDir === 'failed') return exitFailure;
  try {
    return await serve({ values, io, logger, dataDir, users });
  } finally {
    dataDir?.close();
  }
}

interface Serving {
  readonly values: ApiserverValues;
  readonly io: CommandIo;
  readonly logger: Logger;
  readonly dataDir: DataDir | undefined;
  /** Users besides the administrator. */
  readonly users: readonly TokenUser[];
}

async function serve(serving: Serving): Promise<number> {
  const { values, io } = serving;
  const server = await start(serving);
  if (server === undefined) return exitFailure;
  try {
    writePrivateFile(values.kubeconfigOut, `${firstLine}.\n${server.kubeconfig()}`);
    io.stdout(greeting(server, values));
    await (values.scheduler ? schedule(serving) : untilAborted(io.signal));
  } finally {
    await server.close();
  }
  return exitSuccess;
}

/** Only a file that `nlc apiserver` wrote is overwritten, never another kubeconfig. */
function foreignFileProblems(path: string): readonly string[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    return [`--kubeconfig-out: cannot read ${JSON.stringify(path)}: ${codeOf(error)}`];
  }
  if (text.startsWith(firstLine)) return [];
  return [`--kubeconfig-out: must be a new file or one written by nlc apiserver (got ${JSON.stringify(path)})`];
}

/** The users of `--token-auth-file`, or the problem with it. */
function readUsers(path: string | undefined): readonly TokenUser[] | string {
  if (path === undefined) return [];
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    return `--token-auth-file: cannot read ${JSON.stringify(path)}: ${codeOf(error)}`;
  }
  const parsed = parseTokenFile(text);
  return 'users' in parsed ? parsed.users : `--token-auth-file: ${JSON.stringify(path)}: ${parsed.problem}`;
}

/** Undefined if it cannot listen on the port; the reason is printed. */
async function start({ values, io, logger, dataDir, users }: Serving): Promise<RunningApiServer | undefined> {
  try {
    return await startApiServer({
      customResources: [servedPolicies()],
      port: values.port,
      tls: values.tls,
      clock: new SystemClock(),
      random: new SystemRandom(),
      logger,
      dataDir,
      users,
      authorizationMode: values.authorizationMode,
      controllers: selectServerControllers(values.controllers),
      featureGates: selectServerGates(values.featureGates),
    });
  } catch (error) {
    if (error instanceof DataDirError) return printProblem(error, io);
    const code = codeOf(error);
    if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error;
    io.stderr(`nlc apiserver: cannot listen on port ${values.port} (${code}); --port=0 selects a free port\n`);
    return undefined;
  }
}

/** Until the signal aborts. */
async function schedule({ values, io, logger }: Serving): Promise<void> {
  const connection = await loadConnection({ kubeconfig: values.kubeconfigOut });
  const random = values.schedulerSeed === undefined ? new SystemRandom() : new SeededRandom(values.schedulerSeed);
  await runScheduler({ connection, clock: new SystemClock(), random, logger }, io.signal);
}

/** Undefined without the flag. */
async function openDataDir(
  { dataDir }: ApiserverValues,
  logger: Logger,
  io: CommandIo,
): Promise<DataDir | undefined | 'failed'> {
  if (dataDir === undefined) return undefined;
  try {
    return await DataDir.open(dataDir, logger);
  } catch (error) {
    if (!(error instanceof DataDirError)) throw error;
    printProblem(error, io);
    return 'failed';
  }
}

function printProblem({ message }: DataDirError, io: CommandIo): undefined {
  io.stderr(`nlc apiserver: --data-dir: ${message}\n`);
}

function greeting(server: RunningApiServer, { kubeconfigOut: path, dataDir }: ApiserverValues): string {
  const where = dataDir === undefined ? 'in memory' : `data in ${JSON.stringify(dataDir)}`;
  const shown = /^[\w./-]+$/.test(path) ? path : JSON.stringify(path);
  return `API server listening on ${server.url}, ${where}, on loopback only; press Ctrl-C to stop

  export KUBECONFIG=${shown}
  kubectl get nodes --watch
  nlc hollow-nodes --kubeconfig=${shown}
  nlc controller --kubeconfig=${shown}

`;
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
