import { ApiError } from '../machinery/api/api-error.ts';
import { type EvictionView, targetOf, transformEviction } from '../machinery/api/eviction.ts';
import type { KubeObject } from '../machinery/api/meta.ts';
import { SharedInformer } from '../machinery/informer/shared-informer.ts';
import type { Ambient } from '../machinery/ports/ambient.ts';
import type { KubeReader } from '../machinery/ports/kube-reader.ts';
import type { LogFields, Logger } from '../machinery/ports/logger.ts';
import type { Random } from '../machinery/ports/random.ts';
import type { ApiContact } from '../machinery/supervision/api-contact.ts';
import { evictionsByTarget } from '../controller/model/indexes.ts';

const resource = 'evictions.lifecycle.k8s.io';

/** An API that is not served, or not permitted, is tried again after this time. */
const absentRetryMs = 60_000;

interface EvictionInformerOptions extends Ambient {
  readonly api: KubeReader;
  readonly random: Random;
  readonly contact: ApiContact;
}

/**
 * The informer of Evictions. No replica waits for it, neither to be ready nor to lead: the API is alpha, and may be absent. An error
 * that repeats is logged once.
 */
export function makeEvictionInformer(options: EvictionInformerOptions): SharedInformer<KubeObject, EvictionView> {
  return new SharedInformer({
    ...options,
    api: patientReader(options.api),
    logger: loggingOnce(options.logger),
    resource,
    transform: transformEviction,
    identity: (view) => view,
    problemsOf: ({ problems }) => problems,
    shared: ['namespace'],
    // What targets no pod would all have one value.
    indexes: { [evictionsByTarget]: (eviction) => (eviction.podUid === '' ? [] : [targetOf(eviction)]) },
  });
}

/** A reader whose 403 and 404 say what follows, and when to ask again. */
function patientReader(api: KubeReader): KubeReader {
  return {
    get: (name, object, options) => api.get(name, object, options),
    list: (name, options) => explaining(api.list(name, options)),
    watch: (name, options) => explaining(api.watch(name, options)),
  };
}

async function explaining<T>(request: Promise<T>): Promise<T> {
  try {
    return await request;
  } catch (error) {
    if (!(error instanceof ApiError) || (error.reason !== 'not-found' && error.reason !== 'forbidden')) throw error;
    const { reason, code, status } = error;
    const why = reason === 'not-found' ? 'lifecycle.k8s.io/v1alpha1 is not served' : error.message;
    const message = `${why}; pods of reachable nodes do not wait for eviction responders`;
    throw new ApiError({ reason, code, status, message, retryAfterMs: absentRetryMs, cause: error });
  }
}

/** A logger whose warnings are debug lines while they are about the end of the one before. */
function loggingOnce(logger: Logger): Logger {
  let lastEnd: unknown;
  return {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields: LogFields, message) => {
      const isRepeated = fields['end'] !== undefined && fields['end'] === lastEnd;
      lastEnd = fields['end'];
      if (isRepeated) logger.debug(fields, message);
      else logger.warn(fields, message);
    },
    error: (fields, message) => logger.error(fields, message),
    child: (fields) => logger.child(fields),
  };
}
