// Certificates of a CA generated for tests.
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const hour = 3_600_000;

export interface Pair {
  readonly cert: string;
  readonly key: string;
}

interface Signing {
  /** For example `CN=a,O=b`. */
  readonly subject: string;
  readonly hosts?: readonly string[];
  /** Valid from now on. */
  readonly validForMs?: number;
}

/** Signs serving and client certificates; `cert` is the CA certificate. */
export class TestAuthority {
  readonly cert: string;
  readonly #certificate: x509.X509Certificate;
  readonly #keys: webcrypto.CryptoKeyPair;

  private constructor(certificate: x509.X509Certificate, keys: webcrypto.CryptoKeyPair) {
    this.cert = `${certificate.toString('pem')}\n`;
    this.#certificate = certificate;
    this.#keys = keys;
  }

  static async make(name = 'test authority', validForMs = hour): Promise<TestAuthority> {
    const keys = await newKeys();
    const certificate = await x509.X509CertificateGenerator.createSelfSigned({
      name: `CN=${name}`,
      ...validity(validForMs),
      signingAlgorithm: algorithm,
      keys,
      extensions: [new x509.BasicConstraintsExtension(true, 0, true)],
    });
    return new TestAuthority(certificate, keys);
  }

  /** The private key, PEM. */
  key(): Promise<string> {
    return pemOf(this.#keys.privateKey);
  }

  async sign({ subject, hosts = [], validForMs = hour }: Signing): Promise<Pair> {
    const keys = await newKeys();
    const { serverAuth, clientAuth } = x509.ExtendedKeyUsage;
    const names = hosts.map((value) => ({ type: /^[\d.]+$/.test(value) ? 'ip' : 'dns', value }) as const);
    const certificate = await x509.X509CertificateGenerator.create({
      subject,
      issuer: this.#certificate.subject,
      ...validity(validForMs),
      publicKey: keys.publicKey,
      signingKey: this.#keys.privateKey,
      signingAlgorithm: algorithm,
      extensions: [
        new x509.ExtendedKeyUsageExtension([hosts.length > 0 ? serverAuth : clientAuth]),
        ...(names.length > 0 ? [new x509.SubjectAlternativeNameExtension(names)] : []),
      ],
    });
    return { cert: `${certificate.toString('pem')}\n`, key: await pemOf(keys.privateKey) };
  }
}

function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
}

function validity(forMs: number): { readonly notBefore: Date; readonly notAfter: Date } {
  return { notBefore: new Date(Date.now() - hour), notAfter: new Date(Date.now() + forMs) };
}

async function pemOf(key: webcrypto.CryptoKey): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key)).toString('base64');
  return `-----BEGIN PRIVATE KEY-----\n${der.replace(/.{64}/g, '$&\n')}\n-----END PRIVATE KEY-----\n`;
}
