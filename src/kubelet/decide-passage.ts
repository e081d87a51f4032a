import { type ApiReason, reasonFor } from '../api/api-error.ts';
import type { NetworkRequest, NetworkRule, RequestFilter } from './network-rule.ts';

/** What happens to a request on one leg of its way. */
export type Passage =
  | { readonly kind: 'pass'; readonly delayMs: number }
  | { readonly kind: 'lost' }
  | { readonly kind: 'reset' }
  | { readonly kind: 'refused'; readonly code: number; readonly reason: ApiReason };

/** What the rules make of a request on its way there, or of its answer on the way back. `chance`: uniform in [0, 1). */
export function decidePassage(
  rules: readonly NetworkRule[],
  request: NetworkRequest,
  leg: 'request' | 'response',
  chance: () => number,
): Passage {
  let delayMs = 0;
  for (const { about, effect } of rules) {
    if (!matchesRequest(about, request)) continue;
    if (effect.kind === 'swallow') return { kind: 'lost' };
    if (effect.kind === 'reset') return { kind: 'reset' };
    if (effect.kind === 'delay' && effect.on === leg) delayMs += deriveDelayMs(effect.ms, effect.jitterMs, chance());
    if (effect.kind === 'refuse' && leg === 'request' && chance() < effect.rate) {
      return { kind: 'refused', code: effect.code, reason: reasonFor(effect.code, undefined) };
    }
  }
  return { kind: 'pass', delayMs };
}

/** A heartbeat has a deadline; other requests are as patient as their caller (kubelet `heartbeatClient`). */
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

function deriveDelayMs(ms: number, jitterMs: number, chance: number): number {
  return Math.max(0, ms + jitterMs * (2 * chance - 1));
}
