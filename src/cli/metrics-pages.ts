import type { Route } from '../adapters/observability-server.ts';

/** What `/metrics` prints; a PromMeter is one. */
export interface MetricsText {
  readonly contentType: string;
  text(): Promise<string>;
}

/** `/metrics` for Prometheus. */
export function metricsRoute(meter: MetricsText): Route {
  return {
    path: '/metrics',
    answer: async () => ({ status: 200, contentType: meter.contentType, body: await meter.text() }),
  };
}

/** `/configz`: the settings in force, as the Kubernetes components show theirs. Must hold no secrets. */
export function configzRoute(component: string, config: () => object): Route {
  const body = (): string => `${JSON.stringify({ [component]: config() }, undefined, 2)}\n`;
  return { path: '/configz', answer: () => ({ status: 200, contentType: 'application/json', body: body() }) };
}
