import { httpMetrics } from '../adapters/http-metrics.ts';
import { controllerMetrics } from '../controller/node-lifecycle.ts';
import { shadowMetrics } from '../controller/shadow/metrics.ts';
import { masterStatus, slowpathTotal } from '../election/metrics.ts';
import { eventsDroppedTotal } from '../events/metrics.ts';
import { informerMetrics } from '../informer/metrics.ts';
import { processMetrics } from '../metrics/definitions.ts';
import type { MetricDefinition } from '../ports/meter.ts';
import { configMetrics } from './config-metrics.ts';
import { secureServingMetrics } from './secure-serving/metrics.ts';

/** What the controller process exposes from its start, however it was started. */
export const everyProcessMetrics: readonly MetricDefinition[] = [
  ...processMetrics,
  ...controllerMetrics,
  ...informerMetrics,
  eventsDroppedTotal,
  masterStatus,
  slowpathTotal,
  ...httpMetrics,
  ...secureServingMetrics,
  ...shadowMetrics,
];

/** Every metric that the controller process may expose: those of the config file are there where there is one. */
export const controllerProcessMetrics: readonly MetricDefinition[] = [...everyProcessMetrics, ...configMetrics];
