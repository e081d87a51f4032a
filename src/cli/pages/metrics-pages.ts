import type { Route } from '../../machinery/page-server/observability-server.ts';

/** The text of `/metrics`; PromMeter implements it. */
interface MetricsText {
  readonly contentType: string;
  text(): Promise<string>;
}

/** `/metrics`, in Prometheus exposition format. */
export function metricsRoute(meter: MetricsText): Route {
  return {
    path: '/metrics',
    answer: async () => ({ status: 200, contentType: meter.contentType, body: await meter.text() }),
  };
}

/** `/configz`: the current settings, as in the Kubernetes components. Must not contain secrets. */
export function configzRoute(component: string, config: () => object): Route {
  const body = (): string => `${JSON.stringify({ [component]: config() }, undefined, 2)}\n`;
  return { path: '/configz', answer: () => ({ status: 200, contentType: 'application/json', body: body() }) };
}
