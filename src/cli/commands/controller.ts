import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { randomUUID } from 'node:crypto';
import { ConnectionError } from '../../adapters/connection-error.ts';
import { loadConnection } from '../../adapters/kube-connection.ts';
import { PinoLogger } from '../../adapters/pino-logger.ts';
import { PromMeter } from '../../adapters/prom-meter.ts';
import { SystemClock } from '../../adapters/system-clock.ts';
import { SystemRandom } from '../../adapters/system-random.ts';
import type { Connection } from '../../adapters/http-connection.ts';
import { type CommandIo, exitDone, exitFailed, refuse } from '../command-io.ts';
import type { ConfigFileSource } from '../config-reloader.ts';
import { type ControllerConfig, parseControllerConfig } from '../controller-config.ts';
import { ControllerProcess } from '../controller-process.ts';

/** `nlc controller`: the main job, in a cluster or with a kubeconfig. */
export async function run(argv: readonly string[], io: CommandIo): Promise<number> {
  const parsed = parseControllerConfig(argv, (path) => readFileSync(path, 'utf8'));
  if ('problems' in parsed) return refuse(io, 'controller', parsed.problems);
  for (const warning of parsed.warnings) io.stderr(`nlc controller: warning: ${warning}\n`);
  if (parsed.config.validateOnly) {
    io.stdout('the configuration is valid\n');
    return exitDone;
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
  const logger = PinoLogger.create(config.log);
  const connection = await connect(config, io, logger);
  if (connection === undefined) return exitFailed;
  const process = new ControllerProcess({
    config,
    configFile,
    onConfig: ({ log }) => logger.setVerbosity(log.verbosity),
    connection,
    clock: new SystemClock(),
    random: new SystemRandom(),
    logger,
    meter: new PromMeter({ processMetrics: true }),
    identity: `${hostname()}_${randomUUID()}`,
  });
  try {
    if ((await process.run(io.signal)) === 'stopped') return exitDone;
    logger.error({}, 'leadership was lost: ending, so that whoever starts next begins with a clear view');
  } catch (error) {
    logger.error({ err: error }, 'the work broke: ending, so that whoever starts next begins with a clear view');
  }
  return exitFailed;
}

async function connect({ api }: ControllerConfig, io: CommandIo, logger: PinoLogger): Promise<Connection | undefined> {
  const { kubeconfig, context } = api;
  try {
    return await loadConnection({
      logger,
      ...(kubeconfig === undefined ? {} : { kubeconfig }),
      ...(context === undefined ? {} : { context }),
    });
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error;
    io.stderr(`nlc controller: no way to the API server: ${error.message}\n`);
    return undefined;
  }
}
