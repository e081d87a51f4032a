import type { LeaseView } from '../../machinery/api/lease.ts';
import { parseTimestamp } from '../../machinery/api/timestamps.ts';
import type { HealthRecord } from './health-record.ts';
import type { Now } from '../model/node-state.ts';

/**
 * The last renewal of the lease of a node without an observed heartbeat: by the clock of its kubelet, converted to the
 * monotonic clock. Only comparable with the same value of other nodes. Undefined where a heartbeat was observed, whose
 * time is exact, or where there is no lease.
 */
export function unobservedRenewalMs(
  record: Pick<HealthRecord, 'heartbeatSinceUnknown'> | undefined,
  lease: Pick<LeaseView, 'renewTime'> | undefined,
  now: Now,
): number | undefined {
  if (record?.heartbeatSinceUnknown === true) return undefined;
  const renewedAtMs = parseTimestamp(lease?.renewTime);
  return renewedAtMs === undefined ? undefined : now.monotonicMs - (now.wallMs - renewedAtMs);
}
