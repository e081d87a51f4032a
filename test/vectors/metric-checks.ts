import type { KeepingMeter } from '../support/quiet.ts';
import { byName } from './comparing.ts';
import type { Check } from './world.ts';

const prefixes = ['', 'node_collector_', 'taint_eviction_controller_', 'pod_gc_collector_'];

/** Expectations about counters, by the reference's name without its prefix; all labels together. */
export function metricChecks(meter: KeepingMeter): Readonly<Record<string, Check>> {
  return {
    metricDelta: byName((name) => {
      const names = new Set(prefixes.map((prefix) => `${prefix}${name}`));
      const series = [...meter.series].filter(([key]) => names.has(key.split('{')[0] ?? key) || names.has(key));
      return series.reduce((sum, [, value]) => sum + value, 0);
    }),
  };
}
