// The explain and status pages: the state of nodes, pods and zones in this controller, the reasons of its decisions and
// its next actions. Served from memory, as JSON or, with `?output=text`, as text. Of nodes and pods the pages contain only
// names: no specs, no labels, no environment.
import {
  describeNodeOutlook,
  describePodOutlook,
  describeZones,
} from '../../controller/report/text/describe-outlooks.ts';
import { describeStatus } from '../../controller/report/text/describe-status.ts';
import { describeReport } from '../../controller/shadow/describe-report.ts';
import type { ShadowReport } from '../../controller/shadow/report.ts';
import type { Snapshot } from '../../controller/report/snapshot.ts';
import { type Answer, type Route, textAnswer } from '../../machinery/page-server/observability-server.ts';

/** A page in both formats. */
interface Page {
  readonly json: unknown;
  text(): string;
}

/** The kind of object of a path, and the number of names in it. */
interface Wanted {
  readonly kind: 'node' | 'pod';
  readonly names: number;
}

/** `/explain/nodes/NAME`, `/explain/pods/NAMESPACE/NAME`, `/explain/zones` and `/status`. */
export function explainRoutes(snapshot: Snapshot): readonly Route[] {
  return [
    {
      path: '/explain/nodes/',
      answer: (url) => namedPage(url, { kind: 'node', names: 1 }, ([name = '']) => nodePage(snapshot, name)),
    },
    {
      path: '/explain/pods/',
      answer: (url) =>
        namedPage(url, { kind: 'pod', names: 2 }, ([namespace = '', name = '']) => podPage(snapshot, namespace, name)),
    },
    { path: '/explain/zones', answer: (url) => pageAnswer(url, zonesPage(snapshot)) },
    { path: '/status', answer: (url) => pageAnswer(url, statusPage(snapshot)) },
  ];
}

function nodePage(snapshot: Snapshot, name: string): Page | undefined {
  const json = snapshot.node(name);
  return json && { json, text: () => describeNodeOutlook(json) };
}

function podPage(snapshot: Snapshot, namespace: string, name: string): Page | undefined {
  const json = snapshot.pod(namespace, name);
  return json && { json, text: () => describePodOutlook(json) };
}

function zonesPage(snapshot: Snapshot): Page {
  const zones = snapshot.zones();
  return { json: { zones }, text: () => describeZones(zones) };
}

function statusPage(snapshot: Snapshot): Page {
  const json = snapshot.status();
  return { json, text: () => describeStatus(json) };
}

function namedPage(url: URL, wanted: Wanted, page: (names: readonly string[]) => Page | undefined): Answer {
  const names = decodedNames(url.pathname);
  if (names === undefined) return problem(400, 'BadRequest', `${url.pathname}: invalid percent-encoding in path`);
  const found = names.length === wanted.names ? page(names) : undefined;
  if (found !== undefined) return pageAnswer(url, found);
  return problem(
    404,
    'NotFound',
    `${wanted.kind} ${JSON.stringify(names.join('/'))} is not in this controller's cache`,
  );
}

/** The path segments after `/explain/KIND/`; undefined if one is not percent-encoded UTF-8. */
function decodedNames(pathname: string): readonly string[] | undefined {
  try {
    return pathname.split('/').slice(3).map(decodeURIComponent);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

/** The page in the format of the query parameter `output`. */
export function pageAnswer(url: URL, page: Page): Answer {
  const output = url.searchParams.get('output') ?? 'json';
  if (output === 'text') return textAnswer(200, page.text());
  if (output === 'json') return jsonAnswer(200, page.json);
  return problem(400, 'BadRequest', `output: must be json or text (got ${JSON.stringify(output)})`);
}

/** An error page. */
export function problem(status: number, reason: string, message: string): Answer {
  return jsonAnswer(status, { error: { code: status, reason, message } });
}

export function jsonAnswer(status: number, value: unknown): Answer {
  return { status, contentType: 'application/json', body: `${JSON.stringify(value, undefined, 2)}\n` };
}

/** `/shadow`: the comparison so far; 404 if this process does not run in shadow mode. */
export function shadowRoute(report: () => ShadowReport | undefined): Route {
  return {
    path: '/shadow',
    answer: (url) => {
      const page = report();
      if (page === undefined) return problem(404, 'NotFound', 'this controller does not run with --shadow');
      return pageAnswer(url, { json: page, text: () => describeReport(page) });
    },
  };
}
