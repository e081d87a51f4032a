import { hostname } from 'node:os';
import { CertificateFiles } from '../../adapters/certificate-files.ts';
import type { Refuse, SecurePages } from '../../adapters/observability-server.ts';
import type { PageTls } from '../../adapters/page-listener.ts';
import { makeServingCertificate } from '../../apiserver/http/serving-certificate.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Meter } from '../../ports/meter.ts';
import { opensslCiphers } from './cipher-suites.ts';
import { PageGate } from './page-gate.ts';
import { type ReviewApi, Reviewer } from './reviewer.ts';
import type { SecureServingConfig } from './secure-serving-config.ts';

export interface SecureServingOptions {
  readonly config: SecureServingConfig;
  /** Where the pages are served: a certificate that is made here is valid for it. */
  readonly host: string;
  /** With a rate of its own: whoever asks for pages must cost the controller nothing. */
  readonly api: ReviewApi;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly meter: Meter;
}

/** TLS and a gate for pages. {@link close} ends the looking after files and what is being asked. */
export class SecureServing implements SecurePages {
  readonly tls: PageTls;
  readonly refuse: Refuse;
  readonly #ending: AbortController;
  readonly #looking: Promise<void>;

  /** Rejects with a CertificateFileError when there is no certificate to begin with. */
  static async open(options: SecureServingOptions): Promise<SecureServing> {
    const { config } = options;
    const selfSigned = config.certFile === undefined ? await makeOwn(options) : undefined;
    return new SecureServing(options, new CertificateFiles({ ...options, paths: config, selfSigned }));
  }

  private constructor(options: SecureServingOptions, files: CertificateFiles) {
    const { config } = options;
    this.#ending = new AbortController();
    this.#looking = files.run(this.#ending.signal);
    const gate = new PageGate({
      ...options,
      alwaysAllowPaths: config.alwaysAllowPaths,
      reviewer: new Reviewer({ ...options, ...config, signal: this.#ending.signal }),
    });
    this.refuse = (_, asking) => gate.refuse(asking);
    this.tls = {
      minVersion: config.minVersion,
      ciphers: opensslCiphers(config.cipherSuites),
      current: () => files.current(),
      onChange: (listener) => files.onChange(listener),
    };
  }

  async close(): Promise<void> {
    this.#ending.abort();
    await this.#looking;
  }
}

async function makeOwn({ host, logger }: SecureServingOptions): Promise<{ certPem: string; keyPem: string }> {
  const hosts = ['localhost', '127.0.0.1', '::1', hostname(), ...(host === '' ? [] : [host])];
  const { certPem, keyPem } = await makeServingCertificate({ commonName: 'node-lifecycle-controller', hosts });
  logger.warn({ hosts }, 'no --tls-cert-file: the certificate was made in memory, and clients cannot verify it');
  return { certPem, keyPem };
}
