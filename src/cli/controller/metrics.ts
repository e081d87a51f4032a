import { controllerMetrics } from '../../controller/node-lifecycle.ts';
import * as shadow from '../../controller/shadow/metrics.ts';
import * as election from '../../machinery/election/metrics.ts';
import * as events from '../../machinery/events/metrics.ts';
import * as informer from '../../machinery/informer/metrics.ts';
import * as http from '../../machinery/kube-client/metrics.ts';
import { type Meter, type MetricDefinition, metricsOf } from '../../machinery/ports/meter.ts';
import * as policyObjects from '../../policy/objects/metrics.ts';
import * as dashboard from '../dashboard/metrics.ts';
import * as secureServing from '../secure-serving/metrics.ts';
import * as config from './config-metrics.ts';

/** Build information, so that a dashboard can relate a change of behaviour to a change of version. */
export const buildInfo: MetricDefinition = {
  name: 'node_lifecycle_controller_build_info',
  kind: 'gauge',
  help: 'Always 1, labeled by version and Node.js version.',
  stability: 'ALPHA',
  labels: ['version', 'node_version'],
};

export function announceBuild(meter: Meter, build: { readonly version: string; readonly nodeVersion: string }): void {
  meter.set(buildInfo, 1, { version: build.version, node_version: build.nodeVersion });
}

/** The metrics that every controller process exposes from its start. */
export const everyProcessMetrics: readonly MetricDefinition[] = [
  buildInfo,
  ...controllerMetrics,
  ...metricsOf(informer, policyObjects, events, election, http, secureServing, shadow, dashboard),
];

/** All metrics of the controller process, with those that are exposed only with `--config`. */
export const controllerProcessMetrics: readonly MetricDefinition[] = [...everyProcessMetrics, ...metricsOf(config)];
