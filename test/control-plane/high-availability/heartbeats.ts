// Heartbeats of each node, from the writes of its kubelet (the test): lease renewals and status updates.
import type { AuditedRequest } from '../audit-trail.ts';

const kubelets = 'admin';

interface Silence {
  readonly node: string;
  readonly fromMs: number;
  /** Infinity if there was no later heartbeat. */
  readonly untilMs: number;
}

export interface Signs {
  /** Ascending. */
  readonly heartbeatAtMs: ReadonlyMap<string, readonly number[]>;
  /** When it posted Ready again, ascending. */
  readonly recoveredAtMs: ReadonlyMap<string, readonly number[]>;
}

export function findSigns(requests: readonly AuditedRequest[]): Signs {
  const heartbeatAtMs = new Map<string, number[]>();
  const recoveredAtMs = new Map<string, number[]>();
  for (const { user, verb, resource, namespace, subresource, name, code, atMs, endedAtMs } of requests) {
    if (user !== kubelets || verb !== 'patch' || code !== 200) continue;
    const isStatus = resource === 'nodes' && subresource === 'status';
    const isRenewal = resource === 'leases' && namespace === 'kube-node-lease';
    if (isStatus || isRenewal) note(heartbeatAtMs, name, atMs);
    if (isStatus) note(recoveredAtMs, name, endedAtMs);
  }
  return { heartbeatAtMs, recoveredAtMs };
}

/** All silences of a node that are longer than this. */
export function silencesOf({ heartbeatAtMs }: Signs, node: string, longerThanMs: number): readonly Silence[] {
  const heartbeats = heartbeatAtMs.get(node) ?? [];
  return heartbeats
    .map((fromMs, place) => ({ node, fromMs, untilMs: heartbeats[place + 1] ?? Number.POSITIVE_INFINITY }))
    .filter(({ fromMs, untilMs }) => untilMs - fromMs > longerThanMs);
}

function note(times: Map<string, number[]>, node: string, atMs: number): void {
  const known = times.get(node);
  if (known === undefined) times.set(node, [atMs]);
  else known.push(atMs);
}
