import { type ApiReason, reasonFor } from '../api/api-error.ts';
import type { KubeObject, Status } from '../api/meta.ts';
import { cutText } from '../api/limits.ts';
import type { ObjectEventType, WatchEvent } from '../ports/kube-reader.ts';
import { isOlder } from '../api/resource-version.ts';
import { ObjectMap } from './object-map.ts';
import { type NamespacedObject, type ObjectReader, Unreadable } from './object-reader.ts';

const initialEventsEnd = 'k8s.io/initial-events-end';

/** One change of one object. `reached` is the version of the stream before it. */
export interface Delta<T> {
  readonly type: ObjectEventType;
  /** Unreadable only for deletions, with a name. */
  readonly object: NamespacedObject<T> | Unreadable;
  readonly reached: string;
}

/** A complete state, as read by a list or at the beginning of a watch. */
export interface CompleteState<T> {
  readonly objects: ObjectMap<T>;
  readonly resourceVersion: string;
}

/** An ERROR event of the server, which ends the stream. */
export interface ErrorEvent {
  readonly reason: ApiReason;
  readonly retryAfterMs: number | undefined;
  readonly message: string;
}

/** The content of one batch of a watch: the complete state if its end was in the batch, and the changes after it. */
interface WatchUpdate<T> {
  readonly replaced: CompleteState<T> | undefined;
  readonly deltas: readonly Delta<T>[];
  readonly error: ErrorEvent | undefined;
  /** A skipped event may have been the deletion of a stored object. */
  readonly mayMissDeletion: boolean;
}

/** Adds an object to a complete state. An undecodable object keeps its stored state, if any. */
export function keepInState<T>(
  state: ObjectMap<T>,
  read: NamespacedObject<T> | Unreadable,
  stored: () => ObjectMap<T>,
): void {
  if (!(read instanceof Unreadable)) return state.set(read, read.object);
  const known = read.name === undefined ? undefined : stored().get(read.name);
  if (read.name !== undefined && known !== undefined && !state.hasName(read.name)) state.set(read.name, known);
}

interface WatchHandlerOptions<T extends object> {
  readonly reader: ObjectReader<T>;
  /** The contents of the store. */
  readonly stored: () => ObjectMap<T>;
  /** The version the watch was opened at. */
  readonly reached: string;
  /** The stream starts with the complete state. */
  readonly initial: boolean;
}

/**
 * Handles the events of one watch and returns what they mean for the store; changes nothing. The initial state is
 * collected aside, so that the store goes from one complete state to the next.
 */
export class WatchHandler<T extends object> {
  readonly #options: WatchHandlerOptions<T>;
  #initialObjects: ObjectMap<T> | undefined;
  #reached: string;
  /** The version of the last change that came before the end of the initial state. */
  #lastChangeVersion = '';
  #replaced: CompleteState<T> | undefined;
  #deltas: Delta<T>[] = [];
  #mayMissDeletion = false;

  constructor(options: WatchHandlerOptions<T>) {
    this.#options = options;
    this.#reached = options.reached;
    this.#initialObjects = options.initial ? new ObjectMap() : undefined;
  }

  /** The initial state is complete, and changes follow. */
  get following(): boolean {
    return this.#initialObjects === undefined;
  }

  /** Objects of the initial state so far; undefined once it is complete. */
  get initialCount(): number | undefined {
    return this.#initialObjects?.size;
  }

  get reached(): string {
    return this.#reached;
  }

  /** Undecodable objects are skipped; events after an ERROR event are ignored. */
  take(batch: readonly WatchEvent[]): WatchUpdate<T> {
    this.#replaced = undefined;
    this.#deltas = [];
    this.#mayMissDeletion = false;
    let error: ErrorEvent | undefined;
    for (const event of batch) {
      error = this.#handle(event);
      if (error !== undefined) break;
    }
    return { replaced: this.#replaced, deltas: this.#deltas, error, mayMissDeletion: this.#mayMissDeletion };
  }

  #handle(event: WatchEvent): ErrorEvent | undefined {
    const { reader } = this.#options;
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
      case 'UNDECODABLE':
        this.#skip(event.change, reader.skip(event.object));
        return undefined;
      default:
        reader.malformed.reportSkipped('event', undefined, 'unknown event type');
        this.#mayMissDeletion = true;
        return undefined;
    }
  }

  #bookmark(object: KubeObject): void {
    const resourceVersion = object?.metadata?.resourceVersion;
    const objects = this.#initialObjects;
    if (resourceVersion === undefined) {
      this.#options.reader.malformed.reportSkipped('event', undefined, 'bookmark without resourceVersion');
    } else if (objects === undefined) this.#advance(resourceVersion);
    else if (object.metadata.annotations?.[initialEventsEnd] === 'true') {
      this.#initialObjects = undefined;
      this.#reached = resourceVersion;
      this.#replaced = { objects, resourceVersion };
    }
  }

  #change(type: ObjectEventType, raw: KubeObject): void {
    const object = this.#options.reader.read(raw);
    if (object instanceof Unreadable) this.#skip(type, object);
    else if (this.#initialObjects === undefined) {
      this.#deltas.push({ type, object, reached: this.#reached });
      this.#advance(raw.metadata.resourceVersion);
    } else {
      this.#addInitial(this.#initialObjects, type, object);
      if (type !== 'ADDED') this.#lastChangeVersion = laterOf(this.#lastChangeVersion, raw.metadata.resourceVersion);
    }
  }

  /**
   * An added or modified object keeps its stored state; a deletion is applied if the object's name is known. An earlier
   * change that is repeated, and can be decoded then, does not bring it back.
   */
  #skip(type: ObjectEventType | undefined, skipped: Unreadable): void {
    const { name } = skipped;
    const initial = this.#initialObjects;
    if (type === 'ADDED' || type === 'MODIFIED') {
      if (initial !== undefined) keepInState(initial, skipped, this.#options.stored);
    } else if (type === undefined || name === undefined) this.#mayMissDeletion = true;
    else if (initial === undefined) {
      this.#deltas.push({ type, object: skipped, reached: this.#reached });
      this.#advance(skipped.resourceVersion);
    } else {
      initial.delete(name);
      this.#lastChangeVersion = laterOf(this.#lastChangeVersion, skipped.resourceVersion);
    }
  }

  /**
   * The objects of the state come in any order, each once; changes may follow before its end. Both may be repeated, and a
   * repeated event must not undo a later one.
   */
  #addInitial(objects: ObjectMap<T>, type: ObjectEventType, received: NamespacedObject<T>): void {
    const known = objects.get(received);
    const isFirst = known === undefined && this.#lastChangeVersion === '';
    if (!isFirst && this.#options.reader.isStale(type, received.object, known, this.#lastChangeVersion)) return;
    if (type === 'DELETED') objects.delete(received);
    else objects.set(received, received.object);
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
    message: cutText(status?.message ?? 'the API server ended the watch without a message'),
  };
}
