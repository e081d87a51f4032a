// The network between processes and API servers, and what stands between them: load balancer and proxies. Faults are rules
// that are added and removed; each message asks all rules.
import { ApiError } from '../../machinery/api/api-error.ts';
import type { KubeObject } from '../../machinery/api/meta.ts';
import type { ResourceName } from '../../machinery/api/resources.ts';
import type { Taint } from '../../machinery/api/taints.ts';
import type { UndecodableObject, WatchEvent } from '../../machinery/ports/kube-reader.ts';
import type { Random } from '../../machinery/ports/random.ts';
import { between } from '../draw.ts';
import type { SimulatedApiServer } from '../server/api-server.ts';
import type { Requester } from '../server/storage.ts';

/** `evict`: a POST to `pods/NAME/eviction`. */
export type Verb = 'get' | 'list' | 'watch' | 'create' | 'replace' | 'patch' | 'delete' | 'evict';

/** A request, as rules and checkers see it. */
export interface RequestLine {
  readonly by: Requester;
  readonly verb: Verb;
  readonly resource: ResourceName;
  readonly name: string;
  readonly subresource?: 'status' | undefined;
  /** Uid of the object that a deletion or an eviction is meant for. */
  readonly uid?: string;
  /** List that a patch of `spec.taints` sets. */
  readonly taints?: readonly Taint[] | undefined;
  /** A patch that sets the condition Ready to False. */
  readonly setsNotReady?: boolean;
}

export function isWrite({ verb }: RequestLine): boolean {
  return verb !== 'get' && verb !== 'list' && verb !== 'watch';
}

/** True if the request deletes an object, or has it deleted by the Eviction API. */
export function isDeletion({ verb }: RequestLine): boolean {
  return verb === 'delete' || verb === 'evict';
}

/** `frames`: what a watch sends after it was opened. */
type Leg = 'request' | 'response' | 'frames';

type NetworkEffect =
  /** Never arrives, without an error. */
  | { readonly kind: 'lose' }
  /** The connection breaks. */
  | { readonly kind: 'reset' }
  | { readonly kind: 'delay'; readonly msMin: number; readonly msMax: number }
  /** A proxy, or an overloaded server, answers instead. On the leg `request`. */
  | { readonly kind: 'answer'; readonly error: (request: RequestLine) => ApiError }
  /** Delivered twice, and then the ones before it once more, as after a reconnect. On the leg `frames`. */
  | { readonly kind: 'duplicate' }
  /** Objects that cannot be decoded, in whatever contains them. */
  | { readonly kind: 'undecodable'; readonly names: (name: string) => boolean };

export interface NetworkRule {
  readonly matches: (request: RequestLine, server: string) => boolean;
  readonly leg: Leg;
  readonly effect: NetworkEffect;
  /** The share of messages that it affects. */
  readonly rate: number;
}

/** Fate of one message. */
export interface Transit {
  readonly delayMs: number;
  readonly isLost: boolean;
  readonly isReset: boolean;
  readonly isDuplicated: boolean;
  readonly answer: ApiError | undefined;
}

interface NetworkOptions {
  readonly servers: readonly SimulatedApiServer[];
  readonly random: Random;
  /** Latency of one leg without faults. */
  readonly latencyMs: { readonly min: number; readonly max: number };
}

export class Network {
  readonly #options: NetworkOptions;
  readonly #rules = new Set<NetworkRule>();
  /** The server that the load balancer gave to a connection last. */
  readonly #chosen = new Map<string, SimulatedApiServer>();

  constructor(options: NetworkOptions) {
    this.#options = options;
  }

  /** Returns the function that removes it. */
  add(rule: NetworkRule): () => void {
    this.#rules.add(rule);
    return () => this.#rules.delete(rule);
  }

  /** The server of the connection; another one if that is down; undefined if all are. */
  serverFor(connection: string): SimulatedApiServer | undefined {
    const chosen = this.#chosen.get(connection);
    if (chosen?.isUp === true) return chosen;
    const up = this.#options.servers.filter(({ isUp }) => isUp);
    const server = up[Math.floor(this.#options.random.next() * up.length)];
    if (server !== undefined) this.#chosen.set(connection, server);
    return server;
  }

  /** The connection broke: the next one may lead to another server. */
  forget(connection: string): void {
    this.#chosen.delete(connection);
  }

  latencyMs(): number {
    const { min, max } = this.#options.latencyMs;
    return min + (max - min) * this.#options.random.next();
  }

  /** Whether the client of this request cannot decode the object; undefined if it can decode all. */
  undecodable(request: RequestLine, server: string): ((object: KubeObject) => boolean) | undefined {
    if (this.#rules.size === 0) return undefined;
    const found = [...this.#rules].flatMap(({ effect, matches }) =>
      effect.kind === 'undecodable' && matches(request, server) ? [effect.names] : [],
    );
    if (found.length === 0) return undefined;
    return ({ metadata: { name = '' } }) => found.some((names) => names(name));
  }

  /** The fate of a message on one leg. */
  transit(leg: Leg, request: RequestLine, server: string): Transit {
    const delayMs = this.latencyMs();
    if (this.#rules.size > 0) return this.#affect(leg, request, { server, delayMs });
    return { delayMs, isLost: false, isReset: false, isDuplicated: false, answer: undefined };
  }

  #affect(leg: Leg, request: RequestLine, { server, ...way }: { readonly server: string; delayMs: number }): Transit {
    let { delayMs } = way;
    const met = new Set<NetworkEffect['kind']>();
    let answer: ApiError | undefined;
    for (const rule of this.#rules) {
      if (rule.leg !== leg || !rule.matches(request, server)) continue;
      if (rule.rate < 1 && this.#options.random.next() >= rule.rate) continue;
      const { effect } = rule;
      met.add(effect.kind);
      if (effect.kind === 'delay') delayMs += between(this.#options.random, effect.msMin, effect.msMax);
      if (effect.kind === 'answer') answer ??= effect.error(request);
    }
    return {
      delayMs,
      isLost: met.has('lose'),
      isReset: met.has('reset'),
      isDuplicated: met.has('duplicate'),
      answer,
    };
  }
}

/** The event as a client sees it that cannot decode some objects. */
export function asDecoded(event: WatchEvent, isUndecodable: (object: KubeObject) => boolean): WatchEvent {
  if (event.type === 'ERROR' || event.type === 'UNDECODABLE' || event.type === 'BOOKMARK') return event;
  if (!isUndecodable(event.object)) return event;
  return { type: 'UNDECODABLE', change: event.type, object: undecodable(event.object) };
}

/** Object as a client reports it that cannot decode it. */
export function undecodable({ metadata }: KubeObject): UndecodableObject {
  return { metadata, problem: 'unexpected end of the message' };
}

/** A connection broke: a read is unavailable, and of a write the outcome is unknown. */
export class LostConnection extends ApiError {
  constructor(isWrite: boolean) {
    super({ reason: isWrite ? 'timeout' : 'unavailable', message: 'the connection was lost' });
  }
}
