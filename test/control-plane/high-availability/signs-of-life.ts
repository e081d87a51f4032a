// When each node was heard, from what its kubelet (the test) wrote: renewals of its lease, and its status.
import type { AuditedRequest } from '../audit-trail.ts';

const kubelets = 'admin';

export interface Silence {
  readonly node: string;
  readonly fromMs: number;
  /** Infinity if it was not heard again. */
  readonly untilMs: number;
}

export interface Signs {
  /** Ascending. */
  readonly heardAtMs: ReadonlyMap<string, readonly number[]>;
  /** When it said that it is ready again, ascending. */
  readonly recoveredAtMs: ReadonlyMap<string, readonly number[]>;
}

export function deriveSigns(requests: readonly AuditedRequest[]): Signs {
  const heardAtMs = new Map<string, number[]>();
  const recoveredAtMs = new Map<string, number[]>();
  for (const { user, verb, resource, namespace, subresource, name, code, atMs, endedAtMs } of requests) {
    if (user !== kubelets || verb !== 'patch' || code !== 200) continue;
    const isStatus = resource === 'nodes' && subresource === 'status';
    const isRenewal = resource === 'leases' && namespace === 'kube-node-lease';
    if (isStatus || isRenewal) note(heardAtMs, name, atMs);
    if (isStatus) note(recoveredAtMs, name, endedAtMs);
  }
  return { heardAtMs, recoveredAtMs };
}

/** All silences of a node that were longer than that. */
export function silencesOf({ heardAtMs }: Signs, node: string, longerThanMs: number): readonly Silence[] {
  const heard = heardAtMs.get(node) ?? [];
  return heard
    .map((fromMs, place) => ({ node, fromMs, untilMs: heard[place + 1] ?? Number.POSITIVE_INFINITY }))
    .filter(({ fromMs, untilMs }) => untilMs - fromMs > longerThanMs);
}

function note(times: Map<string, number[]>, node: string, atMs: number): void {
  const known = times.get(node);
  if (known === undefined) times.set(node, [atMs]);
  else known.push(atMs);
}
