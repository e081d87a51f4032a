/**
 * A certificate authority that lives as long as one server, and the serving certificate it signs. Clients get the CA's
 * PEM in their kubeconfig; its private key is never exported, so it signs no other certificate.
 */
import { webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import type { x509 as X509 } from './x509-package.ts';

interface ServingCertificateOptions {
  /** Additional subject alternative names, besides those of every API server. */
  readonly hosts?: readonly string[];
  /** Common name: `kube-apiserver` when absent. Another server has no names but its hosts. */
  readonly commonName?: string;
  /** Wall time in milliseconds; default: the machine's clock, because clients validate with their own. */
  readonly nowMs?: number;
}

export interface ServingCertificate {
  readonly caPem: string;
  readonly certPem: string;
  /** PKCS #8, not encrypted. */
  readonly keyPem: string;
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const apiServerName = 'kube-apiserver';
const usualHosts = ['localhost', '127.0.0.1', '::1', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc'];
/** Tolerated lag of a client's clock. */
const backdatedMs = 5 * 60_000;
const validForMs = 365 * 24 * 3_600_000;

/** Creates a P-256 CA and a serving certificate signed by it, valid for a year. Rejects only if the runtime lacks ECDSA. */
export async function makeServingCertificate(options: ServingCertificateOptions = {}): Promise<ServingCertificate> {
  const x509 = await loadX509();
  const nowMs = options.nowMs ?? Date.now();
  const validity = { notBefore: new Date(nowMs - backdatedMs), notAfter: new Date(nowMs + validForMs) };
  const [caKeys, leafKeys] = await Promise.all([makeKeys(), makeKeys()]);
  const ca = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity,
    name: 'CN=node-lifecycle-controller-ca',
    signingAlgorithm: algorithm,
    keys: caKeys,
    extensions: await caExtensions(x509, caKeys.publicKey),
  });
  const leaf = await x509.X509CertificateGenerator.create({
    ...validity,
    subject: `CN=${options.commonName ?? apiServerName}`,
    issuer: ca.subject,
    publicKey: leafKeys.publicKey,
    signingKey: caKeys.privateKey,
    signingAlgorithm: algorithm,
    extensions: await leafExtensions(x509, caKeys.publicKey, hostsOf(options)),
  });
  return {
    caPem: `${ca.toString('pem')}\n`,
    certPem: `${leaf.toString('pem')}\n`,
    keyPem: await privateKeyPem(leafKeys),
  };
}

function makeKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
}

function hostsOf(options: ServingCertificateOptions): readonly string[] {
  const usual = (options.commonName ?? apiServerName) === apiServerName ? [...usualHosts, hostname()] : [];
  return [...new Set([...usual, ...(options.hosts ?? [])])];
}

async function caExtensions(x509: typeof X509, publicKey: webcrypto.CryptoKey): Promise<X509.Extension[]> {
  const { keyCertSign, cRLSign } = x509.KeyUsageFlags;
  return [
    new x509.BasicConstraintsExtension(true, 0, true),
    new x509.KeyUsagesExtension(keyCertSign | cRLSign, true),
    await x509.SubjectKeyIdentifierExtension.create(publicKey),
  ];
}

async function leafExtensions(
  x509: typeof X509,
  caKey: webcrypto.CryptoKey,
  hosts: readonly string[],
): Promise<X509.Extension[]> {
  const { digitalSignature } = x509.KeyUsageFlags;
  return [
    new x509.BasicConstraintsExtension(false, undefined, true),
    new x509.KeyUsagesExtension(digitalSignature, true),
    new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
    new x509.SubjectAlternativeNameExtension(
      hosts.map((host) => ({ type: isIP(host) === 0 ? 'dns' : 'ip', value: host })),
    ),
    await x509.AuthorityKeyIdentifierExtension.create(caKey),
  ];
}

async function privateKeyPem(keys: webcrypto.CryptoKeyPair): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey));
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN PRIVATE KEY-----', ...lines, '-----END PRIVATE KEY-----', ''].join('\n');
}

/** Imports the X.509 package on first use: it costs some 150 ms and 24 MB, which a server on plain HTTP does not need. */
async function loadX509(): Promise<typeof X509> {
  return (await import('./x509-package.ts')).x509;
}
