// Why did it act, or not, and what will it do next? Answered from memory, as JSON or, with `?output=text`, for people.
// A node's and a pod's name are all that is told of them: no specs, no labels, no environment.
import { type Answer, type Route, textAnswer } from '../adapters/observability-server.ts';
import { deriveNodeOutlook } from '../controller/explain/derive-node-outlook.ts';
import { derivePodOutlook } from '../controller/explain/derive-pod-outlook.ts';
import { deriveStatus } from '../controller/explain/derive-status.ts';
import { deriveZoneOutlook } from '../controller/explain/derive-zone-outlook.ts';
import { describeNodeOutlook } from '../controller/explain/describe-node-outlook.ts';
import { describePodOutlook } from '../controller/explain/describe-pod-outlook.ts';
import { describeStatus } from '../controller/explain/describe-status.ts';
import { describeZones } from '../controller/explain/describe-zone-outlook.ts';
import type { Snapshot } from '../controller/snapshot.ts';

/** The same page in both forms; undefined where there is no such object. */
export interface Page {
  readonly json: unknown;
  text(): string;
}

/** How many names follow the kind in the path. */
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
  const facts = snapshot.node(name);
  if (facts === undefined) return undefined;
  const outlook = deriveNodeOutlook(facts, snapshot.circumstances());
  return { json: outlook, text: () => describeNodeOutlook(outlook) };
}

function podPage(snapshot: Snapshot, namespace: string, name: string): Page | undefined {
  const facts = snapshot.pod(namespace, name);
  if (facts === undefined) return undefined;
  const outlook = derivePodOutlook(facts, snapshot.circumstances());
  return { json: outlook, text: () => describePodOutlook(outlook) };
}

function zonesPage(snapshot: Snapshot): Page {
  const { now } = snapshot.circumstances();
  const zones = snapshot.zones().map((facts) => deriveZoneOutlook(facts, now));
  return { json: { zones }, text: () => describeZones(zones) };
}

function statusPage(snapshot: Snapshot): Page {
  const status = deriveStatus(snapshot.status(), snapshot.circumstances());
  return { json: status, text: () => describeStatus(status) };
}

function namedPage(url: URL, wanted: Wanted, page: (names: readonly string[]) => Page | undefined): Answer {
  const names = decodedNames(url.pathname);
  if (names === undefined) return problem(400, 'BadRequest', `${url.pathname} is not a path that can be decoded`);
  const found = names.length === wanted.names ? page(names) : undefined;
  if (found !== undefined) return pageAnswer(url, found);
  return problem(
    404,
    'NotFound',
    `${wanted.kind} ${JSON.stringify(names.join('/'))} is not in this controller's cache`,
  );
}

/** The path segments after `/explain/KIND/`; undefined where one is no percent-encoded UTF-8. */
function decodedNames(pathname: string): readonly string[] | undefined {
  try {
    return pathname.split('/').slice(3).map(decodeURIComponent);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

/** The page in the form that the query asks for. */
export function pageAnswer(url: URL, page: Page): Answer {
  const output = url.searchParams.get('output') ?? 'json';
  if (output === 'text') return textAnswer(200, page.text());
  if (output === 'json') return jsonAnswer(200, page.json);
  return problem(400, 'BadRequest', `output: got ${JSON.stringify(output)}; accepted: json, text`);
}

/** A page that says what is wrong. */
export function problem(status: number, reason: string, message: string): Answer {
  return jsonAnswer(status, { error: { code: status, reason, message } });
}

function jsonAnswer(status: number, value: unknown): Answer {
  return { status, contentType: 'application/json', body: `${JSON.stringify(value, undefined, 2)}\n` };
}
