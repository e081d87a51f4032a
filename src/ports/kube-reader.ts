import type { KubeObject, ListMeta, Status } from '../api/meta.ts';
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
   * Takes each object as it arrives, so that a large list is never held as a whole; what was taken is not among the
   * page's items. A reader may do without: then all are among the items. If the list fails, what was taken is no list.
   */
  readonly each?: (item: KubeObject) => void;
}

export interface ListPage {
  readonly metadata: ListMeta;
  readonly items: readonly KubeObject[];
}

export interface WatchOptions extends Selection {
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: 'NotOlderThan';
  /** WatchList: the state first, then a bookmark annotated `k8s.io/initial-events-end`, then changes. */
  readonly sendInitialEvents?: boolean;
  readonly allowWatchBookmarks?: boolean;
  /** The server ends the stream after this long. */
  readonly timeoutSeconds?: number;
}

export type WatchEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'; readonly object: KubeObject }
  | { readonly type: 'ERROR'; readonly object: Status };

/**
 * An open watch. Each iteration yields the events that arrived together, in order; it waits for the reader, so a slow
 * reader slows the socket down. Ends when the server ends it; rejects with an ApiError when the connection is lost.
 */
export type WatchStream = AsyncIterable<readonly WatchEvent[]>;

/** Reading from the API server. Every method rejects with an ApiError and with nothing else. */
export interface KubeReader {
  /** `resourceVersion: '0'` accepts what the server has in its cache. */
  get(
    resource: ResourceName,
    name: ObjectName,
    options: { readonly resourceVersion?: string; readonly signal: AbortSignal },
  ): Promise<KubeObject>;
  /** One page. */
  list(resource: ResourceName, options: ListOptions & ListTaking & { readonly signal: AbortSignal }): Promise<ListPage>;
  /** Resolves once the server has accepted the watch (headers are there). */
  watch(resource: ResourceName, options: WatchOptions & { readonly signal: AbortSignal }): Promise<WatchStream>;
}
