// File system notifications about a file or directory. Some file systems send none, such as many network mounts, so
// callers must also poll.
import { type BigIntStats, watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import { messageOf } from '../api/api-error.ts';
import type { ManifestWatcher, WatchEnd } from '../ports/static-pod-manifests.ts';

/** Watches until the signal aborts, or until the watched path is gone. Never rejects. */
export async function watchPath(path: string, watcher: ManifestWatcher, signal: AbortSignal): Promise<WatchEnd> {
  try {
    return await follow(path, watcher, await stat(path, { bigint: true }), signal);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return { kind: 'missing' };
    return { kind: 'failed', problem: messageOf(error) };
  }
}

/** Rejects if the path cannot be watched. */
async function follow(
  path: string,
  watcher: ManifestWatcher,
  watched: BigIntStats,
  signal: AbortSignal,
): Promise<WatchEnd> {
  const over = Promise.withResolvers<WatchEnd>();
  const end = (): void => over.resolve({ kind: 'ended' });
  // A watch must not keep the process running.
  const watching = watch(path, { persistent: false }, (event, filename) => {
    // For a single file the notification has the file's own name.
    if (filename === null) watcher.onArmed();
    else watcher.onTouched(watched.isDirectory() ? filename : '');
    if (event === 'rename' || watched.isFile()) void endIfReplaced(path, watched, end);
  });
  watching.once('error', (error) => over.resolve({ kind: 'failed', problem: error.message }));
  signal.addEventListener('abort', end);
  if (signal.aborted) end();
  watcher.onArmed();
  // The path may have been replaced between the stat and the watch.
  await endIfReplaced(path, watched, end);
  const ended = await over.promise;
  signal.removeEventListener('abort', end);
  watching.close();
  return ended;
}

/** The inode number alone may be reused at once. */
async function endIfReplaced(path: string, { dev, ino, birthtimeNs }: BigIntStats, end: () => void): Promise<void> {
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  if (found?.dev !== dev || found.ino !== ino || found.birthtimeNs !== birthtimeNs) end();
}
