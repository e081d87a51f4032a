/**
 * The embedded API server: the part of kube-apiserver that clients of this project use, over real sockets, with explicit
 * errors for the rest. For tests, demos and simulations, not for production: there is one server, it limits little, and
 * by default every authenticated user may do everything.
 */
import { createBootstrapPolicy } from '../kinds/rbac/bootstrap-policy.ts';
import { stringify as toYaml } from 'yaml';
import type { Clock } from '../../../machinery/ports/clock.ts';
import type { Logger } from '../../../machinery/ports/logger.ts';
import type { Random } from '../../../machinery/ports/random.ts';
import type { DataDir } from '../data-dir/data-dir.ts';
import { runController, type ServerController } from '../controllers/controller-loop.ts';
import type { ServerControllerName } from '../controllers/controller-names.ts';
import { makeServerControllers } from '../controllers/server-controllers.ts';
import { SystemNamespaceController } from '../kinds/namespace/namespace-controller.ts';
import { type ServedResource, servedResources } from '../resources.ts';
import { EventExpiry } from '../kinds/event/event-expiry.ts';
import { writeAuthenticationConfig } from '../registry/authentication-config.ts';
import { createInitialObjects } from '../kinds/initial-objects.ts';
import { ObjectLister } from '../registry/object-lister.ts';
import { ObjectRegistry } from '../registry/object-registry.ts';
import { DisruptionBudgets } from '../kinds/budget/disruption-budgets.ts';
import { PodSubresources } from '../kinds/pod/pod-subresources.ts';
import { ServedTargets } from '../registry/served-targets.ts';
import type { ServerGate } from '../kinds/feature-gates.ts';
import { makeStrategies } from '../kinds/strategies.ts';
import { VersionedStore } from '../storage/versioned-store.ts';
import type { WindowSize } from '../storage/watch-window.ts';
import { DocumentHandler } from './document-handler.ts';
import { InflightLimiter } from './inflight-limiter.ts';
import { keptAdmin, keptCertificate, restoreObjects } from './kept-state.ts';
import { Listener } from './listener.ts';
import { RequestHandler } from './request-handler.ts';
import { ResourceHandler } from './resource-handler.ts';
import { type AuthorizationMode, makeSecurity } from './security.ts';
import type { TokenUser } from './static-tokens.ts';
import { StallGate } from './stall-gate.ts';
import { WatchOpener } from './watch-opener.ts';
import { WatchTicker } from './watch-ticker.ts';

export interface ApiServerOptions {
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** Default: 0, any free port. */
  readonly port?: number;
  /** Default: true. False serves plain HTTP/1.1. */
  readonly tls?: boolean;
  /** The first is the administrator of the kubeconfig. Default: one with a random token. */
  readonly tokens?: readonly TokenUser[];
  /** Users besides the administrator. */
  readonly users?: readonly TokenUser[];
  /** Default: AlwaysAllow. */
  readonly authorizationMode?: AuthorizationMode;
  /** Controllers of kube-controller-manager that the server runs itself; default: none. */
  readonly controllers?: readonly ServerControllerName[];
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Default: 300. */
  readonly defaultTolerationSeconds?: number;
  /** Those that are on; default: none. */
  readonly featureGates?: ReadonlySet<ServerGate>;
  /** Default: one hour. */
  readonly eventTtlMs?: number;
  /** Number of changes per resource kept for watches to start from. Default: it follows the traffic. */
  readonly watchWindow?: number;
  /** Default: one minute. */
  readonly bookmarkPeriodMs?: number;
  /** Resources that CustomResourceDefinitions would define; default: none. */
  readonly customResources?: readonly ServedResource[];
  /** Where objects, certificate and the token of the administrator are kept; its owner closes it. Default: in memory only. */
  readonly dataDir?: DataDir | undefined;
}

export interface RunningApiServer {
  readonly url: string;
  readonly port: number;
  /** CA that signed the serving certificate; undefined on plain HTTP. */
  readonly caPem: string | undefined;
  /** Token of the first user. */
  readonly adminToken: string;
  /** A kubeconfig for the first user, as YAML. */
  kubeconfig(): string;
  /** Revision of the last write. */
  revision(): number;
  /** Drops all states but the current one: earlier continue tokens expire. */
  compactNow(): void;
  /** Drops the change history of one resource, as `leases.coordination.k8s.io`: watches from earlier versions fail with 410. */
  shrinkWatchWindow(resource: string): void;
  /**
   * Answers no request and sends nothing on watches for this time, at most two minutes; a request whose client gives up
   * meanwhile is not carried out. Throws a RangeError for any other time.
   */
  stall(ms: number): void;
  endStall(): void;
  /** Closes every connection, as a crash would. */
  dropConnections(): void;
  /** Ends watches cleanly, then all other requests. Resolves when all work of the server has ended. */
  close(): Promise<void>;
}

const defaultTolerationSeconds = 300;
/** Upstream compacts every five minutes, up to the revision of five minutes before. */
const compactionPeriodMs = 300_000;
const expiryPeriodMs = 1_000;
/** Maximum time for requests in flight to complete at shutdown. */
const drainMs = 1_000;

