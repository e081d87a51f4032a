import { chmodSync, lstatSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';

const onlyForOwner = 0o600;
/** Why a file cannot be moved into a place that can be written: a folder that may not be changed, a mounted file, a long name. */
const placeCodes: ReadonlySet<string> = new Set([
  'EACCES',
  'EPERM',
  'EROFS',
  'EXDEV',
  'EBUSY',
  'ENAMETOOLONG',
  'ENOENT',
  'EEXIST',
]);

/**
 * Writes a file with credentials, readable by its owner only. A process that waits for it finds the whole text or nothing new: it
 * is written beside its place, and moved there. Where that cannot be, as over a link, a device or a mounted file, it is written in
 * place. Throws what the file system throws; a full disk leaves the former file as it was.
 */
export function writePrivateFile(path: string, text: string): void {
  const isPlain = lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? true;
  if (!isPlain || !replaceWhole(path, text)) writeInPlace(path, text);
}

/** False if no file can be moved to this place. */
function replaceWhole(path: string, text: string): boolean {
  const unfinished = `${path}.${process.pid}.unfinished`;
  let isCreated = false;
  try {
    writeFileSync(unfinished, '', { mode: onlyForOwner, flag: 'wx' });
    isCreated = true;
    writeFileSync(unfinished, text);
    renameSync(unfinished, path);
    return true;
  } catch (error) {
    if (isCreated) rmSync(unfinished, { force: true });
    if (error instanceof Error && 'code' in error && placeCodes.has(String(error.code))) return false;
    throw error;
  }
}

function writeInPlace(path: string, text: string): void {
  // Private before the text is in it. A device, as /dev/null, keeps its mode.
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === true) trySetPrivate(path);
  writeFileSync(path, text, { mode: onlyForOwner });
}

function trySetPrivate(path: string): void {
  try {
    chmodSync(path, onlyForOwner);
  } catch {
    // Of another owner: what it can read was its owner's choice.
  }
}
