export type Labels = Readonly<Record<string, string>>;
export type Stability = 'ALPHA' | 'BETA' | 'STABLE';

/** A metric, declared beside the stage that counts it. The name is a promise; the documents are generated from this. */
export interface MetricDefinition {
  readonly name: string;
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly stability: Stability;
  readonly labels?: readonly string[];
  /** Upper bounds, ascending, in the unit of the name. Histograms only. */
  readonly buckets?: readonly number[];
}

/** Counting and measuring. Declared names only; a label that was not declared is a programmer's error and throws. */
export interface Meter {
  add(metric: MetricDefinition, amount: number, labels?: Labels): void;
  set(metric: MetricDefinition, value: number, labels?: Labels): void;
  observe(metric: MetricDefinition, value: number, labels?: Labels): void;
  /** Drops one labelled series, as for a zone that vanished. */
  forget(metric: MetricDefinition, labels: Labels): void;
  /** For what is a state and not a count, as an age is: `show` is called whenever somebody reads, to set it as it is then. */
  onRead(show: () => void): void;
}
