/** The files with which the API server connects to kubelets. They are read once, at the start. */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { KubeletClientOptions } from '../../apiserver/http/kubelet-client.ts';

interface KubeletFlags {
  readonly kubeletClientCertificate: string | undefined;
  readonly kubeletClientKey: string | undefined;
  readonly kubeletCertificateAuthority: string | undefined;
  readonly kubeletTimeoutMs: number;
}

interface Problems {
  readonly problems: readonly string[];
}

/** The problems name flag and file, and contain nothing of a key. */
export function readKubeletClient(flags: KubeletFlags): KubeletClientOptions | Problems {
  const client = readClient(flags);
  const ca = readAuthority(flags);
  const problems = [client, ca].flatMap((read) => (read !== undefined && 'problem' in read ? [read.problem] : []));
  if ((client !== undefined && 'problem' in client) || (ca !== undefined && 'problem' in ca)) return { problems };
  return { client, caPem: ca?.pem, connectTimeoutMs: flags.kubeletTimeoutMs };
}

type Read<T> = T | { readonly problem: string } | undefined;

function readClient({
  kubeletClientCertificate: certFile,
  kubeletClientKey: keyFile,
}: KubeletFlags): Read<{ readonly certPem: string; readonly keyPem: string }> {
  if (certFile === undefined && keyFile === undefined) return undefined;
  if (certFile === undefined) return requires('kubelet-client-key', 'kubelet-client-certificate', keyFile);
  if (keyFile === undefined) return requires('kubelet-client-certificate', 'kubelet-client-key', certFile);
  const cert = readPem('kubelet-client-certificate', certFile);
  const key = readPem('kubelet-client-key', keyFile);
  if ('problem' in cert) return cert;
  if ('problem' in key) return key;
  try {
    createSecureContext({ cert: cert.pem, key: key.pem });
  } catch (error) {
    const where = `--kubelet-client-certificate ${certFile} and --kubelet-client-key ${keyFile}`;
    return { problem: `${where}: must be a certificate and its private key in PEM${because(error)}` };
  }
  return { certPem: cert.pem, keyPem: key.pem };
}

function requires(flag: string, other: string, value: string | undefined): { readonly problem: string } {
  return { problem: `--${flag}: requires --${other} (got ${JSON.stringify(value)})` };
}

function readAuthority({ kubeletCertificateAuthority: file }: KubeletFlags): Read<{ readonly pem: string }> {
  if (file === undefined) return undefined;
  const read = readPem('kubelet-certificate-authority', file);
  if ('problem' in read) return read;
  try {
    // TLS would take text without a certificate for an empty list.
    if (!new X509Certificate(read.pem).ca) throw new Error('the certificate is not a CA certificate');
  } catch (error) {
    return { problem: `--kubelet-certificate-authority ${file}: must be CA certificates in PEM${because(error)}` };
  }
  return read;
}

function readPem(flag: string, file: string): { readonly pem: string } | { readonly problem: string } {
  try {
    return { pem: readFileSync(file, 'utf8') };
  } catch (error) {
    return { problem: `--${flag} ${file}: must be a readable file${because(error)}` };
  }
}

function because(error: unknown): string {
  return error instanceof Error ? ` (${error.message})` : '';
}
