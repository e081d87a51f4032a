import { type ApiReason, reasonFor } from '../../../machinery/api/api-error.ts';
import type { ResourceName } from '../../../machinery/api/resources.ts';
import type { RequestVerb } from '../faults/fault.ts';

/** The parts of a request to the API server that network faults are matched against. */
export interface NetworkRequest {
  readonly verb: RequestVerb;
  readonly resource: ResourceName;
}

/** `status`: reads and writes of the node. `deletions`: of pods. */
export type RequestClass = 'all' | 'none' | 'lease' | 'status' | 'deletions';

interface RequestFilter {
  readonly class: RequestClass;
  readonly verb?: RequestVerb | undefined;
  readonly resource?: string | undefined;
}

/** Effect of a rule on the requests that it matches. */
type NetworkEffect =
  /** No response. */
  | { readonly kind: 'swallow' }
  /** The connection is reset. */
  | { readonly kind: 'reset' }
  | { readonly kind: 'delay'; readonly ms: number; readonly jitterMs: number; readonly on: 'request' | 'response' }
  /** This share is answered with this code, and does not reach the API server. */
  | { readonly kind: 'refuse'; readonly code: number; readonly rate: number };

/** A fault between one node and the API server. */
export interface NetworkRule {
  readonly about: RequestFilter;
  readonly effect: NetworkEffect;
  /** The node's watches stall as well. */
  readonly stallsWatches: boolean;
}

/** Fate of a request, or of its response, in transit. */
export type Transit =
  | { readonly kind: 'pass'; readonly delayMs: number }
  | { readonly kind: 'lost' }
  | { readonly kind: 'reset' }
  | { readonly kind: 'refused'; readonly code: number; readonly reason: ApiReason };

/** Applies the rules to a request or to its response (`leg`). `chance`: uniform in [0, 1). */
export function decideTransit(
  rules: readonly NetworkRule[],
  request: NetworkRequest,
  leg: 'request' | 'response',
  chance: () => number,
): Transit {
  let delayMs = 0;
  for (const { about, effect } of rules) {
    if (!matchesRequest(about, request)) continue;
    if (effect.kind === 'swallow') return { kind: 'lost' };
    if (effect.kind === 'reset') return { kind: 'reset' };
    if (effect.kind === 'delay' && effect.on === leg) delayMs += selectDelayMs(effect.ms, effect.jitterMs, chance());
    if (effect.kind === 'refuse' && leg === 'request' && chance() < effect.rate) {
      return { kind: 'refused', code: effect.code, reason: reasonFor(effect.code, undefined) };
    }
  }
  return { kind: 'pass', delayMs };
}

/** Heartbeats have a deadline; the timeout of all other requests is set by the caller (kubelet `heartbeatClient`). */
export function isHeartbeat({ verb, resource }: NetworkRequest): boolean {
  return resource === 'leases' || (resource === 'nodes' && (verb === 'get' || verb === 'patch'));
}

function matchesRequest(about: RequestFilter, request: NetworkRequest): boolean {
  if ((about.verb ?? request.verb) !== request.verb) return false;
  if ((about.resource ?? request.resource) !== request.resource) return false;
  return isOfClass(about.class, request);
}

function isOfClass(wanted: RequestFilter['class'], request: NetworkRequest): boolean {
  switch (wanted) {
    case 'all':
      return true;
    case 'none':
      return false;
    case 'lease':
      return request.resource === 'leases';
    case 'status':
      return request.resource === 'nodes' && isHeartbeat(request);
    case 'deletions':
      return request.resource === 'pods' && request.verb === 'delete';
  }
}

function selectDelayMs(ms: number, jitterMs: number, chance: number): number {
  return Math.max(0, ms + jitterMs * (2 * chance - 1));
}
