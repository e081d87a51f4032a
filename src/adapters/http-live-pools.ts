import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import { type Connection, sameTls, type TlsOptions } from './http-connection.ts';
import { HttpPools } from './http-pools.ts';

/** How old the certificates we use may be, as long as they work (client-go `tlsTransportCache` reloads as often). */
export const tlsCheckMs = 300_000;

export interface LivePoolsOptions {
  readonly connection: Connection;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * The pools in use. When certificates change on disk new connections use the new ones; what is under way on the old
 * ones finishes. An unreadable file changes nothing: the old trust is better than none.
 */
export class HttpLivePools {
  readonly #options: LivePoolsOptions;
  #tls: TlsOptions;
  #pools: HttpPools;
  #checkedAtMs: number;
  #doubtful = false;
  readonly #retired = new Set<HttpPools>();

  constructor(options: LivePoolsOptions) {
    this.#options = options;
    this.#tls = options.connection.tls;
    this.#pools = new HttpPools(options.connection, this.#tls);
    this.#checkedAtMs = options.clock.monotonicMs();
  }

  async current(): Promise<HttpPools> {
    const nowMs = this.#options.clock.monotonicMs();
    if (!this.#doubtful && nowMs - this.#checkedAtMs < tlsCheckMs) return this.#pools;
    this.#checkedAtMs = nowMs;
    this.#doubtful = false;
    await this.#reload();
    return this.#pools;
  }

  /** A connection could not be made: perhaps the certificates have changed. */
  doubt(): void {
    this.#doubtful = true;
  }

  /** Cuts every connection, those of retired pools included. */
  async destroy(): Promise<void> {
    await Promise.all([this.#pools, ...this.#retired].map((pools) => pools.destroy()));
  }

  async #reload(): Promise<void> {
    const { connection, logger } = this.#options;
    try {
      const tls = await connection.reloadTls();
      if (sameTls(tls, this.#tls)) return;
      logger.info({ server: connection.server }, 'the certificates have changed and are used from now on');
      this.#retire(this.#pools);
      this.#tls = tls;
      this.#pools = new HttpPools(connection, tls);
    } catch (error) {
      logger.warn(
        { server: connection.server, err: error },
        'the certificates cannot be read again; the old ones stay',
      );
    }
  }

  #retire(pools: HttpPools): void {
    this.#retired.add(pools);
    const forget = (): void => {
      this.#retired.delete(pools);
    };
    pools.retire().then(forget, forget);
  }
}
