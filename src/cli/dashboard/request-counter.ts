import { restClientRequests } from '../../machinery/kube-client/metrics.ts';
import type { Labels, Meter, MetricDefinition } from '../../machinery/ports/meter.ts';

/** Records in another meter, and counts the requests to the API server. */
export class RequestCounter implements Meter {
  readonly #meter: Meter;
  #total = 0;

  constructor(meter: Meter) {
    this.#meter = meter;
  }

  /** Number of requests since the start. */
  get total(): number {
    return this.#total;
  }

  add(metric: MetricDefinition, amount: number, labels?: Labels): void {
    if (metric === restClientRequests) this.#total += amount;
    this.#meter.add(metric, amount, labels);
  }

  set(metric: MetricDefinition, value: number, labels?: Labels): void {
    this.#meter.set(metric, value, labels);
  }

  observe(metric: MetricDefinition, value: number, labels?: Labels): void {
    this.#meter.observe(metric, value, labels);
  }

  forget(metric: MetricDefinition, labels: Labels): void {
    this.#meter.forget(metric, labels);
  }

  onRead(show: () => void): void {
    this.#meter.onRead(show);
  }
}
