// A minimal API server for the controller: versions, preconditions, merges, and faults on demand. It records every request.
import { ApiError, type ApiReason } from '../../src/machinery/api/api-error.ts';
import type { Condition } from '../../src/machinery/api/conditions.ts';
import type { Lease } from '../../src/machinery/api/lease.ts';
import type { KubeObject } from '../../src/machinery/api/meta.ts';
import type { Node } from '../../src/machinery/api/node.ts';
import { objectKey } from '../../src/machinery/api/object-key.ts';
import type { Pod } from '../../src/machinery/api/pod.ts';
import { taintKeys } from '../../src/machinery/api/taints.ts';
import type { KubeReader } from '../../src/machinery/ports/kube-reader.ts';
import type { KubeWriter } from '../../src/machinery/ports/kube-writer.ts';
import { mergeConditions } from '../support/merge-conditions.ts';
import type { ConcurrentWrite, Fault } from './format.ts';
import { taintOf } from './given-objects.ts';
import type { VectorClock } from './vector-clock.ts';

type Verb = 'get' | 'list' | 'patch' | 'delete';

export interface ApiRequest {
  readonly verb: Verb;
  readonly resource: string;
  readonly subresource: string | undefined;
  readonly key: string;
  readonly name: string;
  readonly patchType: string | undefined;
  readonly body: unknown;
  /** Options of a delete request. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly atS: number;
  /** On the running clock, which spaces retries. */
  readonly atMs: number;
  /** Undefined: accepted. */
  readonly refused: ApiReason | undefined;
}

interface GonePod {
  readonly pod: Pod;
  readonly atS: number;
}

type Stored<T extends KubeObject> = T & {
  readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string };
};

type Kind = 'nodes' | 'pods' | 'leases';

const reasons: Readonly<Record<string, ApiReason>> = {
  Conflict: 'conflict',
  InternalError: 'internal',
  NotFound: 'not-found',
  Timeout: 'timeout',
};

const managedNoSchedule: ReadonlySet<string> = new Set(Object.values(taintKeys));

