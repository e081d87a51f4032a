import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { randomUUID } from 'node:crypto';
import { PinoLogger } from '../../machinery/adapters/pino-logger.ts';
import { PromMeter } from '../../machinery/adapters/prom-meter.ts';
import { SystemClock } from '../../machinery/adapters/system-clock.ts';
import { SystemRandom } from '../../machinery/adapters/system-random.ts';
import { connect } from './connect.ts';
import { type CommandIo, exitSuccess, exitFailure, printNote, usageError } from '../io/command-io.ts';
import type { ConfigFileSource } from '../controller/config-reloader.ts';
import { type ControllerConfig, parseControllerConfig } from '../controller/config.ts';
import { ControllerProcess } from '../controller/process.ts';
import { dashboardAsset } from '../dashboard/assets.ts';

/** `nlc controller`: runs the controller, in a cluster or with a kubeconfig. */
export async function run(argv: readonly string[], io: CommandIo): Promise<number> {
  const parsed = parseControllerConfig(argv, (path) => readFileSync(path, 'utf8'));
  if ('problems' in parsed) return usageError(io, 'controller', parsed.problems);
  for (const warning of parsed.warnings) printNote(io, 'controller', `warning: ${warning}`);
  if (parsed.config.validateOnly) {
    io.stdout('the configuration is valid\n');
    return exitSuccess;
  }
  const { config, values } = parsed;
  const parse: ConfigFileSource['parse'] = (readFile) => parseControllerConfig(argv, readFile);
  return start(config, values.config === undefined ? undefined : { path: values.config, parse, values }, io);
}

async function start(
  config: ControllerConfig,
  configFile: ConfigFileSource | undefined,
  io: CommandIo,
): Promise<number> {
  const logger = PinoLogger.create({ format: config.logFormat, verbosity: config.v });
  const connection = await connect({ ...config, command: 'controller', logger }, io);
  if (connection === undefined) return exitFailure;
  const process = new ControllerProcess({
    config,
    configFile,
    onConfig: ({ v }) => logger.setVerbosity(v),
    connection,
    clock: new SystemClock(),
    random: new SystemRandom(),
    logger,
    meter: new PromMeter({ processMetrics: true }),
    identity: `${hostname()}_${randomUUID()}`,
    place: io.env['NODE_NAME'] ?? '',
    dashboardAssets: dashboardAsset,
  });
  try {
    if ((await process.run(io.signal)) === 'stopped') return exitSuccess;
    logger.error({}, 'leadership lost; exiting');
  } catch (error) {
    logger.error({ err: error }, 'controller loop failed; exiting so that the next leader starts from a clean state');
  }
  return exitFailure;
}
