// Serves the pages of a controller: metrics and status on one address, health probes on another.
import type { Ambient } from '../../machinery/ports/ambient.ts';
import {
  type RunningObservability,
  type Route,
  startObservability,
} from '../../machinery/page-server/observability-server.ts';
import type { ControllerConfig } from '../controller/config.ts';
import { splitList } from '../flags/split-list.ts';
import type { ReviewApi } from '../secure-serving/delegating-authorizer.ts';
import type { SecureServingValues } from '../secure-serving/rules.ts';
import { SecureServing } from '../secure-serving/secure-serving.ts';

interface ControllerPagesOptions extends Ambient {
  readonly config: Pick<ControllerConfig, 'metricsBindAddress' | 'healthProbeBindAddress' | 'allowedHosts'> &
    SecureServingValues;
  readonly metricsRoutes: readonly Route[];
  readonly healthRoutes: readonly Route[];
  /** For TokenReviews and SubjectAccessReviews, with `--metrics-secure`. */
  readonly reviewApi: ReviewApi;
}

/** Rejects, with all servers closed, if an address is in use or the certificate cannot be loaded. */
export async function startControllerPages(options: ControllerPagesOptions): Promise<RunningObservability> {
  const { config, healthRoutes, logger, metricsRoutes } = options;
  const { metricsBindAddress, healthProbeBindAddress, allowedHosts } = config;
  const secure = await openSecureServing(options);
  const serving = startObservability({
    metrics: { address: metricsBindAddress, routes: metricsRoutes, secure },
    health: { address: healthProbeBindAddress, routes: healthRoutes },
    allowedHosts: splitList(allowedHosts),
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
  const { metricsBindAddress, metricsSecure } = options.config;
  if (!metricsSecure || metricsBindAddress === 'off') return undefined;
  const { host } = metricsBindAddress;
  return SecureServing.open({ ...options, host, api: options.reviewApi });
}
