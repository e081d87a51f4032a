import { counter, histogram } from '../ports/meter.ts';

/** In seconds, as in client-go. */
const latencyBuckets = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];

export const restClientRequests = counter(
  'rest_client_requests_total',
  'Number of HTTP requests, partitioned by status code, method, and host.',
  ['code', 'method', 'host'],
);

export const restClientRequestDuration = histogram(
  'rest_client_request_duration_seconds',
  'Request latency in seconds, broken down by verb and host. Watches are measured until their response headers.',
  latencyBuckets,
  ['verb', 'host'],
);

export const restClientRetries = counter(
  'rest_client_request_retries_total',
  'Number of request retries after Retry-After, or after a read lost its connection.',
  ['code', 'verb', 'host'],
);

export const restClientLimiterDuration = histogram(
  'rest_client_rate_limiter_duration_seconds',
  'Time in seconds a request waited for the client-side rate limit.',
  latencyBuckets,
  ['verb', 'host'],
);

const sizeBuckets = [64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216];

export const restClientRequestSize = histogram(
  'rest_client_request_size_bytes',
  'Size of request bodies in bytes.',
  sizeBuckets,
  ['verb', 'host'],
);

export const restClientResponseSize = histogram(
  'rest_client_response_size_bytes',
  'Size of response bodies in bytes, without watches.',
  sizeBuckets,
  ['verb', 'host'],
);

export const restClientConnections = counter(
  'rest_client_connections_opened_total',
  'Number of connections opened to the API server, by role: unary requests share connections, each watch has its own.',
  ['role', 'host'],
);
