const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/** A duration as Go prints it: `0s`, `1.5ms`, `10s`, `1m40s`, `3m5.2s`, `1h0m0s`. What is below a microsecond is cut off. */
export function describeDuration(ms: number): string {
  const micros = Math.trunc(ms * 1_000);
  if (micros < 0) return `-${describeDuration(-ms)}`;
  if (micros === 0) return '0s';
  if (micros < 1_000) return `${micros}µs`;
  if (micros < 1_000_000) return `${micros / 1_000}ms`;
  return describeLong(micros);
}

function describeLong(micros: number): string {
  const hours = Math.floor(micros / 1_000 / hourMs);
  const minutes = Math.floor(micros / 1_000 / minuteMs) % 60;
  const seconds = `${(micros % (minuteMs * 1_000)) / 1_000_000}s`;
  if (hours > 0) return `${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${minutes}m${seconds}` : seconds;
}

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: secondMs, m: minuteMs, h: hourMs };
const durationParts = /(\d+(?:\.\d+)?)(ms|s|m|h)/gu;
const wholeDuration = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h))+$/u;

/** Reads `500ms`, `10s`, `1m30s`; undefined for anything else. */
export function deriveDurationMs(text: string): number | undefined {
  if (!wholeDuration.test(text)) return undefined;
  let sum = 0;
  for (const [, amount, unit] of text.matchAll(durationParts)) sum += Number(amount) * (unitMs[unit ?? ''] ?? 0);
  return sum;
}
