import type { EventDraft } from '../api/event.ts';
import type { Lease } from '../api/lease.ts';
import { groupVersion, resources } from '../api/resources.ts';

export function becameLeader(lease: Lease, identity: string): EventDraft {
  return leaderElectionEvent(lease, `${identity} became leader`);
}

export function stoppedLeading(lease: Lease, identity: string): EventDraft {
  return leaderElectionEvent(lease, `${identity} stopped leading`);
}

/** client-go `LeaseLock.RecordEvent`. */
function leaderElectionEvent({ metadata }: Lease, message: string): EventDraft {
  const about = {
    apiVersion: groupVersion(resources.leases),
    kind: resources.leases.kind,
    name: metadata.name ?? '',
    ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
    ...(metadata.uid === undefined ? {} : { uid: metadata.uid }),
  };
  return { about, type: 'Normal', reason: 'LeaderElection', message };
}
