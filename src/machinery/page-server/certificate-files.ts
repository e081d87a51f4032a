import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { PageCertificate } from './page-listener.ts';

/** Poll interval. client-go's dynamic certificates poll once a minute and also watch the file system; this only polls. */
const certificatePollMs = 10_000;

interface CertificatePaths {
  /** The certificate and its key: both files or neither. */
  readonly tlsCertFile: string | undefined;
  readonly tlsPrivateKeyFile: string | undefined;
  readonly clientCaFile: string | undefined;
}

interface CertificateFilesOptions {
  readonly paths: CertificatePaths;
  /** Replaces the first two files. */
  readonly selfSigned: { readonly certPem: string; readonly keyPem: string } | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The files cannot be used by a TLS server. The message names the file and the reason. */
class CertificateFileError extends Error {
  override readonly name = 'CertificateFileError';
}

type Listener = (certificate: PageCertificate) => void;

/**
 * A serving certificate whose files are renewed while the process runs, for example by cert-manager. Unusable files are
 * ignored until the next poll: one file of a pair may be replaced before the other.
 */
export class CertificateFiles {
  readonly #options: CertificateFilesOptions;
  readonly #listeners: Listener[] = [];
  #current: PageCertificate;
  #lastProblem: string | undefined;

  /** Throws a {@link CertificateFileError} if the files are unusable at the start. */
  constructor(options: CertificateFilesOptions) {
    this.#options = options;
    this.#current = read(options);
    this.#logCertificate(this.#current, 'loaded serving certificate');
  }

  current(): PageCertificate {
    return this.#current;
  }

  onChange(listener: Listener): void {
    this.#listeners.push(listener);
  }

  /** Polls every {@link certificatePollMs} until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    await clock.sleep(certificatePollMs, signal);
    while (!signal.aborted) {
      this.reload();
      await clock.sleep(certificatePollMs, signal);
    }
  }

  /** Reads the files again, and calls the listeners if the content changed. */
  reload(): void {
    try {
      const next = read(this.#options);
      this.#lastProblem = undefined;
      if (sameCertificate(next, this.#current)) return;
      this.#current = next;
      this.#logCertificate(next, 'serving certificate or client CA changed');
      for (const listener of this.#listeners) listener(next);
    } catch (error) {
      if (!(error instanceof CertificateFileError)) throw error;
      this.#logProblem(error);
    }
  }

  /** Once per problem, however often it occurs. */
  #logProblem(error: CertificateFileError): void {
    if (this.#lastProblem === error.message) return;
    this.#lastProblem = error.message;
    this.#options.logger.warn({ err: error }, 'failed to reload serving certificate; keeping the old one');
  }

  #logCertificate({ cert }: PageCertificate, message: string): void {
    const { clock, logger } = this.#options;
    const { subject, validTo } = new X509Certificate(cert);
    const fields = { subject: subject.replaceAll('\n', ','), validTo };
    logger.info(fields, message);
    if (Date.parse(validTo) < clock.nowMs()) logger.warn(fields, 'serving certificate has expired');
  }
}

function read({ paths, selfSigned }: CertificateFilesOptions): PageCertificate {
  const { tlsCertFile = '', tlsPrivateKeyFile = '', clientCaFile } = paths;
  const cert = selfSigned?.certPem ?? readPem('--tls-cert-file', tlsCertFile);
  const key = selfSigned?.keyPem ?? readPem('--tls-private-key-file', tlsPrivateKeyFile);
  checkPair(cert, key, `--tls-cert-file ${tlsCertFile} and --tls-private-key-file ${tlsPrivateKeyFile}`);
  return { cert, key, clientCa: clientCaFile === undefined ? undefined : readCa(clientCaFile) };
}

function readCa(file: string): string {
  const pem = readPem('--client-ca-file', file);
  checkCa(pem, `--client-ca-file ${file}`);
  return pem;
}

function readPem(flag: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw fileError(`${flag} ${file}: must be a readable file`, cause);
  }
}

function checkPair(cert: string | Buffer, key: string | Buffer, where: string): void {
  try {
    createSecureContext({ cert, key });
  } catch (cause) {
    throw fileError(`${where}: must be a certificate and its private key in PEM`, cause);
  }
}

function checkCa(ca: string | Buffer, where: string): void {
  try {
    // createSecureContext treats input without a certificate as an empty list.
    const { ca: isCa } = new X509Certificate(ca);
    if (!isCa) throw new Error('the certificate is not a CA certificate');
  } catch (cause) {
    throw fileError(`${where}: must be CA certificates in PEM`, cause);
  }
}

/** OpenSSL's error names what is wrong with a key and contains no key material. */
function fileError(message: string, cause: unknown): CertificateFileError {
  const why = cause instanceof Error ? ` (${cause.message})` : '';
  return new CertificateFileError(`${message}${why}`, { cause });
}

function sameCertificate(a: PageCertificate, b: PageCertificate): boolean {
  return a.cert === b.cert && a.key === b.key && a.clientCa === b.clientCa;
}
