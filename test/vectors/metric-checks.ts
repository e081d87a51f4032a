import type { RecordingMeter } from '../support/fakes.ts';
import { byName } from './comparing.ts';
import type { Check } from './world.ts';

const prefixes = ['', 'node_collector_', 'taint_eviction_controller_', 'pod_gc_collector_'];

/** Expectations about counters, by kube-controller-manager's name without its prefix; summed over all labels. */
export function metricChecks(meter: RecordingMeter): Readonly<Record<string, Check>> {
  return {
    metricDelta: byName((name) => {
      const names = new Set(prefixes.map((prefix) => `${prefix}${name}`));
      const series = [...meter.series].filter(([key]) => names.has(key.split('{')[0] ?? key) || names.has(key));
      return series.reduce((sum, [, value]) => sum + value, 0);
    }),
  };
}
