import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import { callWithin } from '../supervision/call-within.ts';
import { type Connection, sameClientCertificate, sameTls, type TlsOptions } from './connection.ts';
import { HttpPools, idleConnectionMsMax, type Role } from './pools.ts';
import type { Receiver } from './read-pace.ts';

/** Interval of certificate reloads while connections work (as in client-go's `tlsTransportCache`). */
const tlsCheckMs = 300_000;
/** Requests wait this long for a reload, and then use the old certificates until it ends. */
const reloadWaitMsMax = 2_000;
/** A reload without a result after this time has failed. */
const reloadMsMax = 60_000;

/** All pools of one connection object: they use the same server and network. */
const poolsOf = new WeakMap<Connection, Set<ReloadingPools>>();

interface ReloadingPoolsOptions {
  readonly connection: Connection;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Maximum number of connections for unary calls. */
  readonly unaryConnectionsMax?: number | undefined;
  /** Called when a connection was established. */
  readonly opened: (role: Role) => void;
  /** What acts on the events of watches; absent: nothing. */
  readonly receiver?: Receiver | undefined;
}

/**
 * The pools in use. After certificates change on disk new connections use the new ones. If the CA changed, requests and
 * watches on old connections finish; if the client certificate changed, watches are closed, since they would continue with
 * the old identity. A file that cannot be read in time or parsed is ignored: the old certificates are more likely to
 * work than none.
 *
 * Idle connections can be dead without notice: the peer's kernel still acknowledges, or a firewall dropped their state.
 * After the first request without a response, and after the machine was suspended, all of them are closed at once instead
 * of costing a timeout each, including those of other clients of the same {@link Connection}.
 */
export class ReloadingPools {
  readonly #options: ReloadingPoolsOptions;
  #tls: TlsOptions;
  #pools: HttpPools;
  #checkedAtMs: number;
  #reloadRequested = false;
  #reloadFailed = false;
  #reloading: Promise<void> | undefined;
  #reloadStartedAtMs = -Infinity;
  /** Wall time minus monotonic time; it grows while the machine is suspended. */
  #wallAheadMs: number;
  readonly #retired = new Set<HttpPools>();
  readonly #destroyed = new AbortController();

  constructor(options: ReloadingPoolsOptions) {
    this.#options = options;
    this.#tls = options.connection.tls;
    this.#pools = new HttpPools({ ...options, tls: this.#tls });
    this.#checkedAtMs = options.clock.monotonicMs();
    this.#wallAheadMs = options.clock.nowMs() - this.#checkedAtMs;
    const peers = poolsOf.get(options.connection) ?? new Set();
    poolsOf.set(options.connection, peers.add(this));
  }

  /** Call it for each request: the pools may be retired later. */
  get current(): HttpPools {
    return this.#pools;
  }

  /** Reloads the certificates if due, and closes idle connections after a suspend. Never rejects. */
  async refresh(): Promise<void> {
    const nowMs = this.#options.clock.monotonicMs();
    this.#closeIdleAfterSuspend(nowMs);
    if (this.#reloadRequested || nowMs - this.#checkedAtMs >= tlsCheckMs) {
      this.#checkedAtMs = nowMs;
      this.#reloadRequested = false;
      if (this.#reloading === undefined) this.#startReload(nowMs);
    }
    await this.#waitForReload(nowMs);
  }

  #startReload(nowMs: number): void {
    this.#reloadStartedAtMs = nowMs;
    this.#reloading = this.#reload().finally(() => {
      this.#reloading = undefined;
    });
  }

  async #waitForReload(nowMs: number): Promise<void> {
    const leftMs = this.#reloadStartedAtMs + reloadWaitMsMax - nowMs;
    if (this.#reloading === undefined || leftMs <= 0) return;
    const over = new AbortController();
    await Promise.race([this.#reloading, this.#options.clock.sleep(leftMs, over.signal)]);
    over.abort();
  }

  /** A connection or the authentication failed: certificates may have been rotated. Reloads them with the next request. */
  requestReload(): void {
    this.#reloadRequested = true;
  }

  /**
   * A request on these pools got no response: later requests use new connections. Idle connections are closed; watches and
   * requests in flight continue and end by themselves. No-op for pools that are no longer in use, or destroyed.
   */
  renew(pools: HttpPools): void {
    const { connection, logger } = this.#options;
    const peers = poolsOf.get(connection);
    if (pools !== this.#pools || peers?.has(this) !== true) return;
    logger.debug({ server: connection.server }, 'request without a response; closing idle connections');
    for (const peer of peers) peer.#replace(peer.#tls, false);
  }

  /** Closes every connection, those of retired pools included. */
  async destroy(): Promise<void> {
    poolsOf.get(this.#options.connection)?.delete(this);
    this.#destroyed.abort();
    await Promise.all([this.#pools, ...this.#retired].map((pools) => pools.destroy()));
  }

  async #reload(): Promise<void> {
    try {
      const { clock, connection } = this.#options;
      const limit = { clock, ms: reloadMsMax, signal: this.#destroyed.signal };
      const tls = await callWithin(limit, () => connection.reloadTls());
      if (!sameTls(tls, this.#tls)) this.#use(tls);
      this.#reloadFailed = false;
    } catch (error) {
      this.#logReloadFailure(error);
    }
  }

  #use(tls: TlsOptions): void {
    const { connection, logger } = this.#options;
    assertUsable(tls);
    logger.info({ server: connection.server }, 'reloaded changed certificates');
    const cutWatches = !sameClientCertificate(tls, this.#tls);
    this.#replace(tls, cutWatches);
  }

  #replace(tls: TlsOptions, cutWatches: boolean): void {
    this.#retire(this.#pools, cutWatches);
    this.#tls = tls;
    this.#pools = new HttpPools({ ...this.#options, tls });
  }

  /** A forward step of the wall clock is treated as a suspend and costs a few handshakes. */
  #closeIdleAfterSuspend(nowMs: number): void {
    const { clock, connection, logger } = this.#options;
    const aheadMs = clock.nowMs() - nowMs;
    const suspendedMs = aheadMs - this.#wallAheadMs;
    this.#wallAheadMs = aheadMs;
    if (suspendedMs <= idleConnectionMsMax) return;
    logger.info({ server: connection.server, suspendedMs }, 'wall clock jumped; closing idle connections');
    this.#replace(this.#tls, false);
  }

  /** Logged once per outage of the files: while a server is down they are read again and again. */
  #logReloadFailure(error: unknown): void {
    const { server } = this.#options.connection;
    if (!this.#reloadFailed) {
      this.#options.logger.warn({ server, err: error }, 'failed to reload certificates; keeping the old ones');
    }
    this.#reloadFailed = true;
  }

  #retire(pools: HttpPools, cutWatches: boolean): void {
    this.#retired.add(pools);
    const removeRetired = (): void => {
      this.#retired.delete(pools);
    };
    pools.retire({ cutWatches }).then(removeRetired, removeRetired);
  }
}

/** Files that are being written may be empty, truncated, or a certificate and another one's key. Throws for those. */
function assertUsable({ ca, cert, key }: TlsOptions): void {
  if (ca !== undefined) assertCa(String(ca));
  createSecureContext({ cert, key });
}

/** One valid certificate is enough: a bundle may contain unsupported ones. */
function assertCa(pem: string): void {
  const certificates = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (!certificates.some(isCertificate)) throw new Error('the CA bundle contains no certificate');
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).subject !== undefined;
  } catch {
    return false;
  }
}
