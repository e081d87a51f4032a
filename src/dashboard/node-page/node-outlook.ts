// The part of the page `/explain/nodes/NAME` that is shown as a picture. Times are RFC 3339.

interface Past {
  readonly at: string;
  readonly secondsAgo: number;
}

interface Estimate {
  /** Null: not in the current state. */
  readonly at: string | null;
}

interface EvictionOutlook {
  readonly pod: string;
  readonly state: 'scheduled' | 'predicted';
  readonly cause:
    | { readonly kind: 'taint'; readonly taint: string; readonly toleratedSeconds: number }
    | { readonly kind: 'node-evicted' };
  readonly when: Estimate;
}

export interface NodeOutlook {
  readonly node: string;
  readonly ready: string;
  readonly lastHeartbeat: Past | null;
  readonly grace: { readonly seconds: number } | null;
  readonly silence: { readonly since: Past | null; readonly from: Estimate | null } | null;
  readonly noExecuteTaint: { readonly key: string; readonly when: Estimate } | null;
  /** Eviction mode. A controller of another version may serve it without `slot`. */
  readonly eviction: { readonly due: Estimate | null; readonly slot?: Estimate | null } | null;
  readonly evictions: {
    readonly scheduled: number;
    readonly predicted: number;
    readonly first: readonly EvictionOutlook[];
  };
  readonly history: readonly { readonly at: string; readonly text: string }[];
}
