// What the operating system tells of a file or folder. It may tell nothing at all, as on many network mounts, so whoever
// relies on it looks by itself from time to time as well.
import { type BigIntStats, watch } from 'node:fs';
import { stat } from 'node:fs/promises';

export type PathWatchEnd =
  | { readonly kind: 'missing' }
  | { readonly kind: 'failed'; readonly problem: string }
  /** The signal aborted, or the path leads to something else than what was watched. */
  | { readonly kind: 'ended' };

export interface PathWatcher {
  /** From here on something may be told; what came before may have been missed. */
  onArmed(): void;
  /** Something happened to this name in the folder; '' for a single file. */
  onTouched(name: string): void;
}

/** Watches until the signal aborts, or until there is nothing to watch there any more. Never rejects. */
export async function watchPath(path: string, watcher: PathWatcher, signal: AbortSignal): Promise<PathWatchEnd> {
  try {
    return await follow(path, watcher, await stat(path, { bigint: true }), signal);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return { kind: 'missing' };
    return { kind: 'failed', problem: error instanceof Error ? error.message : String(error) };
  }
}

/** Rejects where there can be no watch. */
async function follow(
  path: string,
  watcher: PathWatcher,
  watched: BigIntStats,
  signal: AbortSignal,
): Promise<PathWatchEnd> {
  const over = Promise.withResolvers<PathWatchEnd>();
  const end = (): void => over.resolve({ kind: 'ended' });
  // What may come and go by itself does not keep the process.
  const watching = watch(path, { persistent: false }, (event, filename) => {
    // Of a single file the watch tells the file's own name.
    if (filename === null) watcher.onArmed();
    else watcher.onTouched(watched.isDirectory() ? filename : '');
    if (event === 'rename' || watched.isFile()) void endIfReplaced(path, watched, end);
  });
  watching.once('error', (error) => over.resolve({ kind: 'failed', problem: error.message }));
  signal.addEventListener('abort', end);
  if (signal.aborted) end();
  watcher.onArmed();
  // Between the look and the watch it may have been replaced already.
  await endIfReplaced(path, watched, end);
  const ended = await over.promise;
  signal.removeEventListener('abort', end);
  watching.close();
  return ended;
}

/** The number alone may be given out again at once. */
async function endIfReplaced(path: string, { dev, ino, birthtimeNs }: BigIntStats, end: () => void): Promise<void> {
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  if (found?.dev !== dev || found.ino !== ino || found.birthtimeNs !== birthtimeNs) end();
}
