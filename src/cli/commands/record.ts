import { createHash, randomBytes } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { HttpKubeApi } from '../../machinery/kube-client/kube-api.ts';
import type { Connection } from '../../machinery/kube-client/connection.ts';
import { PinoLogger } from '../../machinery/adapters/pino-logger.ts';
import { PromMeter } from '../../machinery/adapters/prom-meter.ts';
import { SystemClock } from '../../machinery/adapters/system-clock.ts';
import { SystemRandom } from '../../machinery/adapters/system-random.ts';
import { formatTime } from '../../machinery/api/timestamps.ts';
import { defaultControllerOptions } from '../../controller/model/options.ts';
import { waitForCacheSync } from '../../machinery/informer/wait-for-cache-sync.ts';
import { makeInformers } from '../../manager/informers.ts';
import { ClusterRecorder } from '../../simulator/recording/cluster-recorder.ts';
import { type TraceEnd, traceApiVersion, traceKind } from '../../simulator/recording/cluster-trace.ts';
import { connect } from './connect.ts';
import type { FlagValues } from '../flags/flag-definition.ts';
import { readFlags } from '../flags/flag-schema.ts';
import { takeRepeatedFlag } from '../flags/take-operand.ts';
import { type CommandIo, exitFailure, exitSuccess, usageError } from '../io/command-io.ts';
import { userAgent } from '../io/version.ts';
import { recordFlags } from './flags.ts';

type RecordValues = FlagValues<typeof recordFlags>;

const mebibyte = 1_024 * 1_024;
const podPeriodMs = 60_000;
const checkPeriodMs = 500;
const syncMsMax = 120_000;
const hashDigits = 12;

/** `nlc record`: reads nodes, leases and pods of a cluster, and writes a trace for `nlc simulate --trace`. */
export async function run(argv: readonly string[], io: CommandIo): Promise<number> {
  const { values: labels, others } = takeRepeatedFlag(argv, 'label');
  const read = readFlags(others, recordFlags);
  const problems = validateLabels(labels, others);
  if ('problems' in read || problems.length > 0)
    return usageError(io, 'record', [...('problems' in read ? read.problems : []), ...problems]);
  const { values } = read;
  if (values.out === undefined) return usageError(io, 'record', ['--out: value required: must be a file']);
  const logger = PinoLogger.create({ format: values.logFormat, verbosity: values.v });
  const connection = await connect({ command: 'record', ...values, logger }, io);
  if (connection === undefined) return exitFailure;
  let file: number;
  try {
    file = openSync(values.out, 'wx', 0o600);
  } catch (error) {
    io.stderr(`nlc record: --out: ${error instanceof Error ? error.message : String(error)}\n`);
    return exitFailure;
  }
  try {
    return await record({ values, labels: [...new Set(labels)], connection, logger, file }, io);
  } finally {
    closeSync(file);
  }
}

const labelsMax = 20;
/** Label whose value is the name of the node. */
const hostname = 'kubernetes.io/hostname';

/** Each value by the rule of the flag, and what relates them. */
function validateLabels(labels: readonly string[], others: readonly string[]): readonly string[] {
  const problems = labels.flatMap((label) => {
    const read = readFlags([`--label=${label}`], recordFlags);
    return 'problems' in read ? read.problems : [];
  });
  const read = readFlags(others, recordFlags);
  const isHashed = 'values' in read && read.values.hashNames;
  if (labels.length > labelsMax)
    problems.push(`--label: must be given at most ${labelsMax} times (got ${labels.length})`);
  if (isHashed && labels.includes(hostname))
    problems.push(`--label: must not be ${hostname} with --hash-names, because its value is the name of the node`);
  return problems;
}

interface Recording {
  readonly values: RecordValues;
  /** Keys of the labels that are recorded. */
  readonly labels: readonly string[];
  readonly connection: Connection;
  readonly logger: PinoLogger;
  readonly file: number;
}

async function record({ values, labels, connection, logger, file }: Recording, io: CommandIo): Promise<number> {
  const clock = new SystemClock();
  const dependencies = { clock, logger, random: new SystemRandom(), meter: new PromMeter() };
  const api = new HttpKubeApi({
    ...dependencies,
    connection,
    userAgent: userAgent('record'),
    fieldManager: 'nlc-record',
    qps: 20,
    burst: 30,
    contentType: 'application/vnd.kubernetes.protobuf',
    mayWrite: () => false,
  });
  const { nodes, leases, pods } = makeInformers({ ...dependencies, api }, defaultControllerOptions);
  const recorder = new ClusterRecorder({
    write: (line) => void writeSync(file, line),
    nowMs: () => clock.monotonicMs(),
    nameOf: nameOf(values),
    bytesMax: values.maxMib * mebibyte,
    header: {
      apiVersion: traceApiVersion,
      kind: traceKind,
      startedAt: formatTime(clock.nowMs()),
      hashedNames: values.hashNames,
      gapSeconds: values.gapMs / 1_000,
      ...(labels.length === 0 ? {} : { labels }),
    },
  });
  const stop = new AbortController();
  io.signal.addEventListener('abort', () => stop.abort());
  const running = [nodes, leases, pods].map((informer) => informer.run(stop.signal));
  nodes.onChange('record', (change) => recorder.onNode(change));
  leases.onChange('record', (change) => recorder.onLease(change));
  pods.onChange('record', (change) => recorder.onPod(change));
  const missing = await waitForCacheSync([nodes, leases, pods], { clock, signal: stop.signal, timeoutMs: syncMsMax });
  let end: TraceEnd['end'] = 'stopped';
  if (missing.length === 0) {
    io.stdout(`recording ${nodes.store.size} nodes and ${pods.store.size} pods; press Ctrl-C to stop\n`);
    end = await untilEnd(recorder, values, clock, stop.signal);
  }
  stop.abort();
  await Promise.all(running);
  await api.close();
  recorder.end(end);
  if (missing.length > 0 && !io.signal.aborted) {
    io.stderr(`nlc record: cannot read ${missing.join(', ')}\n`);
    return exitFailure;
  }
  io.stdout(`recorded ${recorder.bytes} bytes (${recorder.isFull ? 'maximum size reached' : end})\n`);
  return exitSuccess;
}

async function untilEnd(
  recorder: ClusterRecorder,
  { forMs }: RecordValues,
  clock: SystemClock,
  signal: AbortSignal,
): Promise<TraceEnd['end']> {
  recorder.writePods();
  const startMs = clock.monotonicMs();
  for (let podsAtMs = startMs; !signal.aborted && !recorder.isFull; ) {
    await clock.sleep(checkPeriodMs, signal);
    const nowMs = clock.monotonicMs();
    if (forMs > 0 && nowMs - startMs >= forMs) return 'time';
    if (nowMs - podsAtMs < podPeriodMs) continue;
    recorder.writePods();
    podsAtMs = nowMs;
  }
  return recorder.isFull ? 'size' : 'stopped';
}

/** Hashes are salted, so that a name cannot be guessed from its hash. */
function nameOf({ hashNames }: RecordValues): (node: string) => string {
  if (!hashNames) return (node) => node;
  const salt = randomBytes(16);
  return (node) => `node-${createHash('sha256').update(salt).update(node).digest('hex').slice(0, hashDigits)}`;
}
