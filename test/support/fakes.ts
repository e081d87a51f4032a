import type { EventDraft } from '../../src/machinery/api/event.ts';
import type { EventRecorder } from '../../src/machinery/ports/event-recorder.ts';
import type { LogFields, Logger } from '../../src/machinery/ports/logger.ts';
import type { Labels, Meter, MetricDefinition } from '../../src/machinery/ports/meter.ts';

export { SeededRandom } from '../../src/hollow-cluster/kubelet/faults/seeded-random.ts';

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly fields: LogFields;
  readonly message: string;
}

/** A logger that records its lines. */
export class RecordingLogger implements Logger {
  readonly lines: LogLine[] = [];
  at(level: LogLine['level']): readonly LogLine[] {
    return this.lines.filter((line) => line.level === level);
  }
  debug(fields: LogFields, message: string): void {
    this.lines.push({ level: 'debug', fields, message });
  }
  info(fields: LogFields, message: string): void {
    this.lines.push({ level: 'info', fields, message });
  }
  warn(fields: LogFields, message: string): void {
    this.lines.push({ level: 'warn', fields, message });
  }
  error(fields: LogFields, message: string): void {
    this.lines.push({ level: 'error', fields, message });
  }
  child(): Logger {
    return this;
  }
}

/** A meter that records the last value or the sum of each series, by `name{label="value"}`, and the observations. */
export class RecordingMeter implements Meter {
  readonly series = new Map<string, number>();
  /** Of histograms, in order. */
  readonly observations = new Map<string, number[]>();
  readonly #shown: (() => void)[] = [];
  add(metric: MetricDefinition, amount: number, labels: Labels = {}): void {
    const key = seriesKey(metric, labels);
    this.series.set(key, (this.series.get(key) ?? 0) + amount);
  }
  set(metric: MetricDefinition, value: number, labels: Labels = {}): void {
    this.series.set(seriesKey(metric, labels), value);
  }
  observe(metric: MetricDefinition, value: number, labels: Labels = {}): void {
    this.add(metric, value, labels);
    const key = seriesKey(metric, labels);
    const observed = this.observations.get(key);
    if (observed === undefined) this.observations.set(key, [value]);
    else observed.push(value);
  }
  forget(metric: MetricDefinition, labels: Labels): void {
    this.series.delete(seriesKey(metric, labels));
  }
  onRead(show: () => void): void {
    this.#shown.push(show);
  }
  /** The series as in a scrape. */
  read(): ReadonlyMap<string, number> {
    for (const show of this.#shown) show();
    return this.series;
  }
}

function seriesKey(metric: MetricDefinition, labels: Labels): string {
  const text = Object.entries(labels)
    .map(([name, value]) => `${name}="${value}"`)
    .join(',');
  return text === '' ? metric.name : `${metric.name}{${text}}`;
}

/** An event recorder that records its drafts. */
export class RecordingRecorder implements EventRecorder {
  readonly drafts: EventDraft[] = [];
  record(draft: EventDraft): void {
    this.drafts.push(draft);
  }
}

/** A logger that records nothing: for tests that run long. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLogger,
};
