// Counters by policy: exposed at 0 before their first count, which `increase` of Prometheus does not see otherwise, and forgotten with
// the policy.
import type { Labels, Meter, MetricDefinition } from '../../machinery/ports/meter.ts';

interface PolicyCountersOptions {
  readonly meter: Meter;
  /** Names of the policies that want these counters now. */
  readonly policies: () => Iterable<string>;
  /** Every series of a policy, by labels beside `policy`. */
  readonly series: readonly (readonly [metric: MetricDefinition, labels: Labels])[];
}

/** From the scrape after a policy wants them, each series of it is exposed; from the one after it does not, none is. */
export class PolicyCounters {
  readonly #options: PolicyCountersOptions;
  readonly #exposed = new Set<string>();

  constructor(options: PolicyCountersOptions) {
    this.#options = options;
    options.meter.onRead(() => this.#show());
  }

  /** A count of a policy that does not want it any more is forgotten with the next scrape. */
  add(metric: MetricDefinition, amount: number, { policy, ...labels }: Labels & { readonly policy: string }): void {
    this.#exposed.add(policy);
    this.#options.meter.add(metric, amount, { policy, ...labels });
  }

  #show(): void {
    const { meter, policies, series } = this.#options;
    const wanted = new Set(policies());
    for (const policy of this.#exposed) {
      if (wanted.has(policy)) continue;
      for (const [metric, labels] of series) meter.forget(metric, { policy, ...labels });
      this.#exposed.delete(policy);
    }
    for (const policy of wanted) {
      for (const [metric, labels] of series) meter.add(metric, 0, { policy, ...labels });
      this.#exposed.add(policy);
    }
  }
}
