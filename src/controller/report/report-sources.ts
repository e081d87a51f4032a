import type { Informer } from '../../machinery/informer/informer.ts';
import type { NodeLifecycleOptions } from '../lifecycle-options.ts';
import type { Stages } from '../stages.ts';
import type { ConfigFileReport, PolicyObjectsReport } from './pages.ts';

/** The components that reports read. Nothing is written to any of them. */
export interface ReportSources
  extends Pick<NodeLifecycleOptions, 'options' | 'controllers' | 'podGc' | 'leadership' | 'clock'> {
  readonly stages: Stages;
  readonly informers: NodeLifecycleOptions['informers'] & {
    /** Where policies are objects of the API. */
    readonly policies?: Informer<unknown>;
    /** Where the labels of namespaces count. */
    readonly autonomousNamespaces?: Informer<unknown>;
  };
  /** Shadow mode: nothing is written; nodes and pods are as this process alone would have left them. */
  readonly shadow?: boolean;
  /** The config file; absent without one. */
  readonly configFile?: () => ConfigFileReport | undefined;
  /** Undefined where policies come from the config file. */
  readonly policyObjects?: () => PolicyObjectsReport | undefined;
  /** Identity of the leader, if known. */
  readonly holder: () => string | undefined;
}

/**
 * Converts a time of the health clock, which stands still while watches are stale, to the monotonic clock, assuming no
 * further pause.
 */
export function toMonotonicMs(healthMs: number, { stages, clock }: Pick<ReportSources, 'stages' | 'clock'>): number {
  return clock.monotonicMs() + healthMs - stages.freshness.nowMs();
}
