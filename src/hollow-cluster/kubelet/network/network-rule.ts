import type { ResourceName } from '../../../machinery/api/resources.ts';
import type { RequestVerb } from '../faults/fault.ts';

/** The parts of a request to the API server that network faults are matched against. */
export interface NetworkRequest {
  readonly verb: RequestVerb | 'watch';
  readonly resource: ResourceName;
}

/** `status`: reads and writes of the node. `deletions`: of pods. */
export type RequestClass = 'all' | 'none' | 'lease' | 'status' | 'deletions';

export interface RequestFilter {
  readonly class: RequestClass;
  readonly verb?: RequestVerb | undefined;
  readonly resource?: string | undefined;
}

/** What happens to the requests that a rule matches. */
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