export class RecordingApi {
  readonly requests: ApiRequest[] = [];
  /** Pods whose deletion was accepted, in their last state. */
  readonly gone = new Map<string, GonePod>();
  readonly #objects: Readonly<Record<Kind, Map<string, Stored<KubeObject>>>> = {
    nodes: new Map(),
    pods: new Map(),
    leases: new Map(),
  };
  readonly #faults: { readonly fault: Fault; left: number }[] = [];
  readonly #time: VectorClock;
  #concurrent: ConcurrentWrite | undefined;
  #version = 100;
  /** While true no node worker runs: its requests are neither executed nor counted. */
  nodeWorkersHeld = false;

  constructor(time: VectorClock) {
    this.#time = time;
  }

  // --- operations of the vector ---

  put(resource: 'nodes', object: Node): void;
  put(resource: 'pods', object: Pod): void;
  put(resource: 'leases', object: Lease): void;
  put(resource: Kind, object: KubeObject): void {
    this.#store(resource, object);
  }

  remove(resource: Kind, key: string): void {
    this.#objects[resource].delete(key);
  }

  fail(fault: Fault): void {
    this.#faults.push({ fault, left: fault.times ?? 1 });
  }

  writeConcurrently(write: ConcurrentWrite): void {
    this.#concurrent = write;
  }

  // --- state ---

  node(name: string): Stored<Node> | undefined {
    return this.#objects.nodes.get(name) as Stored<Node> | undefined;
  }

  nodes(): readonly Stored<Node>[] {
    return [...this.#objects.nodes.values()] as readonly Stored<Node>[];
  }

  pod(key: string): Stored<Pod> | undefined {
    return this.#objects.pods.get(key) as Stored<Pod> | undefined;
  }

  pods(): readonly Stored<Pod>[] {
    return [...this.#objects.pods.values()] as readonly Stored<Pod>[];
  }

  leases(): readonly Stored<Lease>[] {
    return [...this.#objects.leases.values()] as readonly Stored<Lease>[];
  }

  // --- API of the controller ---

  readonly client: Pick<KubeReader, 'get' | 'list'> & Pick<KubeWriter, 'patch' | 'delete' | 'evict'> = {
    get: (resource, { namespace, name }) => this.#get(resource as Kind, objectKey(namespace, name)),
    list: (resource) => this.#list(resource as Kind),
    patch: (resource, { namespace, name }, { type, body }, { subresource }) =>
      this.#patch({ resource: resource as Kind, key: objectKey(namespace, name), type, body, subresource }),
    delete: (resource, { namespace, name }, { uid, resourceVersion, gracePeriodSeconds }) =>
      this.#delete(resource as Kind, objectKey(namespace, name), { uid, resourceVersion }, { gracePeriodSeconds }),
    // kube-controller-manager never evicts by the Eviction API.
    evict: () => Promise.reject(new Error('no vector expects an eviction')),
  };

  async #get(resource: Kind, key: string): Promise<KubeObject> {
    await Promise.resolve();
    return this.#answer({ verb: 'get', resource, key }, () => this.#existing(resource, key));
  }

  async #list(resource: Kind): ReturnType<KubeReader['list']> {
    await Promise.resolve();
    return this.#answer({ verb: 'list', resource, key: '' }, () => {
      return { metadata: { resourceVersion: String(this.#version) }, items: [...this.#objects[resource].values()] };
    });
  }

  async #patch(patch: {
    readonly resource: Kind;
    readonly key: string;
    readonly type: string;
    readonly body: unknown;
    readonly subresource: string | undefined;
  }): Promise<KubeObject> {
    await Promise.resolve();
    const { resource, key, body, subresource } = patch;
    if (resource === 'nodes' && subresource === undefined) this.#interfere(key);
    if (this.nodeWorkersHeld && resource === 'nodes' && this.#isNodeWork(key, body)) {
      throw new ApiError({ reason: 'not-found', message: 'node workers are held', code: 404 });
    }
    const patchType = patch.type === 'strategic-merge' ? 'strategic' : patch.type;
    return this.#answer({ verb: 'patch', resource, key, subresource, patchType, body }, () => {
      const stored = this.#existing(resource, key);
      checkGuards(stored, (body as { readonly metadata?: Guard }).metadata ?? {});
      return this.#store(resource, merge(stored, body) as KubeObject);
    });
  }

  async #delete(resource: Kind, key: string, preconditions: Guard, requested: object): Promise<void> {
    await Promise.resolve();
    const guard = present(preconditions) as Guard;
    const sent = { ...present(requested), ...(Object.keys(guard).length === 0 ? {} : { preconditions: guard }) };
    this.#answer({ verb: 'delete', resource, key, options: sent }, () => {
      const stored = this.#existing(resource, key);
      checkGuards(stored, guard);
      this.#objects[resource].delete(key);
      if (resource === 'pods') this.gone.set(key, { pod: stored as Pod, atS: this.#time.seconds });
    });
  }

  /** Records the request, and either injects the fault or executes it. */
  #answer<T>(
    request: Pick<ApiRequest, 'verb' | 'key'> & Partial<ApiRequest> & { readonly resource: Kind },
    act: () => T,
  ): T {
    const injected = this.#takeFault(request.verb, request.resource, request.subresource);
    try {
      if (injected !== undefined) throw new ApiError({ reason: injected, message: `injected ${injected}` });
      const answer = act();
      this.#keep(request, undefined);
      return answer;
    } catch (error) {
      if (error instanceof ApiError) this.#keep(request, error.reason);
      throw error;
    }
  }

  #keep(
    request: Pick<ApiRequest, 'verb' | 'resource' | 'key'> & Partial<ApiRequest>,
    refused: ApiReason | undefined,
  ): void {
    this.requests.push({
      subresource: undefined,
      patchType: undefined,
      body: undefined,
      options: {},
      ...request,
      name: request.key.slice(request.key.indexOf('/') + 1),
      atS: this.#time.seconds,
      atMs: this.#time.clock.monotonicMs(),
      refused,
    });
  }

  #takeFault(verb: Verb, resource: Kind, subresource: string | undefined): ApiReason | undefined {
    const found = this.#faults.find(({ fault, left }) => left > 0 && concerns(fault, verb, resource, subresource));
    if (found === undefined) return undefined;
    found.left -= 1;
    return reasons[found.fault.error ?? 'InternalError'];
  }

  /** Another client was faster, once. */
  #interfere(key: string): void {
    const write = this.#concurrent;
    const node = this.node(key);
    if (write === undefined || node === undefined || (write.node !== undefined && write.node !== key)) return;
    this.#concurrent = undefined;
    const taints = write.taints?.map((taint) => taintOf(taint, this.#time.nowMs));
    const stored = this.#store(
      'nodes',
      taints === undefined ? node : ({ ...node, spec: { ...node.spec, taints } } as Node),
    );
    if (write.resourceVersion === undefined) return;
    const metadata = { ...stored.metadata, resourceVersion: String(write.resourceVersion) };
    this.#objects.nodes.set(key, { ...stored, metadata } as Stored<KubeObject>);
  }

  /** Changes of labels, or of only the NoSchedule taints of conditions, come from node workers. */
  #isNodeWork(key: string, body: unknown): boolean {
    const { metadata, spec } = body as Pick<Node, 'metadata' | 'spec'>;
    const wanted = spec?.taints;
    if (wanted === undefined) return metadata?.labels !== undefined;
    const texts = (taints: NonNullable<Node['spec']>['taints']): ReadonlyMap<string, string> =>
      new Map((taints ?? []).map((taint) => [`${taint.effect} ${taint.key}`, JSON.stringify(taint)]));
    const before = texts(this.node(key)?.spec?.taints);
    const after = texts(wanted);
    const changed = [...new Set([...before.keys(), ...after.keys()])].filter((id) => before.get(id) !== after.get(id));
    return (
      changed.length > 0 && changed.every((id) => id.startsWith('NoSchedule ') && managedNoSchedule.has(id.slice(11)))
    );
  }

  #existing(resource: Kind, key: string): Stored<KubeObject> {
    const stored = this.#objects[resource].get(key);
    if (stored !== undefined) return stored;
    const name = key.slice(key.indexOf('/') + 1);
    const status = { status: 'Failure', reason: 'NotFound', code: 404, details: { name, kind: resource } } as const;
    throw new ApiError({ reason: 'not-found', message: `${resource} "${key}" not found`, code: 404, status });
  }

  #store(resource: Kind, object: KubeObject): Stored<KubeObject> {
    this.#version += 1;
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(this.#version) } };
    const { namespace, name = '' } = object.metadata;
    this.#objects[resource].set(objectKey(namespace, name), stored as Stored<KubeObject>);
    return stored as Stored<KubeObject>;
  }
}

