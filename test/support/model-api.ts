import { ApiError, type ApiReason } from '../../src/machinery/api/api-error.ts';
import type { KubeObject } from '../../src/machinery/api/meta.ts';
import type { ResourceName } from '../../src/machinery/api/resources.ts';
import type {
  KubeReader,
  ListOptions,
  ListPage,
  WatchEvent,
  WatchOptions,
  WatchStream,
} from '../../src/machinery/ports/kube-reader.ts';
import { ScriptedStream } from './scripted-reader.ts';

interface Stream {
  readonly scripted: ScriptedStream;
  /** It is open and delivers nothing. */
  muted: boolean;
}

/** One collection of objects as on an API server, with every known way to lose, repeat and reject. */
export class ModelApi implements KubeReader {
  readonly objects = new Map<string, KubeObject>();
  #version = 10;
  #uids = 0;
  #history: { readonly version: number; readonly event: WatchEvent }[] = [];
  #forgottenUpTo = 0;
  readonly #streams: Stream[] = [];
  #rejections: ApiReason[] = [];
  streamsLists = true;
  /** Continue tokens of lists in progress are rejected. */
  pagesExpire = false;
  pageObjects = 2;

  put(name: string): void {
    const known = this.objects.get(name);
    const uid = known?.metadata.uid ?? `uid-${++this.#uids}`;
    const object = { metadata: { name, uid, resourceVersion: this.#nextVersion() } };
    this.objects.set(name, object);
    this.#happened({ type: known === undefined ? 'ADDED' : 'MODIFIED', object });
  }

  remove(name: string): void {
    const known = this.objects.get(name);
    if (known === undefined) return;
    this.objects.delete(name);
    const object = { metadata: { ...known.metadata, resourceVersion: this.#nextVersion() } };
    this.#happened({ type: 'DELETED', object });
  }

  /** Repeats the last events on all watches. */
  repeat(events: number): void {
    this.#deliver(...this.#history.slice(-events).map(({ event }) => event));
  }

  bookmark(): void {
    this.#deliver({ type: 'BOOKMARK', object: { metadata: { resourceVersion: String(this.#version) } } });
  }

  babble(): void {
    this.#deliver({ type: 'MODIFIED', object: { metadata: {} } });
  }

  cut(): void {
    for (const { scripted } of this.#streams.splice(0)) scripted.finish('unavailable');
  }

  end(): void {
    for (const { scripted } of this.#streams.splice(0)) scripted.finish();
  }

  stall(): void {
    for (const stream of this.#streams) stream.muted = true;
  }

  /** Drops the history: older versions cannot be watched from. */
  compact(): void {
    this.#forgottenUpTo = this.#version;
    this.#history = [];
  }

  refuse(...reasons: readonly ApiReason[]): void {
    this.#rejections.push(...reasons);
  }

  heal(): void {
    this.#rejections = [];
    this.pagesExpire = false;
  }

  get(): Promise<KubeObject> {
    return Promise.reject(new ApiError({ reason: 'not-found', message: 'not in this model' }));
  }

  async list(_resource: ResourceName, options: ListOptions): Promise<ListPage> {
    this.#mayRefuse();
    if (options.continue !== undefined && this.pagesExpire) throw refusal('expired');
    const from = Number(options.continue ?? 0);
    const all = [...this.objects.values()];
    const items = options.limit === undefined ? all : all.slice(from, from + this.pageObjects);
    const next = from + items.length;
    const more = options.limit !== undefined && next < all.length;
    // A real server continues at the old version after a change: here the list starts again instead.
    return { metadata: { resourceVersion: String(this.#version), ...(more ? { continue: String(next) } : {}) }, items };
  }

  async watch(_resource: ResourceName, options: WatchOptions & { readonly signal: AbortSignal }): Promise<WatchStream> {
    this.#mayRefuse();
    const initial = options.sendInitialEvents === true;
    if (initial && !this.streamsLists) throw refusal('invalid');
    const stream: Stream = { scripted: new ScriptedStream(options.signal), muted: false };
    this.#streams.push(stream);
    this.#begin(stream, initial ? undefined : Number(options.resourceVersion));
    return stream.scripted.read();
  }

  #begin({ scripted }: Stream, version: number | undefined): void {
    if (version === undefined) {
      scripted.push(...this.#initialEvents());
    } else if (version < this.#forgottenUpTo) {
      scripted.push({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } });
      scripted.finish();
    } else {
      const missed = this.#history.filter((entry) => entry.version > version);
      scripted.push(...missed.map(({ event }) => event));
    }
  }

  #initialEvents(): readonly WatchEvent[] {
    const annotations = { 'k8s.io/initial-events-end': 'true' };
    const metadata = { resourceVersion: String(this.#version), annotations };
    return [
      ...[...this.objects.values()].map((object) => ({ type: 'ADDED' as const, object })),
      { type: 'BOOKMARK', object: { metadata } },
    ];
  }

  #mayRefuse(): void {
    const reason = this.#rejections.shift();
    if (reason !== undefined) throw refusal(reason);
  }

  #nextVersion(): string {
    this.#version += 1;
    return String(this.#version);
  }

  #happened(event: WatchEvent): void {
    this.#history.push({ version: this.#version, event });
    this.#deliver(event);
  }

  #deliver(...events: readonly WatchEvent[]): void {
    for (const { scripted, muted } of this.#streams) if (!muted) scripted.push(...events);
  }
}

function refusal(reason: ApiReason): ApiError {
  return new ApiError({ reason, message: `the model refuses: ${reason}` });
}
