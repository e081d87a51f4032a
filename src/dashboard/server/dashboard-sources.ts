import type { ReportSources } from '../../controller/report/report-sources.ts';
import type { ShadowReport } from '../../controller/shadow/report.ts';
import type { Logger } from '../../machinery/ports/logger.ts';
import type { ServerInfo } from '../protocol.ts';

/** The components that the dashboard of a controller reads. It writes nothing to any of them. */
export interface DashboardSources extends ReportSources {
  readonly server: ServerInfo;
  /** Number of requests to the API server since the start of the process; undefined: not counted. */
  readonly requestsTotal: (() => number) | undefined;
  /** Undefined where nothing is compared. */
  readonly shadowReport: () => ShadowReport | undefined;
  readonly logger: Logger;
}

/** Whether the last heartbeat of a node is older than its grace period, and its age; undefined: nothing is known of it. */
export function readSilence(
  node: string,
  { stages }: Pick<DashboardSources, 'stages'>,
  healthNowMs: number,
): { readonly isSilent: boolean; readonly ageMs: number } | undefined {
  const record = stages.health.get(node);
  const grace = stages.health.graceOf(node);
  if (record === undefined || grace === undefined) return undefined;
  const ageMs = healthNowMs - record.heartbeatAtMs;
  return { isSilent: ageMs > grace.graceMs, ageMs };
}
