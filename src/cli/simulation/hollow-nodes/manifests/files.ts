import { constants } from 'node:fs';
import { type FileHandle, open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../../../machinery/api/api-error.ts';
import type {
  ManifestFiles,
  ManifestPlace,
  ManifestRead,
  ManifestWatcher,
  WatchEnd,
} from '../../../../machinery/ports/static-pod-manifests.ts';
import { watchPath } from '../../../../machinery/adapters/path-watch.ts';

/** Maximum size of one manifest (kubelet `config.maxConfigLength`). */
export const manifestBytesMax = 10 * 1024 * 1024;

/** The manifests at a local path: a directory, or one file. */
export class StaticPodFiles implements ManifestFiles {
  readonly path: string;

  /** The path may be created later. */
  constructor(path: string) {
    this.path = path;
  }

  async look(): Promise<ManifestPlace> {
    try {
      const found = await stat(this.path);
      if (found.isDirectory()) return { kind: 'folder', names: await readdir(this.path) };
      return found.isFile() ? { kind: 'file' } : { kind: 'unusable', problem: 'is neither a directory nor a file' };
    } catch (error) {
      return isMissing(error) ? { kind: 'missing' } : { kind: 'unusable', problem: messageOf(error) };
    }
  }

  async read(name: string): Promise<ManifestRead> {
    let file: FileHandle | undefined;
    try {
      // Non-blocking: opening a FIFO without a writer would block.
      file = await open(this.#pathOf(name), constants.O_RDONLY | constants.O_NONBLOCK);
      return await readText(file);
    } catch (error) {
      return isMissing(error) ? { kind: 'gone' } : { kind: 'broken', problem: messageOf(error) };
    } finally {
      await file?.close();
    }
  }

  watch(watcher: ManifestWatcher, signal: AbortSignal): Promise<WatchEnd> {
    return watchPath(this.path, watcher, signal);
  }

  #pathOf(name: string): string {
    return name === '' ? this.path : join(this.path, name);
  }
}

async function readText(file: FileHandle): Promise<ManifestRead> {
  const found = await file.stat();
  if (!found.isFile()) return { kind: 'ignored', problem: 'is not a regular file' };
  const bytes = Buffer.alloc(Math.min(found.size, manifestBytesMax) + 1);
  let length = 0;
  for (;;) {
    const { bytesRead } = await file.read(bytes, length, bytes.length - length, length);
    length += bytesRead;
    if (bytesRead === 0) return { kind: 'text', text: bytes.toString('utf8', 0, length) };
    if (length > manifestBytesMax) return { kind: 'broken', problem: `is larger than ${manifestBytesMax} bytes` };
    // The file has grown since the stat: it is still being written, and the watch reports the end.
    if (length === bytes.length) return { kind: 'broken', problem: 'is being written' };
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
