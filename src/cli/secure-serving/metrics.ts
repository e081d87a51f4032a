import { counter } from '../../machinery/ports/meter.ts';

const help = (what: string): string => `Number of ${what} requests to the API server, by HTTP status code.`;

/** Number of TokenReviews, as in kube-controller-manager; a request without a response has the code `<error>`. */
export const authnRequestsTotal = counter('apiserver_delegated_authn_request_total', help('TokenReview'), ['code']);

export const authzRequestsTotal = counter('apiserver_delegated_authz_request_total', help('SubjectAccessReview'), [
  'code',
]);

export const pageRequestsTotal = counter(
  'secure_serving_requests_total',
  'Number of requests for pages with --metrics-secure, by outcome: allowed, unauthenticated, forbidden, throttled or failed.',
  ['outcome'],
);