/** PUT and PATCH are equivalent for faults: a fault for one applies to the write, whichever is used. */
function concerns(fault: Fault, verb: Verb, resource: Kind, subresource: string | undefined): boolean {
  if (fault.resource !== resource) return false;
  const asWritten = fault.verb === 'update' ? 'patch' : fault.verb;
  if (asWritten !== verb) return false;
  const anyPart = resource === 'pods' && fault.subresource === undefined;
  return anyPart || fault.subresource === subresource;
}

interface Guard {
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
}

function present(options: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

function checkGuards(stored: Stored<KubeObject>, { uid, resourceVersion }: Guard): void {
  const isOther = uid !== undefined && uid !== stored.metadata.uid;
  const isOld = resourceVersion !== undefined && resourceVersion !== stored.metadata.resourceVersion;
  if (isOther || isOld) throw new ApiError({ reason: 'conflict', message: 'the object has been modified', code: 409 });
}

/** A strategic merge, as far as nodes and pods need it: conditions merge by type, other lists are replaced. */
function merge(stored: unknown, patch: unknown, path = ''): unknown {
  if (path === '.status.conditions') return mergeConditions(stored, patch as readonly Condition[]);
  if (!isMap(patch)) return patch;
  const merged: Record<string, unknown> = { ...(isMap(stored) ? stored : {}) };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else merged[key] = merge(merged[key], value, `${path}.${key}`);
  }
  return merged;
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
