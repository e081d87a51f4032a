// Writes that the API server answered, as its audit log has them.
import { readFileSync } from 'node:fs';

/** Users as which controllers write: of this controller, and of the node lifecycle and taint eviction controllers of kube-controller-manager. */
export const accounts = {
  own: 'system:serviceaccount:node-lifecycle-controller:node-lifecycle-controller',
  inTree: 'system:serviceaccount:kube-system:node-controller',
} as const;

/** One write of a node or a pod. */
interface AuditedWrite {
  readonly user: string;
  readonly verb: string;
  /** `pods shop/web-1`, `nodes/status n1`. */
  readonly target: string;
}

interface AuditEvent {
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: {
    readonly resource: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly responseStatus?: { readonly code: number };
  readonly requestReceivedTimestamp: string;
}

/** Those that succeeded from this time on. */
export function auditedWrites(file: string, sinceMs: number): readonly AuditedWrite[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  // The last line may be half written.
  const events = lines.slice(0, -1).map((line) => JSON.parse(line) as AuditEvent);
  return events
    .filter(({ responseStatus }) => (responseStatus?.code ?? 0) < 300)
    .filter(({ requestReceivedTimestamp }) => Date.parse(requestReceivedTimestamp) >= sinceMs)
    .map(({ user, verb, objectRef }) => ({ user: user.username, verb, target: targetOf(objectRef) }));
}

function targetOf(ref: AuditEvent['objectRef']): string {
  const resource = [ref?.resource, ref?.subresource].filter((part) => part !== undefined).join('/');
  const name = [ref?.namespace, ref?.name].filter((part) => part !== undefined).join('/');
  return `${resource} ${name}`;
}