/** Rejects if the address cannot be bound. */
export async function startApiServer(options: ApiServerOptions): Promise<RunningApiServer> {
  const admin = await keptAdmin(options);
  const certificate = options.tls === false ? undefined : await keptCertificate(options);
  const parts = assemble(options, { admin, caPem: certificate?.caPem });
  const listener = await Listener.open({
    host: options.host ?? '127.0.0.1',
    port: options.port ?? 0,
    certificate,
    onRequest: (incoming, outgoing) => void parts.requests.handle(incoming, outgoing),
  });
  const running = new AbortController();
  const loops = Promise.all([
    parts.ticker.run(() => parts.store.revision, running.signal),
    expireEvents(parts, options, running.signal),
    compactPeriodically(parts.store, options.clock, running.signal),
    options.dataDir?.run(options.clock, running.signal),
    ...parts.controllers.map((controller) =>
      runController(controller, { ...options, store: parts.store }, running.signal),
    ),
  ]);
  const url = urlOf(options, listener.port);
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
    stall: (ms) => parts.stall.start(ms),
    endStall: () => parts.stall.end(),
    dropConnections: () => listener.dropConnections(),
    close: async () => {
      running.abort();
      parts.stall.end();
      const closed = listener.stopAccepting();
      parts.ticker.endAll();
      await drainRequests(parts.requests, options.clock);
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
  readonly stall: StallGate;
  readonly controllers: readonly ServerController[];
}

interface Secrets {
  readonly admin: TokenUser;
  readonly caPem: string | undefined;
}

function assemble(options: ApiServerOptions, { admin, caPem }: Secrets): Parts {
  const { clock, random, logger, dataDir, customResources = [], featureGates } = options;
  const served = [...servedResources, ...customResources];
  const seconds = options.defaultTolerationSeconds ?? defaultTolerationSeconds;
  const strategies = makeStrategies(seconds, customResources, featureGates);
  const window = windowOf(options);
  const store = new VersionedStore({ clock, resources: [...strategies.keys()], window, journal: dataDir });
  if (dataDir !== undefined) restoreObjects(store, { served, strategies, dataDir, logger });
  const targets = new ServedTargets(served, strategies);
  const registry = new ObjectRegistry(store, clock, random);
  createInitialObjects(registry, targets);
  writeAuthenticationConfig(registry, targets, caPem);
  const mode = options.authorizationMode ?? 'AlwaysAllow';
  if (mode === 'RBAC') createBootstrapPolicy(registry, targets);
  const tokens = [admin, ...(options.tokens ?? []).slice(1), ...(options.users ?? [])];
  const { access, ...security } = makeSecurity({ store, mode, tokens });
  const context = { store, registry, clock, targets };
  const budgets = new DisruptionBudgets({ ...context, target: targets.of('policy', 'poddisruptionbudgets') });
  const lister = new ObjectLister(store);
  const ticker = new WatchTicker(clock, options.bookmarkPeriodMs);
  const limiter = new InflightLimiter();
  const stall = new StallGate(clock);
  const requests = new RequestHandler({
    logger,
    clock,
    limiter,
    stall,
    served,
    access,
    documents: new DocumentHandler(store, () => ({ inFlight: limiter.inFlight, watches: ticker.size }), served),
    resources: new ResourceHandler({
      targets,
      registry,
      lister,
      clock,
      access,
      ...security,
      pods: new PodSubresources(registry, clock, budgets),
      watches: new WatchOpener({ store, lister, ticker, stall, clock, random, logger }),
    }),
  });
  const expiry = new EventExpiry(store, targets.of('', 'events').strategy, clock, options.eventTtlMs);
  const controllers = [
    new SystemNamespaceController(context),
    ...makeServerControllers(options.controllers ?? [], context),
  ];
  return { store, expiry, ticker, requests, stall, controllers };
}

function windowOf({ watchWindow }: ApiServerOptions): WindowSize | undefined {
  return watchWindow === undefined ? undefined : { eventsMin: watchWindow, eventsMax: watchWindow };
}

async function expireEvents(
  { expiry }: Parts,
  { clock, logger }: ApiServerOptions,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(expiryPeriodMs, signal);
    try {
      expiry.sweep();
    } catch (error) {
      // As with a full disk. It is tried again.
      logger.error({ error }, 'cannot delete expired events');
    }
  }
}

async function compactPeriodically(store: VersionedStore, clock: Clock, signal: AbortSignal): Promise<void> {
  for (let last = store.revision; !signal.aborted; last = store.revision) {
    await clock.sleep(compactionPeriodMs, signal);
    if (!signal.aborted) store.compact(last);
  }
}

/** Waits for requests in flight, at most {@link drainMs}. */
async function drainRequests(requests: RequestHandler, clock: Clock): Promise<void> {
  const drained = new AbortController();
  await Promise.race([requests.idle(), clock.sleep(drainMs, drained.signal)]);
  drained.abort();
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
