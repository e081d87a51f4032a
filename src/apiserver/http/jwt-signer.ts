/** Signs and verifies JSON Web Tokens with ES256 (RFC 7515, RFC 7518). */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import type { TokenSigner } from '../authentication/account-tokens.ts';

/** The length of an ES256 signature: two numbers of 32 bytes. */
const dsaEncoding = 'ieee-p1363';

/** A new key, as PEM. It is as secret as the tokens that it signs. */
export function makeSigningKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' });
}

export class JwtSigner implements TokenSigner {
  readonly #privateKey: KeyObject;
  readonly #publicKey: KeyObject;
  readonly #header: string;

  /** Throws if the PEM is not a P-256 private key. */
  constructor(privateKeyPem: string) {
    this.#privateKey = createPrivateKey(privateKeyPem);
    this.#publicKey = createPublicKey(this.#privateKey);
    if (this.#privateKey.asymmetricKeyDetails?.namedCurve !== 'prime256v1') {
      throw new Error('the key that signs service account tokens must be a P-256 private key');
    }
    const kid = createHash('sha256')
      .update(this.#publicKey.export({ type: 'spki', format: 'der' }))
      .digest('base64url');
    this.#header = encode({ alg: 'ES256', kid });
  }

  sign(claims: Readonly<Record<string, unknown>>): string {
    const signed = `${this.#header}.${encode(claims)}`;
    const signature = sign('sha256', Buffer.from(signed), { key: this.#privateKey, dsaEncoding });
    return `${signed}.${signature.toString('base64url')}`;
  }

  verify(token: string): unknown {
    const [header = '', payload = '', signature = '', ...rest] = token.split('.');
    // The header of another algorithm or key never equals this one.
    if (header !== this.#header || rest.length > 0) return undefined;
    const bytes = Buffer.from(signature, 'base64url');
    const key = { key: this.#publicKey, dsaEncoding } as const;
    if (!verify('sha256', Buffer.from(`${header}.${payload}`), key, bytes)) return undefined;
    return JSON.parse(Buffer.from(payload, 'base64url').toString());
  }
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
