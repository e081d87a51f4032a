/**
 * The embedded API server: enough of kube-apiserver, over real sockets, that clients cannot tell - and a clear refusal for
 * the rest. A servant of tests, demos and rehearsals, not for production: it keeps everything in memory and lets every
 * authenticated user do everything.
 */
import { stringify as toYaml } from 'yaml';
import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Random } from '../../ports/random.ts';
import { findServedResource } from '../discovery/served-resources.ts';
import { EventExpiry } from '../registry/event-expiry.ts';
import { initialNamespaces } from '../registry/namespace-lifecycle.ts';
import { ObjectLister } from '../registry/object-lister.ts';
import { ObjectRegistry } from '../registry/object-registry.ts';
import { PodSubresources } from '../registry/pod-subresources.ts';
import { makeStrategies } from '../registry/strategies.ts';
import type { Strategy } from '../registry/strategy.ts';
import { VersionedStore } from '../storage/versioned-store.ts';
import type { WindowSize } from '../storage/watch-window.ts';
import { DocumentHandler } from './document-handler.ts';
import { Listener } from './listener.ts';
import { RequestGate } from './request-gate.ts';
import { RequestHandler } from './request-handler.ts';
import { ResourceHandler } from './resource-handler.ts';
import { makeServingCertificate } from './serving-certificate.ts';
import { makeAdmin, TokenAuthenticator, type TokenUser } from './token-authenticator.ts';
import { WatchOpener } from './watch-opener.ts';
import { WatchTicker } from './watch-ticker.ts';

export interface ApiServerOptions {
  /** 127.0.0.1 unless said otherwise. */
  readonly host?: string;
  /** 0, the default, takes any free one. */
  readonly port?: number;
  /** Without it, plain HTTP/1.1. On by default. */
  readonly tls?: boolean;
  /** By default one administrator with a random token. */
  readonly tokens?: readonly TokenUser[];
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** 300 by default. */
  readonly defaultTolerationSeconds?: number;
  /** An hour by default. */
  readonly eventTtlMs?: number;
  /** Changes kept for watches to start from, a resource: fixed, instead of following the traffic. */
  readonly watchWindow?: number;
  /** A minute by default. */
  readonly bookmarkPeriodMs?: number;
}

export interface RunningApiServer {
  readonly url: string;
  readonly port: number;
  /** The authority that signed the serving certificate; undefined on plain HTTP. */
  readonly caPem: string | undefined;
  /** Token of the first user. */
  readonly adminToken: string;
  /** A kubeconfig for the first user, as YAML. */
  kubeconfig(): string;
  /** Revision of the last write. */
  revision(): number;
  /** Forgets all states but the present one: continue tokens from before expire. */
  compactNow(): void;
  /** Forgets the changes of one resource (by plural): watches from before start with 410. */
  shrinkWatchWindow(resource: string): void;
  /** Cuts every client, as a crash would. */
  dropConnections(): void;
  /** Ends watches cleanly, then everything else. Resolves when nothing of the server is left. */
  close(): Promise<void>;
}

const defaultTolerationSeconds = 300;
/** Upstream compacts every five minutes to where it was five minutes before. */
const compactionPeriodMs = 300_000;
const housekeepingPeriodMs = 1_000;
/** At the end, answers under way have this long to get through. */
const partingMs = 1_000;

/** Rejects where the address cannot be had. */
export async function startApiServer(options: ApiServerOptions): Promise<RunningApiServer> {
  const parts = assemble(options);
  const certificate = options.tls === false ? undefined : await makeServingCertificate();
  const listener = await Listener.open({
    host: options.host ?? '127.0.0.1',
    port: options.port ?? 0,
    certificate,
    onRequest: (incoming, outgoing) => void parts.requests.handle(incoming, outgoing),
  });
  const running = new AbortController();
  const loops = Promise.all([
    parts.ticker.run(() => parts.store.revision, running.signal),
    keepHouse(parts, options.clock, running.signal),
    compactAtTimes(parts.store, options.clock, running.signal),
  ]);
  const url = urlOf(options, listener.port);
  const [admin] = parts.tokens;
  const caPem = certificate?.caPem;
  return {
    url,
    port: listener.port,
    caPem,
    adminToken: admin.token,
    kubeconfig: () => describeAccess({ url, caPem, user: admin.user, token: admin.token }),
    revision: () => parts.store.revision,
    compactNow: () => parts.store.compact(),
    shrinkWatchWindow: (resource) => parts.store.table(resource).window.clear(parts.store.revision),
    dropConnections: () => listener.dropConnections(),
    close: async () => {
      running.abort();
      const closed = listener.retire();
      parts.ticker.endAll();
      await part(parts.requests, options.clock);
      listener.dropConnections();
      await Promise.all([closed, loops]);
    },
  };
}

