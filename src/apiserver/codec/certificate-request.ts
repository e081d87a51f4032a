/** Certificate requests in PEM (PKCS #10), as far as they are validated (upstream `certificates.ParseCSR`). */

/** A signature over bytes. */
export interface SignedBytes {
  /** Name of the hash; null for an algorithm with its own. */
  readonly hash: string | null;
  readonly data: Uint8Array;
  /** The public key, SPKI in DER. */
  readonly key: Uint8Array;
  readonly signature: Uint8Array;
}

/** Whether the signature is that of the key; undefined for an unusable key. */
export type VerifySignature = (signed: SignedBytes) => boolean | undefined;

/** What is wrong with a request. */
export class CertificateRequestError extends Error {}

interface CertificateRequest {
  /** The organizations of its subject, which are the groups of a user. */
  readonly organizations: readonly string[];
}

/** One ASN.1 value in DER. */
interface DerValue {
  readonly tag: number;
  /** With tag and length. */
  readonly whole: Buffer;
  readonly content: Buffer;
}

const requestType = 'CERTIFICATE REQUEST';
const pemBorder = /^-----(BEGIN|END) ([A-Z0-9 ]+)-----$/;
const pemBody = /^[A-Za-z0-9+/=\s]*$/;
const lineEnd = /\r\n|[\n\r\u2028\u2029]/;
const tags = { sequence: 0x30, set: 0x31 } as const;
const organizationOid = '55040a';
/** The hash of each signature algorithm, by the bytes of its identifier; null for an algorithm with its own. */
const hashes: ReadonlyMap<string, string | null> = new Map([
  ['2a8648ce3d040302', 'sha256'],
  ['2a8648ce3d040303', 'sha384'],
  ['2a8648ce3d040304', 'sha512'],
  ['2a864886f70d01010b', 'sha256'],
  ['2a864886f70d01010c', 'sha384'],
  ['2a864886f70d01010d', 'sha512'],
  ['2b6570', null],
]);
const longLength = 0x80;
const lengthBits = 0x7f;

/** Throws a {@link CertificateRequestError} for text that is not a request, or whose signature does not fit. */
export function readCertificateRequest(pem: string, verify: VerifySignature): CertificateRequest {
  const [block] = pemBlocks(pem);
  if (block?.type !== requestType) throw new CertificateRequestError(`PEM block type must be ${requestType}`);
  const [info, algorithm, signature] = childrenOf(readValue(block.bytes));
  if (info === undefined || algorithm === undefined || signature === undefined) throw malformed();
  const [, subject, publicKey] = childrenOf(info);
  if (subject === undefined || publicKey === undefined) throw malformed();
  // The first byte of a bit string counts its unused bits.
  const signed = { data: info.whole, key: publicKey.whole, signature: signature.content.subarray(1) };
  assertSignature(verify({ ...signed, hash: hashOf(algorithm) }));
  return { organizations: organizationsOf(subject) };
}

/** The problem of a text that should be certificates in PEM; undefined if it is. */
export function findCertificateProblem(pem: string): string | undefined {
  const blocks = pemBlocks(pem);
  const other = blocks.find(({ type }) => type !== 'CERTIFICATE');
  if (other !== undefined) return `only CERTIFICATE PEM blocks are allowed, found "${other.type}"`;
  return blocks.length === 0 ? 'must contain at least one CERTIFICATE PEM block' : undefined;
}

interface PemBlock {
  readonly type: string;
  readonly bytes: Buffer;
}

/** Line by line, so that the time is linear. Text outside blocks, and blocks without an end, are skipped. */
function pemBlocks(pem: string): readonly PemBlock[] {
  const blocks: PemBlock[] = [];
  let open: { readonly type: string; readonly lines: string[] } | undefined;
  for (const line of pem.split(lineEnd)) {
    const [, border, type = ''] = pemBorder.exec(line.trimEnd()) ?? [];
    if (border === 'BEGIN') open = { type, lines: [] };
    else if (open !== undefined && border === undefined && pemBody.test(line)) open.lines.push(line);
    else {
      if (open?.type === type) blocks.push({ type, bytes: Buffer.from(open.lines.join(''), 'base64') });
      open = undefined;
    }
  }
  return blocks;
}

function hashOf(algorithm: DerValue): string | null {
  const [identifier] = childrenOf(algorithm);
  const hash = hashes.get(identifier?.content.toString('hex') ?? '');
  if (hash !== undefined) return hash;
  throw new CertificateRequestError('x509: cannot verify signature: algorithm unimplemented');
}

function assertSignature(isValid: boolean | undefined): void {
  if (isValid === undefined) throw malformed();
  if (!isValid) throw new CertificateRequestError('x509: signature verification failure');
}

function organizationsOf(subject: DerValue): readonly string[] {
  return childrenOf(subject)
    .flatMap(childrenOf)
    .map(childrenOf)
    .filter(([identifier]) => identifier?.content.toString('hex') === organizationOid)
    .map(([, value]) => value?.content.toString() ?? '');
}

/** The values within a sequence or set. */
function childrenOf({ tag, content }: DerValue): readonly DerValue[] {
  if (tag !== tags.sequence && tag !== tags.set) throw malformed();
  const children: DerValue[] = [];
  for (let at = 0; at < content.length; ) {
    const child = readValue(content.subarray(at));
    children.push(child);
    at += child.whole.length;
  }
  return children;
}

/** The value at the start of the bytes. */
function readValue(bytes: Buffer): DerValue {
  const [tag, first] = bytes;
  if (tag === undefined || first === undefined) throw malformed();
  const lengthBytes = first < longLength ? 0 : first & lengthBits;
  const start = 2 + lengthBytes;
  if (lengthBytes > 3 || bytes.length < start) throw malformed();
  const length = lengthBytes === 0 ? first : bytes.readUIntBE(2, lengthBytes);
  if (bytes.length < start + length) throw malformed();
  return { tag, whole: bytes.subarray(0, start + length), content: bytes.subarray(start, start + length) };
}

function malformed(): Error {
  return new CertificateRequestError('asn1: structure error: malformed certificate request');
}
