/** Why a text is not a time, in the words of kube-apiserver (upstream Go's `time.Parse`). */

const secondsLayout = '2006-01-02T15:04:05Z07:00';
const microsLayout = '2006-01-02T15:04:05.000000Z07:00';
/** The parts of a layout: what stands for each, and what it accepts. */
const dateParts: readonly (readonly [string, RegExp])[] = [
  ['2006', /^\d{4}/],
  ['-', /^-/],
  ['01', /^\d\d/],
  ['-', /^-/],
  ['02', /^\d\d/],
  ['T', /^T/],
  ['15', /^\d\d/],
  [':', /^:/],
  ['04', /^\d\d/],
  [':', /^:/],
];
const secondsPart = ['05', /^\d\d(\.\d+)?/] as const;
const microsParts = [
  ['05', /^\d\d/],
  ['.000000', /^\.\d{6}/],
] as const;
const zonePart = ['Z07:00', /^(Z|[+-]\d\d:\d\d)/] as const;
const bounds = [
  ['month', 5, 1, 12],
  ['day', 8, 1, 31],
  ['hour', 11, 0, 23],
  ['minute', 14, 0, 59],
  ['second', 17, 0, 59],
] as const;
const numberLength = 2;

/** The message for a text that is neither a Time nor, with `micros`, a MicroTime. */
export function describeTimeProblem(text: string, micros: boolean): string {
  const layout = micros ? microsLayout : secondsLayout;
  const parts = [...dateParts, ...(micros ? microsParts : [secondsPart]), zonePart];
  let rest = text;
  for (const [name, pattern] of parts) {
    const found = pattern.exec(rest)?.[0];
    if (found === undefined) return `parsing time "${text}" as "${layout}": cannot parse "${rest}" as "${name}"`;
    rest = rest.slice(found.length);
  }
  if (rest !== '') return `parsing time "${text}": extra text: "${rest}"`;
  return `parsing time "${text}": ${findUnit(text)} out of range`;
}

function findUnit(text: string): string {
  const exceeded = bounds.find(([, at, min, max]) => {
    const value = Number(text.slice(at, at + numberLength));
    return value < min || value > max;
  });
  // What remains is a day that its month does not have.
  return exceeded?.[0] ?? 'day';
}
