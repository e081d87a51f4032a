import type { MetricDefinition } from '../ports/meter.ts';

export const restClientRequests: MetricDefinition = {
  name: 'rest_client_requests_total',
  kind: 'counter',
  help: 'Number of HTTP requests, partitioned by status code, method, and host.',
  stability: 'ALPHA',
  labels: ['code', 'method', 'host'],
};

export const restClientRequestDuration: MetricDefinition = {
  name: 'rest_client_request_duration_seconds',
  kind: 'histogram',
  help: 'Request latency in seconds, broken down by verb and host. Watches count until their headers arrived.',
  stability: 'ALPHA',
  labels: ['verb', 'host'],
  buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60],
};

export const restClientRetries: MetricDefinition = {
  name: 'rest_client_request_retries_total',
  kind: 'counter',
  help: 'Requests sent again after the server said when, or after a read lost its connection.',
  stability: 'ALPHA',
  labels: ['code', 'verb', 'host'],
};

export const restClientLimiterDuration: MetricDefinition = {
  name: 'rest_client_rate_limiter_duration_seconds',
  kind: 'histogram',
  help: 'Time a request waited for the client side rate limit, in seconds.',
  stability: 'ALPHA',
  labels: ['verb', 'host'],
  buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60],
};

const sizeBuckets = [64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216];

export const restClientRequestSize: MetricDefinition = {
  name: 'rest_client_request_size_bytes',
  kind: 'histogram',
  help: 'Size of request bodies in bytes.',
  stability: 'ALPHA',
  labels: ['verb', 'host'],
  buckets: sizeBuckets,
};

export const restClientResponseSize: MetricDefinition = {
  name: 'rest_client_response_size_bytes',
  kind: 'histogram',
  help: 'Size of answers in bytes, watches not counted.',
  stability: 'ALPHA',
  labels: ['verb', 'host'],
  buckets: sizeBuckets,
};

export const restClientConnections: MetricDefinition = {
  name: 'rest_client_connections_opened_total',
  kind: 'counter',
  help: 'Connections made to the API server, by what they are for: calls share some, each watch has one of its own.',
  stability: 'ALPHA',
  labels: ['role', 'host'],
};

/** Every metric of the HTTP client, for the registry and the documents. */
export const httpMetrics: readonly MetricDefinition[] = [
  restClientRequests,
  restClientRequestDuration,
  restClientRetries,
  restClientLimiterDuration,
  restClientRequestSize,
  restClientResponseSize,
  restClientConnections,
];
