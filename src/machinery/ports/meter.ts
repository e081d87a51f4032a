export type Labels = Readonly<Record<string, string>>;
type Stability = 'ALPHA' | 'BETA' | 'STABLE';

/** A metric, declared by the component that records it. The name is stable; the metrics page is generated from this. */
export interface MetricDefinition {
  readonly name: string;
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly stability: Stability;
  readonly labels?: readonly string[];
  /** Upper bounds, ascending, in the unit of the name. Histograms only. */
  readonly buckets?: readonly number[];
}

/** An ALPHA counter. */
export const counter = defineKind('counter');
/** An ALPHA gauge. */
export const gauge = defineKind('gauge');

/** An ALPHA histogram. */
export function histogram(
  name: string,
  help: string,
  buckets: readonly number[],
  labels: readonly string[] = [],
): MetricDefinition {
  return { name, kind: 'histogram', help, stability: 'ALPHA', labels, buckets };
}

function defineKind(kind: MetricDefinition['kind']) {
  return (name: string, help: string, labels: readonly string[] = []): MetricDefinition => {
    return { name, kind, help, stability: 'ALPHA', labels };
  };
}

/** The metrics that these modules export. */
export function metricsOf(
  ...modules: readonly Readonly<Record<string, MetricDefinition>>[]
): readonly MetricDefinition[] {
  return modules.flatMap((module) => Object.values(module));
}

/** Records metrics. Only declared metrics; an undeclared label is a programming error and throws. */
export interface Meter {
  add(metric: MetricDefinition, amount: number, labels?: Labels): void;
  set(metric: MetricDefinition, value: number, labels?: Labels): void;
  observe(metric: MetricDefinition, value: number, labels?: Labels): void;
  /** Deletes one labelled series, for example of a deleted zone. */
  forget(metric: MetricDefinition, labels: Labels): void;
  /** For a metric that is a current state, such as an age: `show` is called before each scrape to set it. */
  onRead(show: () => void): void;
}
