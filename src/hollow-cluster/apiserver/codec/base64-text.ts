/** Base64 as Go's `encoding/base64` reads it: padded, line breaks are ignored, the unused bits of the last digit may be set. */

const padding = '='.charCodeAt(0);
const lineBreaks: ReadonlySet<number> = new Set(Buffer.from('\r\n'));
const digits: ReadonlySet<number> = new Set(
  Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'),
);

/** The text that Go writes for the same bytes, or the offset of the illegal byte. */
export function canonicalBase64(text: string): string | { readonly illegalAt: number } {
  // Node ignores what is illegal.
  const written = Buffer.from(text, 'base64').toString('base64');
  if (written === text) return text;
  const illegalAt = findIllegal(Buffer.from(text));
  return illegalAt === undefined ? written : { illegalAt };
}

function findIllegal(bytes: Buffer): number | undefined {
  let filled = 0;
  for (const [index, byte] of bytes.entries()) {
    if (lineBreaks.has(byte)) continue;
    if (byte === padding && filled >= 2) return findAfterPadding(bytes, index + 1, filled === 2);
    if (!digits.has(byte)) return index;
    filled = (filled + 1) % 4;
  }
  return filled === 0 ? undefined : bytes.length - filled;
}

/** What follows the first padding character of the text. */
function findAfterPadding(bytes: Buffer, start: number, needsSecond: boolean): number | undefined {
  let next = skipLineBreaks(bytes, start);
  if (needsSecond) {
    if (next === bytes.length) return next;
    if (bytes[next] !== padding) return next - 1;
    next = skipLineBreaks(bytes, next + 1);
  }
  return next === bytes.length ? undefined : next;
}

function skipLineBreaks(bytes: Buffer, start: number): number {
  const found = bytes.subarray(start).findIndex((byte) => !lineBreaks.has(byte));
  return found === -1 ? bytes.length : start + found;
}
