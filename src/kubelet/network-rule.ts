import type { ResourceName } from '../api/resources.ts';
import type { RequestVerb } from './faults/fault.ts';

/** One request to the API server, as far as a network fault cares. */
export interface NetworkRequest {
  readonly verb: RequestVerb | 'watch';
  readonly resource: ResourceName;
}

/** `status`: reading and writing the node. `deletions`: of pods. */
export type RequestClass = 'all' | 'none' | 'lease' | 'status' | 'deletions';

export interface RequestFilter {
  readonly class: RequestClass;
  readonly verb?: RequestVerb | undefined;
  readonly resource?: string | undefined;
}

/** What becomes of the requests that a rule is about. */
export type NetworkEffect =
  /** Nobody answers. */
  | { readonly kind: 'swallow' }
  /** The connection is torn down. */
  | { readonly kind: 'reset' }
  | { readonly kind: 'delay'; readonly ms: number; readonly jitterMs: number; readonly on: 'request' | 'response' }
  /** This share is answered so, and does not arrive. */
  | { readonly kind: 'refuse'; readonly code: number; readonly rate: number };

/** A fault between one node and the API server. */
export interface NetworkRule {
  readonly about: RequestFilter;
  readonly effect: NetworkEffect;
  /** The node's watches stand still as well. */
  readonly blinds: boolean;
}