interface Parts {
  readonly store: VersionedStore;
  readonly expiry: EventExpiry;
  readonly ticker: WatchTicker;
  readonly requests: RequestHandler;
  readonly tokens: readonly [TokenUser, ...TokenUser[]];
}

function assemble(options: ApiServerOptions): Parts {
  const { clock, random, logger } = options;
  const strategies = makeStrategies({
    defaultTolerationSeconds: options.defaultTolerationSeconds ?? defaultTolerationSeconds,
  });
  const store = new VersionedStore({ clock, resources: [...strategies.keys()], window: windowOf(options) });
  const registry = new ObjectRegistry(store, clock, random);
  createNamespaces(registry, strategies);
  const lister = new ObjectLister(store);
  const ticker = new WatchTicker(clock, options.bookmarkPeriodMs);
  const gate = new RequestGate();
  const [first = makeAdmin(), ...others] = options.tokens ?? [];
  const tokens = [first, ...others] as const;
  const requests = new RequestHandler({
    logger,
    gate,
    authenticator: new TokenAuthenticator(tokens),
    documents: new DocumentHandler(store, () => ({ inFlight: gate.inFlight, watches: ticker.size })),
    resources: new ResourceHandler({
      strategies,
      registry,
      lister,
      clock,
      pods: new PodSubresources(registry, clock),
      watches: new WatchOpener({ store, lister, ticker, clock, random }),
    }),
  });
  const expiry = new EventExpiry(store, strategyOf(strategies, 'events'), clock, options.eventTtlMs);
  return { store, expiry, ticker, requests, tokens };
}

function windowOf({ watchWindow }: ApiServerOptions): WindowSize | undefined {
  return watchWindow === undefined ? undefined : { eventsMin: watchWindow, eventsMax: watchWindow };
}

function strategyOf(strategies: ReadonlyMap<string, Strategy>, plural: string): Strategy {
  const strategy = strategies.get(plural);
  if (strategy === undefined) throw new Error(`there is no strategy for ${plural}`);
  return strategy;
}

function createNamespaces(registry: ObjectRegistry, strategies: ReadonlyMap<string, Strategy>): void {
  const served = findServedResource('', 'v1', 'namespaces');
  if (served === undefined) throw new Error('namespaces are not served');
  const target = { served, strategy: strategyOf(strategies, 'namespaces'), namespace: undefined, name: undefined };
  for (const name of initialNamespaces) {
    const body = { metadata: { name } };
    registry.create({ ...target, endpoint: '' }, body, { dryRun: false, fieldValidation: 'Strict' });
  }
}

async function keepHouse({ expiry }: Parts, clock: Clock, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(housekeepingPeriodMs, signal);
    expiry.sweep();
  }
}

async function compactAtTimes(store: VersionedStore, clock: Clock, signal: AbortSignal): Promise<void> {
  for (let last = store.revision; !signal.aborted; last = store.revision) {
    await clock.sleep(compactionPeriodMs, signal);
    if (!signal.aborted) store.compact(last);
  }
}

/** Waits for the answers under way, but not for readers who do not read. */
async function part(requests: RequestHandler, clock: Clock): Promise<void> {
  const enough = new AbortController();
  await Promise.race([requests.idle(), clock.sleep(partingMs, enough.signal)]);
  enough.abort();
}

function urlOf(options: ApiServerOptions, port: number): string {
  const host = options.host ?? '127.0.0.1';
  const shown = host.includes(':') ? `[${host}]` : host;
  return `${options.tls === false ? 'http' : 'https'}://${shown}:${port}`;
}

interface Access {
  readonly url: string;
  readonly caPem: string | undefined;
  readonly user: string;
  readonly token: string;
}

function describeAccess({ url, caPem, user, token }: Access): string {
  const name = 'embedded';
  const authority = caPem === undefined ? {} : { 'certificate-authority-data': Buffer.from(caPem).toString('base64') };
  return toYaml({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server: url, ...authority } }],
    users: [{ name: user, user: { token } }],
    contexts: [{ name, context: { cluster: name, user } }],
    'current-context': name,
  });
}
