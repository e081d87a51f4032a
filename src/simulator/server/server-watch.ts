import type { ResourceName } from '../../machinery/api/resources.ts';
import { contentOf, eventTypeOf } from '../../hollow-cluster/apiserver/registry/watched-change.ts';
import type { Selection } from '../../hollow-cluster/apiserver/registry/selection.ts';
import type { StoreChange } from '../../hollow-cluster/apiserver/storage/store-change.ts';
import type { Watcher } from '../../hollow-cluster/apiserver/storage/watch-hub.ts';
import type { WatchEvent } from '../../machinery/ports/kube-reader.ts';
import type { Storage } from './storage.ts';

/** The network's end of a watch: takes what the server sends. */
export interface WatchSink {
  send(events: readonly WatchEvent[]): void;
  /** The server closed the stream. */
  end(): void;
}

interface ServerWatchOptions {
  readonly resource: ResourceName;
  readonly selection: Selection;
  readonly storage: Storage;
  /** The client already has the changes up to this revision. */
  readonly after: number;
  readonly bookmarks: boolean;
  readonly sink: WatchSink;
}

/** One open watch, on the server's side. */
export class ServerWatch implements Watcher {
  readonly bucket: string;
  readonly #options: ServerWatchOptions;

  constructor(options: ServerWatchOptions) {
    this.#options = options;
    this.bucket = options.selection.bucket;
  }

  deliver(change: StoreChange): void {
    if (change.revision <= this.#options.after) return;
    const event = this.eventOf(change);
    if (event !== undefined) this.#options.sink.send([event]);
  }

  /** Event that the client receives for a change; undefined if its selection is not affected. */
  eventOf(change: StoreChange): WatchEvent | undefined {
    const { selection, storage, resource } = this.#options;
    const type = eventTypeOf(change, selection);
    return type === undefined ? undefined : { type, object: storage.decode(resource, contentOf(change, type)) };
  }

  bookmark(revision: number, endsInitialEvents = false): void {
    // A bookmark is never older than the version that the client asked for.
    if (!this.#options.bookmarks || revision < this.#options.after) return;
    const annotations = endsInitialEvents ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {};
    const metadata = { resourceVersion: String(revision), ...annotations };
    this.#options.sink.send([{ type: 'BOOKMARK', object: { metadata } }]);
  }

  end(): void {
    this.#options.sink.end();
  }
}
