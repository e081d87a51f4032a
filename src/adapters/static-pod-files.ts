import { constants } from 'node:fs';
import { type FileHandle, open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type {
  ManifestFiles,
  ManifestPlace,
  ManifestRead,
  ManifestWatcher,
  WatchEnd,
} from '../ports/static-pod-manifests.ts';
import { watchPath } from './path-watch.ts';

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

  watch(watcher: ManifestWatcher, signal: AbortSignal): Promise<WatchEnd> {
    return watchPath(this.path, watcher, signal);
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
