import { lstatSync, renameSync, rmSync, writeFileSync } from 'node:fs';

const onlyForOwner = 0o600;

/**
 * Writes a file with credentials, readable by its owner only. A process that waits for it finds the whole text or nothing new: it
 * is written beside its place, and moved there. Where that cannot be, as over a device or a mounted file, it is written in place.
 * Throws what the file system throws.
 */
export function writePrivateFile(path: string, text: string): void {
  const unfinished = `${path}.${process.pid}.unfinished`;
  try {
    if (lstatSync(path, { throwIfNoEntry: false })?.isFile() === false) throw new Error('no plain file');
    writeFileSync(unfinished, text, { mode: onlyForOwner, flag: 'wx' });
    renameSync(unfinished, path);
  } catch {
    rmSync(unfinished, { force: true });
    writeFileSync(path, text, { mode: onlyForOwner });
  }
}
