// A process uses several API clients, each with its own connections and rate limit, so that no kind of request waits
// behind another kind.
import { HttpKubeApi, type HttpKubeApiOptions } from '../../machinery/kube-client/kube-api.ts';
import type { Receiver } from '../../machinery/kube-client/read-pace.ts';
import { writeLanes } from '../../machinery/ports/write-lanes.ts';
import type { ControllerConfig } from './config.ts';
import {
  canaryLimits,
  electionLimits,
  eventLimits,
  freshnessLimits,
  policyStatusLimits,
} from '../../manager/client-limits.ts';
import { reviewRate } from '../secure-serving/delegating-authorizer.ts';
import { userAgent } from '../io/version.ts';

const reviewTimeoutMs = 5_000;
/** Reads in flight besides the writes: lists of informers, live reads of nodes, reads after a rejected write. */
const readsAtOnceMax = 32;

export type ReadingApis = Readonly<Record<'main' | 'freshness' | 'reviews', HttpKubeApi>>;
export type WritingApis = Readonly<Record<'events' | 'election' | 'canary' | 'witness', HttpKubeApi>> & {
  /** Absent where policies come from the config file. */
  readonly policyStatus?: HttpKubeApi;
};

type ApiDependencies = Pick<HttpKubeApiOptions, 'connection' | 'clock' | 'random' | 'logger' | 'meter'> & {
  readonly config: ControllerConfig;
};

/** The replica behind the clients. */
interface Replica {
  /** Called right before each write is sent. */
  readonly mayWrite: () => boolean;
  /** The controller, which acts on what watches deliver. */
  readonly receiver: Receiver;
}

/** The clients of every mode, shadow mode included. `main` also writes, if `mayWrite` allows it. */
export function makeReadingApis(dependencies: ApiDependencies, { mayWrite, receiver }: Replica): ReadingApis {
  const { shadow, metricsSecure, kubeApiQps: qps, kubeApiBurst: burst } = dependencies.config;
  const { kubeApiContentType: contentType, concurrentWrites } = dependencies.config;
  // Every request in flight has a connection: writes that the API server does not answer delay no other lane, and no read.
  const unaryConnectionsMax = writeLanes.length * concurrentWrites + readsAtOnceMax;
  return {
    main: makeApi(dependencies, { qps, burst, contentType, mayWrite, receiver, unaryConnectionsMax }),
    // Reviews for page requests use no rate of the controller's writes; standbys serve pages too. A review is a create
    // that stores nothing, so it is allowed in shadow mode.
    reviews: makeApi(dependencies, {
      ...reviewRate,
      retriesMax: 0,
      requestTimeoutMs: reviewTimeoutMs,
      ...(shadow && !metricsSecure ? { mayWrite } : {}),
    }),
    freshness: makeApi(dependencies, { ...freshnessLimits, contentType, mayWrite }),
  };
}

export function makeWritingApis(dependencies: ApiDependencies, { mayWrite }: Replica): WritingApis {
  const { kubeApiQps: qps, kubeApiBurst: burst } = dependencies.config;
  return {
    // An Event is a write like any other: one that was queued before leadership was lost must not be sent.
    events: makeApi(dependencies, { ...eventLimits({ qps, burst }), mayWrite }),
    // The elector writes back the lease that it read, so it reads the complete object, as JSON.
    election: makeApi(dependencies, electionLimits(dependencies.config.leaderElectRenewDeadlineMs)),
    canary: makeApi(dependencies, { ...canaryLimits, mayWrite }),
    // A standby writes what it found for the leader.
    witness: makeApi(dependencies, canaryLimits),
    ...(dependencies.config.policySource === 'crd'
      ? { policyStatus: makeApi(dependencies, { ...policyStatusLimits, mayWrite }) }
      : {}),
  };
}

type Differences = Pick<HttpKubeApiOptions, 'qps' | 'burst'> & Partial<HttpKubeApiOptions>;

function makeApi(dependencies: ApiDependencies, differences: Differences): HttpKubeApi {
  const fieldManager = 'node-lifecycle-controller';
  return new HttpKubeApi({ ...dependencies, userAgent: userAgent('controller'), fieldManager, ...differences });
}
