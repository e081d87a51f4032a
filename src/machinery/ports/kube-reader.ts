import type { KubeObject, ListMeta, ObjectMeta, Status } from '../api/meta.ts';
import type { ResourceName } from '../api/resources.ts';

export interface ObjectName {
  /** Required for namespaced resources. */
  readonly namespace?: string;
  readonly name: string;
}

export interface Selection {
  /** All namespaces when absent. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export interface ListOptions extends Selection {
  readonly limit?: number;
  readonly continue?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan';
}

export interface ListTaking {
  /**
   * Receives each object as it arrives, so that a large list is never held in memory; received objects are not in the
   * page's items. A reader may ignore it and return all objects as items. If the list fails, the objects are incomplete.
   */
  readonly each?: (item: KubeObject) => void;
  /**
   * Milliseconds that the list may wait for its retries in all, Retry-After included. 0: its caller decides on a rejection at
   * once. Absent: as the reader does.
   */
  readonly waitMsMax?: number;
}

/** An object, or a whole event, whose bytes could not be decoded. It is skipped; the objects around it are not. */
export interface UndecodableObject {
  /** The object's metadata; undefined if that could not be decoded either. */
  readonly metadata: ObjectMeta | undefined;
  /** Problem with the bytes. */
  readonly problem: string;
}

export interface ListPage {
  readonly metadata: ListMeta;
  readonly items: readonly KubeObject[];
  /** Objects of the list that could not be decoded: neither in the items nor passed to `each`. */
  readonly undecodable?: readonly UndecodableObject[];
}

export interface WatchOptions extends Selection {
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: 'NotOlderThan';
  /** WatchList: the state first, then a bookmark annotated `k8s.io/initial-events-end`, then changes. */
  readonly sendInitialEvents?: boolean;
  readonly allowWatchBookmarks?: boolean;
  /** The server closes the stream after this time. */
  readonly timeoutSeconds?: number;
}

export type WatchEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'; readonly object: KubeObject }
  | { readonly type: 'ERROR'; readonly object: Status }
  /** An event that could not be decoded; not part of the API. `change` is its type, if that could be decoded. */
  | { readonly type: 'UNDECODABLE'; readonly change: ObjectEventType | undefined; readonly object: UndecodableObject };

export type ObjectEventType = 'ADDED' | 'MODIFIED' | 'DELETED';

/**
 * An open watch. Each iteration yields the events that arrived together, in order; the stream applies backpressure to the
 * socket. Ends when the server closes it; rejects with an ApiError when the connection is lost.
 */
export type WatchStream = AsyncIterable<readonly WatchEvent[]>;

/** Reads from the API server. Every method rejects only with an ApiError. */
export interface KubeReader {
  /**
   * `resourceVersion: '0'` allows a response from the server's cache. `whole`: with all fields and all items, to be written
   * back; otherwise possibly only those that the transforms read.
   */
  get(
    resource: ResourceName,
    name: ObjectName,
    options: { readonly resourceVersion?: string; readonly whole?: boolean; readonly signal: AbortSignal },
  ): Promise<KubeObject>;
  /** One page. */
  list(resource: ResourceName, options: ListOptions & ListTaking & { readonly signal: AbortSignal }): Promise<ListPage>;
  /** Resolves when the server has accepted the watch (response headers received). */
  watch(resource: ResourceName, options: WatchOptions & { readonly signal: AbortSignal }): Promise<WatchStream>;
}
