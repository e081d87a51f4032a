import type { EventDraft } from '../../src/api/event.ts';
import type { EventRecorder } from '../../src/ports/event-recorder.ts';
import type { LogFields, Logger } from '../../src/ports/logger.ts';
import type { Labels, Meter, MetricDefinition } from '../../src/ports/meter.ts';
import type { Random } from '../../src/ports/random.ts';

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly fields: LogFields;
  readonly message: string;
}

/** A logger that keeps its lines for a test to look at. */
export class KeepingLogger implements Logger {
  readonly lines: LogLine[] = [];
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

/** A meter that keeps the last value or the sum of each series, by `name{label="value"}`. */
export class KeepingMeter implements Meter {
  readonly series = new Map<string, number>();
  add(metric: MetricDefinition, amount: number, labels: Labels = {}): void {
    const key = seriesKey(metric, labels);
    this.series.set(key, (this.series.get(key) ?? 0) + amount);
  }
  set(metric: MetricDefinition, value: number, labels: Labels = {}): void {
    this.series.set(seriesKey(metric, labels), value);
  }
  observe(metric: MetricDefinition, value: number, labels: Labels = {}): void {
    this.add(metric, value, labels);
  }
  forget(metric: MetricDefinition, labels: Labels): void {
    this.series.delete(seriesKey(metric, labels));
  }
}

function seriesKey(metric: MetricDefinition, labels: Labels): string {
  const text = Object.entries(labels)
    .map(([name, value]) => `${name}="${value}"`)
    .join(',');
  return text === '' ? metric.name : `${metric.name}{${text}}`;
}

/** An event recorder that keeps what it was told. */
export class KeepingRecorder implements EventRecorder {
  readonly drafts: EventDraft[] = [];
  record(draft: EventDraft): void {
    this.drafts.push(draft);
  }
}

/** A seeded generator (mulberry32): the same seed, the same chances. */
export class SeededRandom implements Random {
  #state: number;
  constructor(seed: number) {
    this.#state = seed >>> 0;
  }
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }
}

/** A logger that keeps nothing: for tests that run for long. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLogger,
};
