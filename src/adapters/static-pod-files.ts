import { type BigIntStats, constants, watch } from 'node:fs';
import { type FileHandle, open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type {
  ManifestFiles,
  ManifestPlace,
  ManifestRead,
  ManifestWatcher,
  WatchEnd,
} from '../ports/static-pod-manifests.ts';

/** Of one manifest (kubelet `config.maxConfigLength`). */
export const manifestBytesMax = 10 * 1024 * 1024;

/** The manifests at a path of this machine: a folder, or one file. */
export class StaticPodFiles implements ManifestFiles {
  readonly path: string;

  /** A path that does not exist may come to exist. */
  constructor(path: string) {
    this.path = path;
  }

  async look(): Promise<ManifestPlace> {
    try {
      const found = await stat(this.path);
      if (found.isDirectory()) return { kind: 'folder', names: await readdir(this.path) };
      return found.isFile() ? { kind: 'file' } : { kind: 'unusable', problem: 'it is neither a folder nor a file' };
    } catch (error) {
      return isMissing(error) ? { kind: 'missing' } : { kind: 'unusable', problem: problemOf(error) };
    }
  }

  async read(name: string): Promise<ManifestRead> {
    let file: FileHandle | undefined;
    try {
      // A pipe that nobody writes to would hold up everything.
      file = await open(this.#pathOf(name), constants.O_RDONLY | constants.O_NONBLOCK);
      return await readText(file);
    } catch (error) {
      return isMissing(error) ? { kind: 'gone' } : { kind: 'broken', problem: problemOf(error) };
    } finally {
      await file?.close();
    }
  }

  async watch(watcher: ManifestWatcher, signal: AbortSignal): Promise<WatchEnd> {
    try {
      return await this.#follow(watcher, await stat(this.path, { bigint: true }), signal);
    } catch (error) {
      return isMissing(error) ? { kind: 'missing' } : { kind: 'failed', problem: problemOf(error) };
    }
  }

  /** Rejects where there can be no watch. Ends where the path leads to something else than what is watched. */
  async #follow(watcher: ManifestWatcher, watched: BigIntStats, signal: AbortSignal): Promise<WatchEnd> {
    const over = Promise.withResolvers<WatchEnd>();
    const end = (): void => over.resolve({ kind: 'ended' });
    // What may come and go by itself does not keep the process.
    const watching = watch(this.path, { persistent: false }, (event, filename) => {
      // Of a single file the watch tells the file's own name.
      if (filename === null) watcher.onArmed();
      else watcher.onTouched(watched.isDirectory() ? filename : '');
      if (event === 'rename' || watched.isFile()) void this.#endIfReplaced(watched, end);
    });
    watching.once('error', (error) => over.resolve({ kind: 'failed', problem: error.message }));
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
    watcher.onArmed();
    // Between the look and the watch it may have been replaced already.
    await this.#endIfReplaced(watched, end);
    const ended = await over.promise;
    signal.removeEventListener('abort', end);
    watching.close();
    return ended;
  }

  /** The number alone may be given out again at once. */
  async #endIfReplaced({ dev, ino, birthtimeNs }: BigIntStats, end: () => void): Promise<void> {
    const found = await stat(this.path, { bigint: true }).catch(() => undefined);
    if (found?.dev !== dev || found.ino !== ino || found.birthtimeNs !== birthtimeNs) end();
  }

  #pathOf(name: string): string {
    return name === '' ? this.path : join(this.path, name);
  }
}

async function readText(file: FileHandle): Promise<ManifestRead> {
  const found = await file.stat();
  if (!found.isFile()) return { kind: 'ignored', problem: 'it is no file' };
  const bytes = Buffer.alloc(Math.min(found.size, manifestBytesMax) + 1);
  let length = 0;
  for (;;) {
    const { bytesRead } = await file.read(bytes, length, bytes.length - length, length);
    length += bytesRead;
    if (bytesRead === 0) return { kind: 'text', text: bytes.toString('utf8', 0, length) };
    if (length > manifestBytesMax) return { kind: 'broken', problem: `more than ${manifestBytesMax} bytes` };
    // It has grown since we asked for its size: whoever writes it is not done, and the watch will tell.
    if (length === bytes.length) return { kind: 'broken', problem: 'it is being written' };
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

function problemOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
