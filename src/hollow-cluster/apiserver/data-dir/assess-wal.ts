/**
 * Reads the write-ahead log of a SQLite database (https://www.sqlite.org/walformat.html) before SQLite does. SQLite ends
 * at the first frame whose checksum is wrong, and drops it and all later ones without a message. That is right for the
 * last write of a process that was killed; in the middle it would lose acknowledged writes.
 */

type WalState =
  | { readonly kind: 'complete' }
  /** The last transaction was not written completely: never acknowledged. */
  | { readonly kind: 'torn'; readonly offset: number; readonly bytes: number }
  /** A frame is damaged, although `later` frames of the same log follow it. */
  | { readonly kind: 'corrupt'; readonly offset: number; readonly later: number };

const headerBytes = 32;
const frameHeaderBytes = 24;
const magicLittleEndian = 0x37_7f_06_82;
const magicBigEndian = 0x37_7f_06_83;
const complete: WalState = { kind: 'complete' };

type Sum = readonly [number, number];
type ReadWord = (offset: number) => number;

interface Wal {
  readonly bytes: Buffer;
  readonly pageBytes: number;
  readonly readWord: ReadWord;
  /** Identifies the frames of this log; older ones that were not overwritten have another. */
  readonly salt: bigint;
}

export function assessWal(bytes: Buffer): WalState {
  if (bytes.length < headerBytes) return complete;
  const wal = openWal(bytes);
  const frames = wal === undefined ? 0 : countFrames(wal);
  const headerSum = wal === undefined ? undefined : checksum(wal.readWord, { from: 0, to: 24 }, [0, 0]);
  if (wal === undefined || !isSum(bytes, 24, headerSum)) {
    return frames === 0 && wal !== undefined ? complete : { kind: 'corrupt', offset: 0, later: frames };
  }
  return assessFrames(wal, frames, headerSum ?? [0, 0]);
}

function openWal(bytes: Buffer): Wal | undefined {
  const magic = bytes.readUInt32BE(0);
  if (magic !== magicLittleEndian && magic !== magicBigEndian) return undefined;
  const readWord: ReadWord = magic === magicBigEndian ? (at) => bytes.readUInt32BE(at) : (at) => bytes.readUInt32LE(at);
  return { bytes, pageBytes: bytes.readUInt32BE(8), readWord, salt: bytes.readBigUInt64BE(16) };
}

function assessFrames(wal: Wal, frames: number, headerSum: Sum): WalState {
  const { bytes, pageBytes } = wal;
  const frameBytes = frameHeaderBytes + pageBytes;
  let sum = headerSum;
  let committedTo = headerBytes;
  for (let offset = headerBytes, index = 0; index < frames; offset += frameBytes, index += 1) {
    if (bytes.readBigUInt64BE(offset + 8) !== wal.salt) return damaged(wal, offset, frames - index - 1);
    sum = checksum(wal.readWord, { from: offset, to: offset + 8 }, sum);
    sum = checksum(wal.readWord, { from: offset + frameHeaderBytes, to: offset + frameBytes }, sum);
    if (!isSum(bytes, offset + 16, sum)) return damaged(wal, offset, frames - index - 1);
    const databasePages = bytes.readUInt32BE(offset + 4);
    // Not zero in the last frame of a transaction only.
    if (databasePages !== 0) committedTo = offset + frameBytes;
  }
  const end = headerBytes + frames * frameBytes;
  if (committedTo < end) return { kind: 'torn', offset: committedTo, bytes: end - committedTo };
  return complete;
}

function damaged({ bytes, pageBytes }: Wal, offset: number, later: number): WalState {
  if (later > 0) return { kind: 'corrupt', offset, later };
  return { kind: 'torn', offset, bytes: Math.min(bytes.length - offset, frameHeaderBytes + pageBytes) };
}

/** Up to the last frame of this log, damaged ones in between included. */
function countFrames({ bytes, pageBytes, salt }: Wal): number {
  const frameBytes = frameHeaderBytes + pageBytes;
  let frames = 0;
  for (let index = 0; headerBytes + (index + 1) * frameBytes <= bytes.length; index += 1) {
    if (bytes.readBigUInt64BE(headerBytes + index * frameBytes + 8) === salt) frames = index + 1;
  }
  return frames;
}

function checksum(readWord: ReadWord, { from, to }: { readonly from: number; readonly to: number }, sum: Sum): Sum {
  let [first, second] = sum;
  for (let at = from; at < to; at += 8) {
    first = (first + readWord(at) + second) >>> 0;
    second = (second + readWord(at + 4) + first) >>> 0;
  }
  return [first, second];
}

function isSum(bytes: Buffer, offset: number, sum: Sum | undefined): boolean {
  return sum !== undefined && bytes.readUInt32BE(offset) === sum[0] && bytes.readUInt32BE(offset + 4) === sum[1];
}
