import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from '@prometheus-io/client';
import type { Labels, Meter, MetricDefinition } from '../ports/meter.ts';

interface PromMeterOptions {
  /** Adds `process_*` and `nodejs_*`. They measure the whole process, so at most one meter of a process may have them. */
  readonly processMetrics: boolean;
}

type Instrument =
  | { readonly kind: 'counter'; readonly definition: MetricDefinition; readonly inner: Counter<string> }
  | { readonly kind: 'gauge'; readonly definition: MetricDefinition; readonly inner: Gauge<string> }
  | { readonly kind: 'histogram'; readonly definition: MetricDefinition; readonly inner: Histogram<string> };

/** Sampling intervals of the event loop's delay and utilization. Each sample wakes the process, so they are long. */
const loopDelaySampleMs = 500;
const loopUtilizationSampleMs = 5_000;

/**
 * A meter with its own registry in the Prometheus text format. A metric is created when it is declared or first used; one
 * without labels then starts at 0. Help texts begin with the stability level, as in Kubernetes.
 */
export class PromMeter implements Meter {
  readonly #registry = new Registry();
  readonly #instruments = new Map<string, Instrument>();
  readonly #readCallbacks: (() => void)[] = [];

  constructor(options: PromMeterOptions = { processMetrics: false }) {
    if (!options.processMetrics) return;
    collectDefaultMetrics({
      register: this.#registry,
      eventLoopMonitoringPrecision: loopDelaySampleMs,
      eventLoopUtilizationTimeout: loopUtilizationSampleMs,
    });
  }

  /** Registers metrics before their first use. Throws a RangeError if two definitions have one name. */
  declare(definitions: Iterable<MetricDefinition>): void {
    for (const definition of definitions) this.#instrument(definition);
  }

  /** Counters only increase: a negative amount throws. Gauges accept either sign. */
  add(metric: MetricDefinition, amount: number, labels: Labels = {}): void {
    const instrument = this.#labelled(metric, labels);
    if (instrument.kind === 'histogram') throw wrongUse(metric, 'added to');
    instrument.inner.inc(labels, amount);
  }

  set(metric: MetricDefinition, value: number, labels: Labels = {}): void {
    const instrument = this.#labelled(metric, labels);
    if (instrument.kind !== 'gauge') throw wrongUse(metric, 'set');
    instrument.inner.set(labels, value);
  }

  observe(metric: MetricDefinition, value: number, labels: Labels = {}): void {
    const instrument = this.#labelled(metric, labels);
    if (instrument.kind !== 'histogram') throw wrongUse(metric, 'observed');
    instrument.inner.observe(labels, value);
  }

  forget(metric: MetricDefinition, labels: Labels): void {
    this.#labelled(metric, labels).inner.remove(labels);
  }

  onRead(show: () => void): void {
    this.#readCallbacks.push(show);
  }

  /** All metrics in the text format of {@link contentType}. */
  async text(): Promise<string> {
    for (const show of this.#readCallbacks) show();
    return this.#registry.metrics();
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  #labelled(metric: MetricDefinition, labels: Labels): Instrument {
    assertLabels(metric, labels);
    return this.#instrument(metric);
  }

  #instrument(definition: MetricDefinition): Instrument {
    const known = this.#instruments.get(definition.name);
    if (known?.definition === definition) return known;
    if (known !== undefined) throw new RangeError(`two definitions of ${definition.name}`);
    const created = this.#make(definition);
    this.#instruments.set(definition.name, created);
    return created;
  }

  #make(definition: MetricDefinition): Instrument {
    const { name, kind, help, stability, labels: labelNames = [], buckets } = definition;
    const common = { name, help: `[${stability}] ${help}`, labelNames, registers: [this.#registry] };
    switch (kind) {
      case 'counter':
        return { kind, definition, inner: new Counter(common) };
      case 'gauge':
        return { kind, definition, inner: new Gauge(common) };
      case 'histogram':
        return { kind, definition, inner: new Histogram(buckets ? { ...common, buckets: [...buckets] } : common) };
    }
  }
}

/** Requires exactly the declared labels: a series with fewer labels would be another series of the same name. */
function assertLabels({ name, labels: declared = [] }: MetricDefinition, labels: Labels): void {
  const given = Object.keys(labels);
  if (given.length === declared.length && given.every((label) => declared.includes(label))) return;
  throw new RangeError(`${name}: labels must be [${declared.join(', ')}] (got [${given.join(', ')}])`);
}

function wrongUse({ name, kind }: MetricDefinition, use: string): RangeError {
  return new RangeError(`${name} is a ${kind}: it cannot be ${use}`);
}
