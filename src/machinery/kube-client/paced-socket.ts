import type { Socket } from 'node:net';
import type { ReadPace } from './read-pace.ts';

/**
 * Of the options of a socket whose reads are paced: its source stops after each read until it is asked for more, so what
 * arrives meanwhile stays in the kernel's buffer and wakes nothing.
 */
export const pacedHighWaterMark = 1;

/** Lets the pace decide when the socket is read, by deferring `_read`, with which a stream asks its source for more. */
export function paceReads(socket: Socket, pace: ReadPace): void {
  const readNow = socket._read.bind(socket);
  let isWaiting = false;
  let timer: NodeJS.Timeout | undefined;
  const read = (size: number): void => {
    isWaiting = false;
    if (socket.destroyed) return;
    pace.noteRead(performance.now(), socket.bytesRead);
    readNow(size);
  };
  socket._read = (size) => {
    if (isWaiting) return;
    if (!pace.isBusy(performance.now(), socket.bytesRead)) return readNow(size);
    isWaiting = true;
    // Later in this turn the rest of the same read comes, as further TLS records.
    setImmediate(() => {
      const waitMs = pace.waitMs(performance.now(), socket.bytesRead);
      if (waitMs <= 0) read(size);
      else timer = setTimeout(read, waitMs, size);
    });
  };
  socket.once('close', () => clearTimeout(timer));
}
