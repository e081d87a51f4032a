import type { MetricDefinition } from '../../ports/meter.ts';

const help = (what: string): string => `Questions to the API server about ${what}, by the status code of its answer.`;

/** As kube-controller-manager counts them; a question without an answer has the code `<error>`. */
export const authnRequestsTotal: MetricDefinition = {
  name: 'apiserver_delegated_authn_request_total',
  kind: 'counter',
  help: help('tokens shown to the secure pages'),
  stability: 'ALPHA',
  labels: ['code'],
};

export const authzRequestsTotal: MetricDefinition = {
  name: 'apiserver_delegated_authz_request_total',
  kind: 'counter',
  help: help('who may read the secure pages'),
  stability: 'ALPHA',
  labels: ['code'],
};

export const pageRequestsTotal: MetricDefinition = {
  name: 'secure_serving_requests_total',
  kind: 'counter',
  help: 'Requests for the secure pages, by what became of them: allowed, unauthenticated, forbidden, throttled or failed.',
  stability: 'ALPHA',
  labels: ['outcome'],
};

/** Exposed with `--metrics-secure` and without. */
export const secureServingMetrics: readonly MetricDefinition[] = [
  authnRequestsTotal,
  authzRequestsTotal,
  pageRequestsTotal,
];
