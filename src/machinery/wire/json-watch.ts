import type { WatchEvent } from '../ports/kube-reader.ts';
import { LineSplitter } from './line-splitter.ts';
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
