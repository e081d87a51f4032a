import type { MetricDefinition } from '../ports/meter.ts';
import { buildInfo } from './build-info.ts';

/** The metrics of the process as such. The stages declare their own beside themselves; the command puts all together. */
export const processMetrics: readonly MetricDefinition[] = [buildInfo];
