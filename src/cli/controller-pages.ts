// Where a controller's pages are served, and to whom.
import type { RunningObservability } from '../adapters/observability-server.ts';
import { type Route, startObservability } from '../adapters/observability-server.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { Meter } from '../ports/meter.ts';
import type { ControllerConfig } from './controller-config.ts';
import type { ReviewApi } from './secure-serving/reviewer.ts';
import { SecureServing } from './secure-serving/secure-serving.ts';

export interface ControllerPagesOptions {
  readonly config: Pick<ControllerConfig, 'metricsBindAddress' | 'healthProbeBindAddress' | 'secureServing'>;
  readonly metricsRoutes: readonly Route[];
  readonly healthRoutes: readonly Route[];
  /** Asked who somebody is and what it may read, with `--metrics-secure`. */
  readonly reviewApi: ReviewApi;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly meter: Meter;
}

/** Rejects, with nothing left open, when an address cannot be taken or there is no certificate to begin with. */
export async function startControllerPages(options: ControllerPagesOptions): Promise<RunningObservability> {
  const { config, healthRoutes, logger, metricsRoutes } = options;
  const { metricsBindAddress, healthProbeBindAddress } = config;
  const secure = await openSecureServing(options);
  const serving = startObservability({
    metrics: { address: metricsBindAddress, routes: metricsRoutes, secure },
    health: { address: healthProbeBindAddress, routes: healthRoutes },
    logger,
  });
  const pages = await serving.catch(async (error: unknown) => {
    await secure?.close();
    throw error;
  });
  if (pages.metricsAddress !== undefined) {
    logger.info({ ...pages.metricsAddress, secure: secure !== undefined }, 'serving /metrics');
  }
  if (pages.healthAddress !== undefined) logger.info({ ...pages.healthAddress }, 'serving /livez and /readyz');
  return { ...pages, close: async () => void (await Promise.all([pages.close(), secure?.close()])) };
}

async function openSecureServing(options: ControllerPagesOptions): Promise<SecureServing | undefined> {
  const { metricsBindAddress, secureServing } = options.config;
  if (!secureServing.enabled || metricsBindAddress === 'off') return undefined;
  const { host } = metricsBindAddress;
  return SecureServing.open({ ...options, config: secureServing, host, api: options.reviewApi });
}
