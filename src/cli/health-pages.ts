// `/livez`, `/readyz` and `/healthz` in the words of Kubernetes' own components (apiserver's `healthz` package), with two
// differences: a failing check says why, and the status is 503 where theirs is 500.
import { type Answer, type Route, textAnswer } from '../adapters/observability-server.ts';

export interface HealthCheck {
  /** As in `/readyz/NAME`. */
  readonly name: string;
  /**
   * Undefined when all is well, else why not. Looks at what is in memory and never asks the API server: a probe that
   * fails because the API server is away would restart the thing that waits for it.
   */
  problem(): string | undefined;
}

export interface HealthChecks {
  /** Failing these restarts us. */
  readonly live: readonly HealthCheck[];
  /** Failing these hides us. A standby that is in sync is ready. */
  readonly ready: readonly HealthCheck[];
}

/** That somebody answers at all is a check too. */
const ping: HealthCheck = { name: 'ping', problem: () => undefined };

/** Routes for the three pages and for each check below them. `/healthz`, the older name, answers as `/livez` does. */
export function healthRoutes({ live, ready }: HealthChecks): readonly Route[] {
  return [...pagesFor('livez', live), ...pagesFor('readyz', ready), ...pagesFor('healthz', live)];
}

function pagesFor(page: string, checks: readonly HealthCheck[]): readonly Route[] {
  const all = [ping, ...checks];
  return [
    { path: `/${page}`, answer: (url) => overall(page, all, url.searchParams) },
    { path: `/${page}/`, answer: (url) => single(all, url.pathname.slice(page.length + 2)) },
  ];
}

function overall(page: string, checks: readonly HealthCheck[], query: URLSearchParams): Answer {
  const excluded = new Set(query.getAll('exclude'));
  const judged = checks.map((check) => ({
    name: check.name,
    excluded: excluded.delete(check.name),
    why: problemOf(check),
  }));
  const lines = judged.map((check) => checkLine(check));
  if (excluded.size > 0) lines.push(`warn: some health checks cannot be excluded: no matches for ${list(excluded)}\n`);
  const failed = judged.some((check) => !check.excluded && check.why !== undefined);
  if (failed) return textAnswer(503, `${lines.join('')}${page} check failed\n`);
  return textAnswer(200, query.has('verbose') ? `${lines.join('')}${page} check passed\n` : 'ok');
}

interface Judged {
  readonly name: string;
  readonly excluded: boolean;
  readonly why: string | undefined;
}

function checkLine({ name, excluded, why }: Judged): string {
  if (excluded) return `[+]${name} excluded: ok\n`;
  return why === undefined ? `[+]${name} ok\n` : `[-]${name} failed: ${why}\n`;
}

function single(checks: readonly HealthCheck[], name: string): Answer {
  const check = checks.find((candidate) => candidate.name === name);
  if (check === undefined)
    return textAnswer(404, `no such check; there is ${list(checks.map((known) => known.name))}\n`);
  const why = problemOf(check);
  return why === undefined ? textAnswer(200, 'ok') : textAnswer(503, `${name} failed: ${why}\n`);
}

/** A check that throws is a check that failed. */
function problemOf(check: HealthCheck): string | undefined {
  try {
    return check.problem();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function list(names: Iterable<string>): string {
  return [...names].map((name) => JSON.stringify(name)).join(', ');
}
