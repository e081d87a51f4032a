import * as http from '../../machinery/kube-client/metrics.ts';
import { controllerMetrics } from '../../controller/node-lifecycle.ts';
import * as shadow from '../../controller/shadow/metrics.ts';
import * as election from '../../machinery/election/metrics.ts';
import * as events from '../../machinery/events/metrics.ts';
import * as informer from '../../machinery/informer/metrics.ts';
import * as policyObjects from '../../policy/objects/metrics.ts';
import { buildInfo } from './build-info.ts';
import { type MetricDefinition, metricsOf } from '../../machinery/ports/meter.ts';
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
