import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { PageCertificate } from './page-listener.ts';

/** client-go's dynamic certificates look once a minute and listen to the file system, too; this does without listening. */
export const certificateLookMs = 10_000;

export interface CertificatePaths {
  /** Both or neither. */
  readonly certFile: string | undefined;
  readonly keyFile: string | undefined;
  readonly clientCaFile: string | undefined;
}

export interface CertificateFilesOptions {
  readonly paths: CertificatePaths;
  /** Instead of the first two files. */
  readonly selfSigned: { readonly certPem: string; readonly keyPem: string } | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What the files say is not what a TLS server can start with. Says which, and why. */
export class CertificateFileError extends Error {
  override readonly name = 'CertificateFileError';
}

type Listener = (certificate: PageCertificate) => void;

/**
 * A serving certificate that somebody else writes anew from time to time, as cert-manager does. What cannot be used
 * changes nothing: half of a pair may be there already, and the other half will come.
 */
export class CertificateFiles {
  readonly #options: CertificateFilesOptions;
  readonly #listeners: Listener[] = [];
  #current: PageCertificate;
  #trouble: string | undefined;

  /** Throws a {@link CertificateFileError} when there is nothing to begin with. */
  constructor(options: CertificateFilesOptions) {
    this.#options = options;
    this.#current = read(options);
    this.#tell(this.#current, 'the serving certificate');
  }

  current(): PageCertificate {
    return this.#current;
  }

  onChange(listener: Listener): void {
    this.#listeners.push(listener);
  }

  /** Looks every {@link certificateLookMs} until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    await clock.sleep(certificateLookMs, signal);
    while (!signal.aborted) {
      this.look();
      await clock.sleep(certificateLookMs, signal);
    }
  }

  /** Reads the files again, and tells those who listen when they say something else. */
  look(): void {
    try {
      const next = read(this.#options);
      this.#trouble = undefined;
      if (sameCertificate(next, this.#current)) return;
      this.#current = next;
      this.#tell(next, 'the serving certificate or its authority has changed');
      for (const listener of this.#listeners) listener(next);
    } catch (error) {
      if (!(error instanceof CertificateFileError)) throw error;
      this.#complain(error);
    }
  }

  /** Once for each thing that is wrong, however often it is seen. */
  #complain(error: CertificateFileError): void {
    if (this.#trouble === error.message) return;
    this.#trouble = error.message;
    this.#options.logger.warn({ err: error }, 'the serving certificate cannot be read again; the old one stays');
  }

  #tell({ cert }: PageCertificate, message: string): void {
    const { clock, logger } = this.#options;
    const { subject, validTo } = new X509Certificate(cert);
    const fields = { subject: subject.replaceAll('\n', ','), validTo };
    if (Date.parse(validTo) < clock.nowMs()) logger.warn(fields, `${message}; its time is up, clients will refuse it`);
    else logger.info(fields, message);
  }
}

function read({ paths, selfSigned }: CertificateFilesOptions): PageCertificate {
  const { certFile = '', keyFile = '', clientCaFile } = paths;
  const cert = selfSigned?.certPem ?? readPem('--tls-cert-file', certFile);
  const key = selfSigned?.keyPem ?? readPem('--tls-private-key-file', keyFile);
  checkPair(cert, key, `--tls-cert-file ${certFile} and --tls-private-key-file ${keyFile}`);
  return { cert, key, clientCa: clientCaFile === undefined ? undefined : readAuthority(clientCaFile) };
}

function readAuthority(file: string): string {
  const pem = readPem('--client-ca-file', file);
  checkAuthority(pem, `--client-ca-file ${file}`);
  return pem;
}

function readPem(flag: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw refusal(`${flag} ${file}: accepted: a file that can be read`, cause);
  }
}

function checkPair(cert: string | Buffer, key: string | Buffer, where: string): void {
  try {
    createSecureContext({ cert, key });
  } catch (cause) {
    throw refusal(`${where}: accepted: a certificate and its private key, as PEM`, cause);
  }
}

function checkAuthority(ca: string | Buffer, where: string): void {
  try {
    // createSecureContext would take whatever is no certificate for an empty list.
    const { ca: isAuthority } = new X509Certificate(ca);
    if (!isAuthority) throw new Error('the certificate is not one of an authority');
  } catch (cause) {
    throw refusal(`${where}: accepted: certificates of authorities, as PEM`, cause);
  }
}

/** What OpenSSL says of a key names what is wrong with it and nothing that is in it. */
function refusal(message: string, cause: unknown): CertificateFileError {
  const why = cause instanceof Error ? ` (${cause.message})` : '';
  return new CertificateFileError(`${message}${why}`, { cause });
}

function sameCertificate(a: PageCertificate, b: PageCertificate): boolean {
  return a.cert === b.cert && a.key === b.key && a.clientCa === b.clientCa;
}
