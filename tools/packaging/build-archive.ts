// A tar archive (POSIX ustar) whose bytes depend on names, modes and contents only, so that two builds have the same checksum.

interface ArchiveFile {
  /** Relative, at most 100 bytes. */
  readonly path: string;
  readonly mode: number;
  readonly content: Buffer;
}

const blockBytes = 512;

export function buildArchive(files: readonly ArchiveFile[]): Buffer {
  const sorted = [...files].sort((a, b) => (a.path < b.path ? -1 : 1));
  const parts = sorted.flatMap((file) => [headerOf(file), file.content, padding(file.content.length)]);
  return Buffer.concat([...parts, Buffer.alloc(2 * blockBytes)]);
}

function padding(bytes: number): Buffer {
  return Buffer.alloc((blockBytes - (bytes % blockBytes)) % blockBytes);
}

function headerOf({ path, mode, content }: ArchiveFile): Buffer {
  if (Buffer.byteLength(path) > 100) throw new Error(`${path}: longer than 100 bytes`);
  const header = Buffer.alloc(blockBytes);
  header.write(path, 0);
  writeOctal(header, mode, { at: 100, digits: 7 });
  writeOctal(header, 0, { at: 108, digits: 7 });
  writeOctal(header, 0, { at: 116, digits: 7 });
  writeOctal(header, content.length, { at: 124, digits: 11 });
  writeOctal(header, 0, { at: 136, digits: 11 });
  header.fill(' ', 148, 156);
  header.write('0', 156);
  header.write('ustar\x0000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  writeOctal(header, sum, { at: 148, digits: 6 });
  header.write('\0 ', 154);
  return header;
}

function writeOctal(
  header: Buffer,
  value: number,
  { at, digits }: { readonly at: number; readonly digits: number },
): void {
  header.write(`${value.toString(8).padStart(digits, '0')}\0`, at);
}
