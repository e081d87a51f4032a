import { hostname } from 'node:os';
import type { Ambient } from '../../machinery/ports/ambient.ts';
import { CertificateFiles } from '../../machinery/page-server/certificate-files.ts';
import type { RequestFilter, SecurePages } from '../../machinery/page-server/observability-server.ts';
import type { PageTls } from '../../machinery/page-server/page-listener.ts';
import { makeServingCertificate } from '../../machinery/page-server/serving-certificate.ts';
import { DelegatedAuthFilter } from './delegated-auth-filter.ts';
import { type ReviewApi, DelegatingAuthorizer } from './delegating-authorizer.ts';
import { opensslCiphers, type SecureServingValues } from './rules.ts';
import { splitList } from '../flags/split-list.ts';

interface SecureServingOptions extends Ambient {
  readonly config: SecureServingValues;
  /** Host of the metrics address; a self-signed certificate is valid for it. */
  readonly host: string;
  /** With a separate rate limit: page requests must not consume the rate of the controller. */
  readonly api: ReviewApi;
}

/** TLS, authentication and authorization of pages. {@link close} stops the watch of certificate files and aborts reviews. */
export class SecureServing implements SecurePages {
  readonly tls: PageTls;
  readonly refuse: RequestFilter;
  readonly #ending: AbortController;
  readonly #watchingFiles: Promise<void>;

  /** Rejects with a CertificateFileError if the certificate cannot be loaded. */
  static async open(options: SecureServingOptions): Promise<SecureServing> {
    const { config } = options;
    const selfSigned = config.tlsCertFile === undefined ? await makeOwn(options) : undefined;
    return new SecureServing(options, new CertificateFiles({ ...options, paths: config, selfSigned }));
  }

  private constructor(options: SecureServingOptions, files: CertificateFiles) {
    const { config } = options;
    this.#ending = new AbortController();
    this.#watchingFiles = files.run(this.#ending.signal);
    const filter = new DelegatedAuthFilter({
      ...options,
      alwaysAllowPaths: splitList(config.authorizationAlwaysAllowPaths),
      authorizer: new DelegatingAuthorizer({ ...options, signal: this.#ending.signal }),
    });
    this.refuse = (_, request) => filter.refuse(request);
    this.tls = {
      minVersion: config.tlsMinVersion === 'VersionTLS13' ? 'TLSv1.3' : 'TLSv1.2',
      ciphers: opensslCiphers(splitList(config.tlsCipherSuites)),
      current: () => files.current(),
      onChange: (listener) => files.onChange(listener),
    };
  }

  async close(): Promise<void> {
    this.#ending.abort();
    await this.#watchingFiles;
  }
}

async function makeOwn({ host, logger }: SecureServingOptions): Promise<{ certPem: string; keyPem: string }> {
  const hosts = ['localhost', '127.0.0.1', '::1', hostname(), ...(host === '' ? [] : [host])];
  const { certPem, keyPem } = await makeServingCertificate({ commonName: 'node-lifecycle-controller', hosts });
  logger.warn({ hosts }, 'no --tls-cert-file: using a self-signed certificate in memory, which clients cannot verify');
  return { certPem, keyPem };
}
