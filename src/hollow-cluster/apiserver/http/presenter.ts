/** Encodes stored objects in the form that a client requested. */
import type { KubeObject, ListMeta, Status } from '../../../machinery/api/meta.ts';
import type { EventType } from '../registry/watched-change.ts';
import type { StoredObject } from '../storage/stored-object.ts';

export interface Presenter {
  readonly contentType: string;
  /** Content type of a watch. */
  readonly watchType: string;
  /** Presenters with the same key encode an event to the same bytes; undefined if each event is encoded for itself. */
  readonly eventKey: string | undefined;
  /** Whether what it encodes is made from the JSON of the objects, which is shared. */
  readonly usesJson: boolean;
  object(stored: StoredObject): Buffer;
  /** Encoded as it is iterated, in parts: the body of a `Reply`. */
  list(metadata: ListMeta, items: readonly StoredObject[]): Iterable<Buffer>;
  /** An event of a watch. `first` adds the columns of a table. */
  event(type: EventType, stored: StoredObject, first: boolean): Buffer;
  /** An event with a revision only; `endsInitialEvents` marks the end of the initial state. `first` is that of `event`. */
  bookmark(revision: number, endsInitialEvents: boolean, first: boolean): Buffer;
  /** The last event of a watch that failed. */
  error(status: Status | undefined): Buffer;
}

/** Marks the bookmark that ends the initial state of a watch. */
const initialEventsEnd = { 'k8s.io/initial-events-end': 'true' } as const;

/** All that the object of a bookmark has. */
export function bookmarkMetadata(revision: number, endsInitialEvents: boolean): KubeObject['metadata'] {
  const annotations = endsInitialEvents ? { annotations: initialEventsEnd } : {};
  return { resourceVersion: String(revision), ...annotations };
}

/** An object with metadata; throws for any other, by the name that it is given. */
export function asKubeObject(value: object, name: string): KubeObject {
  if (!isKubeObject(value)) throw new Error(`${name} has no metadata`);
  return value;
}

function isKubeObject(value: object): value is KubeObject {
  return 'metadata' in value && typeof value.metadata === 'object';
}
