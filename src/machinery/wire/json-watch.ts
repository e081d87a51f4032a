import type { WatchEvent } from '../ports/kube-reader.ts';
import { ChunkBuffer, ChunkTooLongError } from './chunk-buffer.ts';
import type { WatchDecoder } from './wire-format.ts';

/** The events of a JSON watch, one per line. */
export class JsonWatchDecoder implements WatchDecoder {
  readonly #lines = new LineSplitter();

  push(chunk: Buffer, events: WatchEvent[]): void {
    for (const line of this.#lines.push(chunk)) events.push(parseEvent(line));
  }

  get begunBytes(): number {
    return this.#lines.begunBytes;
  }
}

/** An invalid line becomes an UNDECODABLE event. */
function parseEvent(line: Buffer): WatchEvent {
  let event: unknown;
  try {
    event = JSON.parse(line.toString('utf8'));
  } catch {
    return undecodable('a line of the watch is not JSON');
  }
  return isEvent(event) ? event : undecodable('a line of the watch is not an event');
}

function undecodable(problem: string): WatchEvent {
  return { type: 'UNDECODABLE', change: undefined, object: { metadata: undefined, problem } };
}

/** Checks only the event's frame; the reader checks the type and the object. */
function isEvent(value: unknown): value is WatchEvent {
  if (typeof value !== 'object' || value === null || !('type' in value) || !('object' in value)) return false;
  return typeof value.type === 'string' && typeof value.object === 'object' && value.object !== null;
}

const newline = 0x0a;
export const lineBytesMax = 16 * 1024 * 1024;

/** Splits a byte stream into lines. It works on bytes because a chunk may end inside a character. */
export class LineSplitter {
  readonly #begun = new ChunkBuffer();

  /** The lines that this chunk completes, without newlines; empty lines are dropped. Throws a {@link ChunkTooLongError}. */
  push(chunk: Buffer): readonly Buffer[] {
    const lines: Buffer[] = [];
    let from = 0;
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
      const line = this.#begun.take(chunk.subarray(from, at));
      if (line.length > 0) lines.push(line);
      from = at + 1;
    }
    this.#begun.add(chunk.subarray(from));
    if (this.#begun.bytes > lineBytesMax) throw new ChunkTooLongError(`a line is longer than ${lineBytesMax} bytes`);
    return lines;
  }

  /** Bytes of a partial line. */
  get begunBytes(): number {
    return this.#begun.bytes;
  }
}
