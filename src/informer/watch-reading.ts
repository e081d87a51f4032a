import { type ApiReason, reasonFor } from '../api/api-error.ts';
import type { KubeObject, ObjectMeta, Status } from '../api/meta.ts';
import type { WatchEvent } from '../ports/kube-reader.ts';
import { isOlder } from './decide-staleness.ts';
import { ObjectMap, type Place } from './object-map.ts';

const initialEventsEnd = 'k8s.io/initial-events-end';

/** One object as the informer keeps it. */
export interface Placed<T> extends Place {
  readonly object: T;
}

/** Takes what a list or a watch brings, in order. */
export interface StateSink<T> {
  /** A complete state; the map is the sink's afterwards. */
  replace(objects: ObjectMap<T>, resourceVersion: string): void;
  /** One change. `reached` is the version of the stream before it. */
  apply(type: ObjectEventType, arrival: Placed<T>, reached: string): void;
  /** Was this one overtaken by what the stream has brought under the same key? Counts those that were. */
  isStale(type: ObjectEventType, object: T, known: T | undefined, reached: string): boolean;
}

export type ObjectEventType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** The server ended the stream with a reason. */
export interface ErrorEvent {
  readonly reason: ApiReason;
  readonly retryAfterMs: number | undefined;
  readonly message: string;
}

/** What cannot be read: silently skipped it would leave a ghost in the store for ever. */
export class UndecodableError extends Error {
  override readonly name = 'UndecodableError';
}

/** What makes a view of an object as it arrives. */
export interface Viewer<T> {
  view(raw: KubeObject): T;
}

/** Projects an object of a list or of an event; undefined where it has no name. Throws what the viewer throws. */
export function readObject<T>(raw: KubeObject, viewer: Viewer<T>): Placed<T> | undefined {
  const metadata = (raw as KubeObject | null | undefined)?.metadata as ObjectMeta | null | undefined;
  if (typeof metadata?.name !== 'string' || metadata.name === '') return undefined;
  const { name, namespace } = metadata;
  return { namespace: typeof namespace === 'string' ? namespace : '', name, object: viewer.view(raw) };
}

export interface WatchReadingOptions<T> {
  /** Undefined for what has no name and cannot be kept. */
  readonly read: (raw: KubeObject) => Placed<T> | undefined;
  readonly sink: StateSink<T>;
  /** The version the watch was opened at. */
  readonly reached: string;
  /** The stream begins with the complete state. */
  readonly initial: boolean;
}

/**
 * Reads the events of one watch. While the initial state arrives it is gathered aside, so that the store goes from one
 * complete state to the next; the bookmark at its end puts it in place, and from then on each change is applied.
 */
export class WatchReading<T> {
  readonly #read: (raw: KubeObject) => Placed<T> | undefined;
  readonly #sink: StateSink<T>;
  #gathered: ObjectMap<T> | undefined;
  #reached: string;
  /** The version of the last change that came before the end of the initial state. */
  #changed = '';

  constructor(options: WatchReadingOptions<T>) {
    this.#read = options.read;
    this.#sink = options.sink;
    this.#reached = options.reached;
    this.#gathered = options.initial ? new ObjectMap() : undefined;
  }

  /** The complete state is there and changes follow. */
  get following(): boolean {
    return this.#gathered === undefined;
  }

  get reached(): string {
    return this.#reached;
  }

  /** The error the server ended the stream with, if this event is one. Throws at what cannot be read. */
  take(event: WatchEvent): ErrorEvent | undefined {
    switch (event.type) {
      case 'ERROR':
        return describeErrorEvent(event.object);
      case 'BOOKMARK':
        this.#bookmark(event.object);
        return undefined;
      case 'ADDED':
      case 'MODIFIED':
      case 'DELETED':
        this.#change(event.type, event.object);
        return undefined;
      default:
        throw new UndecodableError('an event of an unknown type');
    }
  }

  #bookmark(object: KubeObject): void {
    const version = object?.metadata?.resourceVersion;
    if (version === undefined) throw new UndecodableError('a bookmark without a version');
    if (this.#gathered === undefined) this.#advance(version);
    else if (object.metadata.annotations?.[initialEventsEnd] === 'true') this.#complete(this.#gathered, version);
  }

  #complete(objects: ObjectMap<T>, version: string): void {
    this.#gathered = undefined;
    this.#reached = version;
    this.#sink.replace(objects, version);
  }

  #change(type: ObjectEventType, raw: KubeObject): void {
    const arrival = this.#read(raw);
    if (arrival === undefined) {
      // In a complete state it is left out and that is all; in a change it may be about something we hold.
      if (this.#gathered === undefined) throw new UndecodableError('an object without a name');
    } else if (this.#gathered === undefined) {
      this.#sink.apply(type, arrival, this.#reached);
      this.#advance(raw.metadata.resourceVersion);
    } else {
      this.#gather(this.#gathered, type, arrival);
      if (type !== 'ADDED') this.#changed = laterOf(this.#changed, raw.metadata.resourceVersion);
    }
  }

  /**
   * The objects of the state come in any order, each once; changes may follow before its end is told. Both may come again,
   * and must then not undo what came after them.
   */
  #gather(gathered: ObjectMap<T>, type: ObjectEventType, arrival: Placed<T>): void {
    const known = gathered.get(arrival);
    const isFirst = known === undefined && this.#changed === '';
    if (!isFirst && this.#sink.isStale(type, arrival.object, known, this.#changed)) return;
    if (type === 'DELETED') gathered.delete(arrival);
    else gathered.set(arrival, arrival.object);
  }

  #advance(version: string | undefined): void {
    this.#reached = laterOf(this.#reached, version);
  }
}

function laterOf(known: string, version: string | undefined): string {
  return version === undefined || version === '' || isOlder(version, known) ? known : version;
}

function describeErrorEvent(status: Status | undefined): ErrorEvent {
  const retryAfterSeconds = status?.details?.retryAfterSeconds;
  return {
    reason: reasonFor(status?.code ?? 0, status),
    retryAfterMs: retryAfterSeconds === undefined ? undefined : retryAfterSeconds * 1_000,
    message: status?.message ?? 'the server ended the watch without a message',
  };
}
