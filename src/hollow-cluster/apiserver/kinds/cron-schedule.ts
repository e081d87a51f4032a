/** What is wrong with the schedule of a CronJob, in the words of the parser that upstream uses (robfig/cron). */

interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly names: readonly string[];
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const bounds: readonly Bounds[] = [
  { min: 0, max: 59, names: [] },
  { min: 0, max: 23, names: [] },
  { min: 1, max: 31, names: [] },
  { min: 1, max: 12, names: months },
  { min: 0, max: 6, names: days },
];
const descriptors: ReadonlySet<string> = new Set([
  '@yearly',
  '@annually',
  '@monthly',
  '@weekly',
  '@daily',
  '@midnight',
  '@hourly',
]);
const zone = /^(CRON_)?TZ=\S+\s+/;
const duration = /^[+-]?(\d+(\.\d*)?(ns|us|µs|ms|s|m|h))+$/;

/** Undefined if the schedule is valid. */
export function explainSchedule(schedule: string): string | undefined {
  const text = schedule.replace(zone, '').trim();
  if (text.startsWith('@')) return explainDescriptor(text);
  const fields = text.split(/\s+/);
  if (fields.length !== 5) return `expected exactly 5 fields, found ${fields.length}: [${fields.join(' ')}]`;
  const problems = bounds.map((limits, index) => explainField(fields[index] ?? '', limits));
  return problems.find((problem) => problem !== undefined);
}

function explainDescriptor(text: string): string | undefined {
  if (descriptors.has(text)) return undefined;
  const every = '@every ';
  if (!text.startsWith(every)) return `unrecognized descriptor: ${text}`;
  const length = text.slice(every.length);
  if (duration.test(length)) return undefined;
  return `failed to parse duration ${text}: time: invalid duration ${JSON.stringify(length)}`;
}

function explainField(field: string, limits: Bounds): string | undefined {
  const problems = field.split(',').map((part) => explainRange(part, limits));
  return problems.find((problem) => problem !== undefined);
}

/** `*`, `1`, `1-5` or one of them with a step, as `1-5/2`. */
function explainRange(text: string, limits: Bounds): string | undefined {
  const [range = '', step, ...slashes] = text.split('/');
  const ends = parseEnds(range, text, limits);
  if (typeof ends === 'string') return ends;
  if (slashes.length > 0) return `too many slashes: ${text}`;
  const width = step === undefined ? 1 : parseNumber(step);
  if (typeof width === 'string') return width;
  const stop = step !== undefined && ends.isSingle ? limits.max : ends.stop;
  return explainBounds(text, { start: ends.start, stop, width }, limits);
}

interface Ends {
  readonly start: number;
  readonly stop: number;
  readonly isSingle: boolean;
}

/** The ends of a range, or what is wrong with it. */
function parseEnds(range: string, text: string, limits: Bounds): Ends | string {
  const [first = '', ...more] = range.split('-');
  const isSingle = more.length === 0;
  if (first === '*' || first === '?') return { start: limits.min, stop: limits.max, isSingle };
  const start = numberOf(first, limits);
  if (typeof start === 'string') return start;
  if (more.length > 1) return `too many hyphens: ${text}`;
  const stop = numberOf(more[0] ?? first, limits);
  return typeof stop === 'string' ? stop : { start, stop, isSingle };
}

interface Range {
  readonly start: number;
  readonly stop: number;
  readonly width: number;
}

function explainBounds(text: string, { start, stop, width }: Range, { min, max }: Bounds): string | undefined {
  if (start < min) return `beginning of range (${start}) below minimum (${min}): ${text}`;
  if (stop > max) return `end of range (${stop}) above maximum (${max}): ${text}`;
  if (start > stop) return `beginning of range (${start}) beyond end of range (${stop}): ${text}`;
  return width === 0 ? `step of range should be a positive number: ${text}` : undefined;
}

/** The number, or why it is none. */
function numberOf(text: string, { min, names }: Bounds): number | string {
  const index = names.indexOf(text.toLowerCase());
  return index >= 0 ? index + min : parseNumber(text);
}

function parseNumber(text: string): number | string {
  if (!/^[+-]?\d+$/.test(text)) {
    return `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`;
  }
  const number = Number(text);
  return number < 0 ? `negative number (${number}) not allowed: ${text}` : number;
}

/** Offsets such as `+01` are time zones of JavaScript only. */
const zonePart = /^(?![-+])[A-Za-z.\-_0-9+]{1,14}$/;

/** What is wrong with a time zone: all problems, as upstream. */
export function explainTimeZone(name: string): readonly string[] {
  if (name === '') return ['timeZone must be nil or non-empty string'];
  const parts = name.split('/');
  if (parts.some((part) => part === '.' || part === '..' || !zonePart.test(part))) {
    return [`unknown time zone ${name}`];
  }
  if (name.toLowerCase() === 'local') {
    return ['timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones'];
  }
  return isTimeZone(name) ? [] : [`unknown time zone ${name}`];
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name }).format(0);
    return true;
  } catch {
    return false;
  }
}
