import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import { type Connection, sameClientCertificate, sameTls, type TlsOptions } from './http-connection.ts';
import { HttpPools, type Role } from './http-pools.ts';

/** How old the certificates we use may be, as long as they work (client-go `tlsTransportCache` reloads as often). */
export const tlsCheckMs = 300_000;

export interface LivePoolsOptions {
  readonly connection: Connection;
  readonly clock: Clock;
  readonly logger: Logger;
  /** A connection was made. */
  readonly opened: (role: Role) => void;
}

/**
 * The pools in use. When certificates change on disk new connections use the new ones. With another authority what is
 * under way on the old connections finishes, watches too; with another certificate of ours watches are cut, since they
 * would go on as whoever we were. A file that cannot be read or means nothing changes nothing: the old trust is better
 * than none.
 */
export class HttpLivePools {
  readonly #options: LivePoolsOptions;
  #tls: TlsOptions;
  #pools: HttpPools;
  #checkedAtMs: number;
  #doubtful = false;
  #troubled = false;
  #reloading: Promise<void> | undefined;
  readonly #retired = new Set<HttpPools>();

  constructor(options: LivePoolsOptions) {
    this.#options = options;
    this.#tls = options.connection.tls;
    this.#pools = new HttpPools({ ...options, tls: this.#tls });
    this.#checkedAtMs = options.clock.monotonicMs();
  }

  /** To be asked for each time, and used at once: it may be retired a moment later. */
  get current(): HttpPools {
    return this.#pools;
  }

  /** Looks at the certificates again if that is due. Never rejects. */
  async refresh(): Promise<void> {
    const nowMs = this.#options.clock.monotonicMs();
    if (this.#doubtful || nowMs - this.#checkedAtMs >= tlsCheckMs) {
      this.#checkedAtMs = nowMs;
      this.#doubtful = false;
      this.#reloading ??= this.#reload().finally(() => {
        this.#reloading = undefined;
      });
    }
    await this.#reloading;
  }

  /** A connection failed, or we were not known on it: perhaps the certificates have changed. */
  doubt(): void {
    this.#doubtful = true;
  }

  /** Cuts every connection, those of retired pools included. */
  async destroy(): Promise<void> {
    await Promise.all([this.#pools, ...this.#retired].map((pools) => pools.destroy()));
  }

  async #reload(): Promise<void> {
    try {
      const tls = await this.#options.connection.reloadTls();
      if (!sameTls(tls, this.#tls)) this.#use(tls);
      this.#troubled = false;
    } catch (error) {
      this.#complain(error);
    }
  }

  #use(tls: TlsOptions): void {
    const { connection, logger } = this.#options;
    assertUsable(tls);
    logger.info({ server: connection.server }, 'the certificates have changed and are used from now on');
    const cutWatches = !sameClientCertificate(tls, this.#tls);
    this.#retire(this.#pools, cutWatches);
    this.#tls = tls;
    this.#pools = new HttpPools({ ...this.#options, tls });
  }

  /** Once for each time that they break: a server that is away makes us look again and again. */
  #complain(error: unknown): void {
    const { server } = this.#options.connection;
    if (!this.#troubled) {
      this.#options.logger.warn({ server, err: error }, 'the certificates cannot be read again; the old ones stay');
    }
    this.#troubled = true;
  }

  #retire(pools: HttpPools, cutWatches: boolean): void {
    this.#retired.add(pools);
    const forget = (): void => {
      this.#retired.delete(pools);
    };
    pools.retire({ cutWatches }).then(forget, forget);
  }
}

/** Files that are being written may be empty, cut off, or a certificate and the key of another one. Throws there. */
function assertUsable({ ca, cert, key }: TlsOptions): void {
  if (ca !== undefined) assertAuthority(String(ca));
  createSecureContext({ cert, key });
}

/** One that can be read is enough: a bundle may hold others that are strange to us. */
function assertAuthority(pem: string): void {
  const certificates = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (!certificates.some(isCertificate)) throw new Error('there is no certificate among the authorities');
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).subject !== undefined;
  } catch {
    return false;
  }
}
