import { createPublicKey, verify } from 'node:crypto';
import type { SignedBytes } from '../codec/certificate-request.ts';

/** Whether the signature is that of the key; undefined for an unusable key. */
export function verifySignature({ hash, data, key, signature }: SignedBytes): boolean | undefined {
  try {
    const publicKey = createPublicKey({ key: Buffer.from(key), format: 'der', type: 'spki' });
    return verify(hash, data, publicKey, signature);
  } catch {
    // OpenSSL has no errors of its own class.
    return undefined;
  }
}
