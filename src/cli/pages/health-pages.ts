// `/livez`, `/readyz` and `/healthz` in the format of the Kubernetes components (apiserver's `healthz` package), with two
// differences: a failed check contains its reason, and the status is 503 instead of 500.
import { escapeLine } from '../../machinery/api/format-safe-text.ts';
import { type Answer, type Route, textAnswer } from '../../machinery/page-server/observability-server.ts';

export interface HealthCheck {
  /** Name of the check, as in `/readyz/NAME`. */
  readonly name: string;
  /**
   * Undefined if the check passes, else the reason. Reads memory only and sends no request to the API server: otherwise an
   * API server outage would restart the controller.
   */
  problem(): string | undefined;
}

export interface HealthChecks {
  /** If one fails, the kubelet restarts the container. */
  readonly live: readonly HealthCheck[];
  /** If one fails, the pod is not ready. A standby whose caches are in sync is ready. */
  readonly ready: readonly HealthCheck[];
}

/** Always passes: the server responds. */
const ping: HealthCheck = { name: 'ping', problem: () => undefined };

/** Routes for the three pages and for each check below them. `/healthz` is the older name of `/livez`. */
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
  const evaluated = checks.map((check) => ({
    name: check.name,
    excluded: excluded.delete(check.name),
    why: problemOf(check),
  }));
  const lines = evaluated.map((check) => checkLine(check));
  if (excluded.size > 0) lines.push(`warn: some health checks cannot be excluded: no matches for ${list(excluded)}\n`);
  const failed = evaluated.some((check) => !check.excluded && check.why !== undefined);
  if (failed) return textAnswer(503, `${lines.join('')}${page} check failed\n`);
  return textAnswer(200, query.has('verbose') ? `${lines.join('')}${page} check passed\n` : 'ok');
}

interface Evaluated {
  readonly name: string;
  readonly excluded: boolean;
  readonly why: string | undefined;
}

function checkLine({ name, excluded, why }: Evaluated): string {
  if (excluded) return `[+]${name} excluded: ok\n`;
  return why === undefined ? `[+]${name} ok\n` : `[-]${name} failed: ${escapeLine(why)}\n`;
}

function single(checks: readonly HealthCheck[], name: string): Answer {
  const check = checks.find((candidate) => candidate.name === name);
  if (check === undefined)
    return textAnswer(404, `no such check; available checks: ${list(checks.map((known) => known.name))}\n`);
  const why = problemOf(check);
  return why === undefined ? textAnswer(200, 'ok') : textAnswer(503, `${name} failed: ${escapeLine(why)}\n`);
}

/** A check that throws has failed. */
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
