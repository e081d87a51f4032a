import * as http from '../../adapters/kube-client/metrics.ts';
import { controllerMetrics } from '../../controller/node-lifecycle.ts';
import * as shadow from '../../controller/shadow/metrics.ts';
import * as election from '../../election/metrics.ts';
import * as events from '../../events/metrics.ts';
import * as informer from '../../informer/metrics.ts';
import * as policyObjects from '../../manager/policies/metrics.ts';
import { buildInfo } from './build-info.ts';
import { type MetricDefinition, metricsOf } from '../../ports/meter.ts';
import * as dashboard from '../dashboard/metrics.ts';
import * as config from './config-metrics.ts';
import * as secureServing from '../secure-serving/metrics.ts';

/** The metrics that every controller process exposes from its start. */
export const everyProcessMetrics: readonly MetricDefinition[] = [
  buildInfo,
  ...controllerMetrics,
  ...metricsOf(informer, policyObjects, events, election, http, secureServing, shadow, dashboard),
];

/** All metrics of the controller process, with those that are exposed only with `--config`. */
export const controllerProcessMetrics: readonly MetricDefinition[] = [...everyProcessMetrics, ...metricsOf(config)];
