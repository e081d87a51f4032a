// A process talks to the API server on several connections, each with a rate of its own, so that none of its concerns waits
// behind another.
import { HttpKubeApi, type HttpKubeApiOptions } from '../adapters/http-kube-api.ts';
import type { ControllerConfig } from './controller-config.ts';
import { reviewRate } from './secure-serving/reviewer.ts';
import { userAgent } from './version.ts';

/** The election talks on a connection and a rate of its own: a burst of writes must not cost the lease. */
const electionRate = { qps: 10, burst: 20 } as const;
const electionTimeoutMs = 10_000;
const eventRate = { qps: 10, burst: 20 } as const;
/** Asking whether the API server is there must not wait behind what it is not answering. */
const sightRate = { qps: 20, burst: 40 } as const;
const sightTimeoutMs = 5_000;
/** A write every few seconds needs no limit. */
const unlimited = { qps: 0, burst: 0 } as const;

export type ReadingApis = Readonly<Record<'main' | 'sight' | 'reviews', HttpKubeApi>>;
export type WritingApis = Readonly<Record<'events' | 'election' | 'canary', HttpKubeApi>>;

export type ApiMeans = Pick<HttpKubeApiOptions, 'connection' | 'clock' | 'random' | 'logger' | 'meter'> & {
  readonly config: Pick<ControllerConfig, 'api' | 'leaderElection' | 'secureServing' | 'shadow'>;
};

/** Asked right before each write is sent, and before each time it is sent again. */
export type MayWrite = () => boolean;

/** Those that a shadow has, too. The main one writes as well, where it may. */
export function makeReadingApis(means: ApiMeans, mayWrite: MayWrite): ReadingApis {
  const { shadow, api, secureServing } = means.config;
  const { requestsPerSecond: qps, requestBurst: burst, contentType } = api;
  return {
    main: makeApi(means, { qps, burst, contentType, mayWrite }),
    // Whoever asks for pages costs neither our writes nor their rate; and standbys have pages too. A review is asked for
    // by a create and stores nothing, so a shadow may ask.
    reviews: makeApi(means, {
      ...reviewRate,
      retriesMax: 0,
      requestTimeoutMs: sightTimeoutMs,
      ...(shadow && !secureServing.enabled ? { mayWrite } : {}),
    }),
    sight: makeApi(means, { ...sightRate, contentType, retriesMax: 0, requestTimeoutMs: sightTimeoutMs, mayWrite }),
  };
}

export function makeWritingApis(means: ApiMeans, mayWrite: MayWrite): WritingApis {
  const { renewDeadlineMs } = means.config.leaderElection;
  return {
    // An event is a write like any other: one that waited while we were paused is not ours to tell any more.
    events: makeApi(means, { ...eventRate, mayWrite }),
    // The elector repeats by itself, and knows when it is too late to. It writes back the lease that it read, so it
    // reads all of it, as JSON.
    election: makeApi(means, {
      ...electionRate,
      retriesMax: 0,
      requestTimeoutMs: Math.min(electionTimeoutMs, renewDeadlineMs),
    }),
    canary: makeApi(means, { ...unlimited, retriesMax: 0, requestTimeoutMs: sightTimeoutMs, mayWrite }),
  };
}

type Differences = Pick<HttpKubeApiOptions, 'qps' | 'burst'> & Partial<HttpKubeApiOptions>;

function makeApi(means: ApiMeans, differences: Differences): HttpKubeApi {
  const fieldManager = 'node-lifecycle-controller';
  return new HttpKubeApi({ ...means, userAgent: userAgent('controller'), fieldManager, ...differences });
}
