// The requests of a proxy and the log of the controller, as lines for error messages.
import type { ProxiedRequest } from './fault-proxy.ts';

const linesMax = 120;
const bodyCharactersMax = 160;
const logCharactersMax = 300;

/** Writes, faults and watches, with seconds since `fromMs`; the newest ones if there are many. */
export function describeRequests(requests: readonly ProxiedRequest[], fromMs: number): readonly string[] {
  const shown = requests.filter(
    ({ method, fault, path }) => isShown(path) && (method !== 'GET' || fault !== undefined),
  );
  const left = Math.max(0, shown.length - linesMax);
  const head = left === 0 ? [] : [`(${left} earlier requests left out)`];
  return [...head, ...shown.slice(left).map((request) => describe(request, fromMs))];
}

function isShown(path: string): boolean {
  return !path.includes('/events');
}

function describe(
  { method, path, body, atMs, fault, forwardedAtMs, upstreamStatus }: ProxiedRequest,
  fromMs: number,
): string {
  const at = ((atMs - fromMs) / 1_000).toFixed(2).padStart(6);
  const later = forwardedAtMs === undefined ? 0 : forwardedAtMs - atMs;
  const late = later < 50 ? '' : ` after ${(later / 1_000).toFixed(2)} s`;
  const outcome = forwardedAtMs === undefined ? '' : `forwarded${late}: ${upstreamStatus ?? 'no answer yet'}`;
  return `${at} ${method} ${path} ${[fault, outcome].filter(Boolean).join(', ')} ${gist(body)}`;
}

const routine: ReadonlySet<unknown> = new Set(['node-registered', 'zone-changed']);

/** The log messages, without the routine messages of each start. */
export function describeLogs(lines: readonly Readonly<Record<string, unknown>>[]): readonly string[] {
  return lines
    .filter(({ decision }) => !routine.has(decision))
    .map(({ level, ts, msg, ...fields }) => {
      const details = level === 'info' ? '' : ` ${JSON.stringify(fields)}`;
      return `${String(ts).slice(11, 23)} ${String(level)} ${String(msg)}${details}`.slice(0, logCharactersMax);
    });
}

/** The body without its preconditions, which are long and the same in all requests. */
function gist(body: string): string {
  if (/[^\x20-\x7e]/.test(body)) return `(${body.length} characters)`;
  return body.replace(/"metadata":\{[^}]*\},?/, '').slice(0, bodyCharactersMax);
}
