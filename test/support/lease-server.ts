import { ApiError } from '../../src/machinery/api/api-error.ts';
import type { Lease } from '../../src/machinery/api/lease.ts';
import type { KubeObject } from '../../src/machinery/api/meta.ts';
import type { LeaseApi } from '../../src/machinery/election/election-options.ts';
import type { Clock } from '../../src/machinery/ports/clock.ts';
import type { ListPage } from '../../src/machinery/ports/kube-reader.ts';

/** One lease, with versions and conflicts as on a real server, and any number of client links. */
export class LeaseServer {
  #lease: Lease | undefined;
  #history: Lease[] = [];
  /** Earlier versions can no longer be read. */
  compacted = false;
  #version = 100;
  #uid = 0;
  readonly #clock: Clock;
  /** Every write that was carried out, with its monotonic time. */
  readonly writes: { readonly atMs: number; readonly verb: 'create' | 'replace' | 'delete'; readonly lease: Lease }[] =
    [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get lease(): Lease | undefined {
    return this.#lease;
  }

  get holder(): string | undefined {
    return this.#lease?.spec?.holderIdentity ?? undefined;
  }

  read(): Lease {
    if (this.#lease === undefined) throw refusal('not-found', 404);
    return this.#lease;
  }

  /** The lease at this version, of the history since the last restore; `expired` once that was compacted. */
  readAt(version: string): Lease {
    if (this.compacted) throw refusal('expired', 410);
    const states = this.#history.filter(({ metadata }) => Number(metadata.resourceVersion) <= Number(version));
    const lease = states.at(-1);
    if (lease === undefined) throw refusal('not-found', 404);
    return lease;
  }

  create(object: Lease): Lease {
    if (this.#lease !== undefined) throw refusal('already-exists', 409);
    return this.#store('create', { ...object, metadata: { ...object.metadata, uid: `uid-${this.#uid++}` } });
  }

  replace(object: Lease): Lease {
    const stored = this.read();
    const { resourceVersion, uid } = object.metadata;
    if (resourceVersion !== undefined && resourceVersion !== stored.metadata.resourceVersion)
      throw refusal('conflict', 409);
    if (uid !== undefined && uid !== stored.metadata.uid) throw refusal('conflict', 409);
    return this.#store('replace', object);
  }

  delete(): void {
    if (this.#lease === undefined) return;
    this.writes.push({ atMs: this.#clock.monotonicMs(), verb: 'delete', lease: this.#lease });
    this.#lease = undefined;
  }

  /** As `kubectl edit`: changes the record without a resourceVersion precondition. */
  edit(spec: Lease['spec'] & object): void {
    const stored = this.read();
    this.#store('replace', { ...stored, spec: { ...stored.spec, ...spec } });
  }

  /** As a restore of etcd: the lease as it was, at its version then, and later writes continue from there. */
  restore(lease: Lease): void {
    this.#lease = lease;
    this.#version = Number(lease.metadata.resourceVersion) + 1;
    this.#history = this.#history.filter(({ metadata }) => Number(metadata.resourceVersion) < this.#version);
  }

  #store(verb: 'create' | 'replace', object: Lease): Lease {
    const lease = { ...object, metadata: { ...object.metadata, resourceVersion: String(this.#version++) } };
    this.#lease = lease;
    this.#history.push(lease);
    this.writes.push({ atMs: this.#clock.monotonicMs(), verb, lease });
    return lease;
  }
}

function refusal(reason: 'not-found' | 'already-exists' | 'conflict' | 'expired', code: number): ApiError {
  return new ApiError({ reason, code, message: reason });
}

const never = new AbortController().signal;

/**
 * One process's link to the server. Requests and responses take time, get lost while it is cut, and arrive at the server
 * even if the caller has aborted them.
 */
export class LeaseLink implements LeaseApi {
  readonly #server: LeaseServer;
  readonly #clock: Clock;
  requestMs = 0;
  answerMs = 0;
  cut = false;
  /** Requests arrive, and their responses are lost. */
  answersLost = false;
  /** The transport ignores its signal. */
  ignoresSignal = false;
  /** Thrown instead of the next responses, before the request reaches the server. */
  readonly errors: ApiError[] = [];
  readonly calls: string[] = [];
  /** A suspended process receives nothing until it resumes. */
  resumed: () => Promise<void> = () => Promise.resolve();

  constructor(server: LeaseServer, clock: Clock) {
    this.#server = server;
    this.#clock = clock;
  }

  get(_resource: string, _name: unknown, options: { readonly signal: AbortSignal }): Promise<KubeObject> {
    return this.#call('get', options.signal, () => this.#server.read());
  }

  /** At an exact version only. */
  async list(
    _resource: string,
    { resourceVersion = '', signal }: { readonly resourceVersion?: string; readonly signal: AbortSignal },
  ): Promise<ListPage> {
    const lease = await this.#call('list', signal, () => this.#server.readAt(resourceVersion));
    return { metadata: {}, items: [lease] };
  }

  create(_resource: string, object: KubeObject, options: { readonly signal: AbortSignal }): Promise<KubeObject> {
    return this.#call('create', options.signal, () => this.#server.create(object));
  }

  replace(_resource: string, object: KubeObject, options: { readonly signal: AbortSignal }): Promise<KubeObject> {
    return this.#call('replace', options.signal, () => this.#server.replace(object));
  }

  async #call(verb: string, signal: AbortSignal, act: () => Lease): Promise<Lease> {
    this.calls.push(verb);
    const error = this.errors.shift();
    if (error !== undefined) throw error;
    try {
      return await (this.ignoresSignal ? this.#exchange(act) : Promise.race([this.#exchange(act), abortion(signal)]));
    } finally {
      await this.resumed();
    }
  }

  async #exchange(act: () => Lease): Promise<Lease> {
    if (this.cut) return lost();
    await this.#clock.sleep(this.requestMs, never);
    const answer = outcome(act);
    await this.#clock.sleep(this.answerMs, never);
    return this.cut || this.answersLost ? lost() : answer();
  }
}

function outcome(act: () => Lease): () => Lease {
  try {
    const lease = act();
    return () => lease;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

function lost(): Promise<never> {
  return new Promise(() => {});
}

function abortion(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const abort = (): void => reject(new ApiError({ reason: 'aborted', message: 'aborted' }));
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
}
