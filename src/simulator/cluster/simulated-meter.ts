import type { Labels, Meter, MetricDefinition } from '../../machinery/ports/meter.ts';

/** Keeps the sums of counters and the last values of gauges, over all labels, for checkers. */
export class SimulatedMeter implements Meter {
  readonly #totals = new Map<string, number>();
  readonly #shown: (() => void)[] = [];

  add({ name }: MetricDefinition, amount: number): void {
    this.#totals.set(name, (this.#totals.get(name) ?? 0) + amount);
  }

  set({ name }: MetricDefinition, value: number): void {
    this.#totals.set(name, value);
  }

  observe(): void {}

  forget(_metric: MetricDefinition, _labels: Labels): void {}

  onRead(show: () => void): void {
    this.#shown.push(show);
  }

  /** As in a scrape; 0 for a metric without a value. */
  read({ name }: MetricDefinition): number {
    for (const show of this.#shown) show();
    return this.#totals.get(name) ?? 0;
  }
}
