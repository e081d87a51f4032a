import { ApiError } from '../api/api-error.ts';
import type { WatchEvent } from '../ports/kube-reader.ts';
import { LineSplitter } from './http-line-splitter.ts';
import { parseJson } from './json-text.ts';
import type { WatchDecoder } from './wire-format.ts';

/** The events of a watch in JSON, a line each. */
export class JsonWatchDecoder implements WatchDecoder {
  readonly #lines = new LineSplitter();

  push(chunk: Buffer, events: WatchEvent[]): void {
    for (const line of this.#lines.push(chunk)) events.push(parseEvent(line));
  }

  get begunBytes(): number {
    return this.#lines.begunBytes;
  }
}

function parseEvent(line: Buffer): WatchEvent {
  const event = parseJson(line.toString('utf8'), 'a line of the watch');
  if (isEvent(event)) return event;
  throw new ApiError({ reason: 'internal', message: 'a line of the watch is not an event' });
}

/** The frame only; which types there are, and what an object must have, is the reader's business. */
function isEvent(value: unknown): value is WatchEvent {
  if (typeof value !== 'object' || value === null || !('type' in value) || !('object' in value)) return false;
  return typeof value.type === 'string' && typeof value.object === 'object' && value.object !== null;
}
