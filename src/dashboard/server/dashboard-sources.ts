import type { ServerInfo } from '../protocol.ts';
import type { Logger } from '../../machinery/ports/logger.ts';
import type { DecisionLog } from '../../controller/decision-log/decision-log.ts';
import { graceOf } from '../../controller/health/assess-node.ts';
import type { HealthTable } from '../../controller/health/health-table.ts';
import type { SilenceConfirmer } from '../../controller/health/silence-confirmer.ts';
import type { HoldReader } from '../../controller/model/holds.ts';
import type { PolicyStage } from '../../controller/policies/policy-stage.ts';
import type { ShadowReport } from '../../controller/shadow/report.ts';
import type { TaintEvictor } from '../../controller/taint-eviction/taint-evictor.ts';
import type { SnapshotSources } from '../../controller/report/report-sources.ts';

type SnapshotStages = SnapshotSources['stages'];

/** What the dashboard reads beyond the explanations. */
interface DashboardStages {
  readonly decisions: Pick<DecisionLog, 'of' | 'onDecision'>;
  readonly health: Pick<HealthTable, 'get' | 'evaluate'>;
  readonly holds: HoldReader;
  readonly confirmer: Pick<SilenceConfirmer, 'suspects'>;
  readonly evictor: Pick<TaintEvictor, 'timedEvictions' | 'timedCount'>;
  readonly policies: Pick<PolicyStage, 'inForce'>;
}

/** The components that the dashboard of a controller reads. It writes nothing to any of them. */
export interface DashboardSources extends SnapshotSources {
  readonly stages: SnapshotStages & DashboardStages;
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
  if (record === undefined) return undefined;
  const ageMs = healthNowMs - record.heartbeatAtMs;
  return { isSilent: ageMs > graceOf(record, stages.policies.current(node)).graceMs, ageMs };
}
