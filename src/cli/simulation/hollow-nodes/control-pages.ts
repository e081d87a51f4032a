// The control pages of running hollow nodes: status, nodes and fault injection. Requests and responses are JSON.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { ActiveFault } from '../../../hollow-cluster/kubelet/faults/fault-injector.ts';
import { describeFault } from '../../../hollow-cluster/kubelet/faults/node-faults.ts';
import { buildNodeFilter } from '../../../hollow-cluster/kubelet/faults/select-nodes.ts';
import type { FleetNodeStatus, HollowFleet } from '../../../hollow-cluster/kubelet/fleet/fleet.ts';
import type { HollowKubelet } from '../../../hollow-cluster/kubelet/hollow-kubelet.ts';
import {
  type ActRequest,
  type Answer,
  type Route,
  textAnswer,
} from '../../../machinery/page-server/observability-server.ts';
import { jsonAnswer } from '../../pages/explain-pages.ts';
import { readFaultOrder, readSelector } from './fault-schema.ts';
import type { FleetReport } from './fleet-report.ts';

interface ControlDependencies {
  readonly fleet: HollowFleet;
  readonly report: () => FleetReport;
}

const faultPrefix = '/faults/';
const nodePrefix = '/nodes/';
const podsPath = /^\/nodes\/([^/]+)\/pods$/;

/** `/status`, `/nodes`, `/nodes/NAME/pods`, `/faults` and `/faults/ID`. */
export function controlRoutes({ fleet, report }: ControlDependencies): readonly Route[] {
  return [
    { path: '/status', answer: () => jsonAnswer(200, report()) },
    { path: '/nodes', answer: (url) => nodesPage(fleet, url.searchParams) },
    { path: nodePrefix, answer: (url) => podsPage(fleet, url.pathname) },
    {
      path: '/faults',
      answer: () => jsonAnswer(200, { faults: fleet.faults.list().map(shownFault) }),
      act: (request) => actOnFaults(fleet, request),
    },
    {
      path: faultPrefix,
      answer: (url) => faultPage(fleet, idOf(url)),
      act: ({ method, url }) => (method === 'DELETE' ? withdrawFault(fleet, idOf(url)) : notThere(idOf(url))),
    },
  ];
}

function actOnFaults({ faults }: HollowFleet, { method, body }: ActRequest): Answer {
  if (method === 'DELETE') {
    faults.clear();
    return jsonAnswer(200, { faults: [] });
  }
  const read = readFaultOrder(body);
  if ('problems' in read) return refusal(400, 'BadRequest', read.problems);
  try {
    return jsonAnswer(201, shownFault(faults.post(read.value)));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return refusal(409, 'Conflict', [error.message]);
  }
}

function withdrawFault({ faults }: HollowFleet, id: string): Answer {
  return faults.withdraw(id) ? jsonAnswer(200, { id, active: 0 }) : notThere(id);
}

function faultPage({ faults }: HollowFleet, id: string): Answer {
  const found = faults.list().find((fault) => fault.id === id);
  return found === undefined ? notThere(id) : jsonAnswer(200, { ...shownFault(found), nodes: found.nodes });
}

function notThere(id: string): Answer {
  return refusal(404, 'NotFound', [`fault ${JSON.stringify(id)} not found`]);
}

function nodesPage(fleet: HollowFleet, query: URLSearchParams): Answer {
  const read = readSelector(selectorIn(query));
  if ('problems' in read) return refusal(400, 'BadRequest', read.problems);
  const fits = buildNodeFilter(read.value);
  const nodes = [...fleet.nodes()].filter(fits).map(shownNode);
  return jsonAnswer(200, { count: nodes.length, nodes });
}

function podsPage(fleet: HollowFleet, path: string): Answer {
  const [, name = ''] = podsPath.exec(path) ?? [];
  const kubelet = fleet.kubelet(name);
  if (kubelet === undefined) {
    return refusal(404, 'NotFound', [`path ${JSON.stringify(path)} not found; must be /nodes/NAME/pods`]);
  }
  return jsonAnswer(200, podListOf(kubelet));
}

/** List as a kubelet serves it at `/pods`: all pods that it knows, static pods too. */
function podListOf({ pods }: HollowKubelet): object {
  const items = pods.knownPods().map(({ metadata, spec, status }) => ({ metadata, spec, status }));
  return { kind: 'PodList', apiVersion: 'v1', metadata: {}, items };
}

/** `names=a*,b*`, `zone=z`, `labels=key=value,...`. Any other parameter is an unknown field. */
function selectorIn(query: URLSearchParams): unknown {
  const entries = [...query].map(([name, text]): [string, unknown] => {
    if (name === 'names') return [name, text.split(',')];
    if (name !== 'labels') return [name, text];
    return [name, Object.fromEntries(text.split(',').map((pair) => [...pair.split('=', 2), '']))];
  });
  return Object.fromEntries(entries);
}

function shownNode({ name, labels, registered, ready, broken, cutOff, pods, faults }: FleetNodeStatus): object {
  return { name, labels, registered, ready, broken, cutOff, pods, faults };
}

function shownFault({ id, order, nodes, active, waiting }: ActiveFault): object {
  const { selector, fault, forMs, nodesPerSecond } = order;
  return {
    id,
    fault,
    text: describeFault(fault),
    selector,
    forMs,
    nodesPerSecond,
    meantFor: nodes.length,
    active,
    waiting,
  };
}

function idOf(url: URL): string {
  try {
    return decodeURIComponent(url.pathname.slice(faultPrefix.length));
  } catch {
    return url.pathname;
  }
}

function refusal(code: number, reason: string, problems: readonly string[]): Answer {
  return jsonAnswer(code, { error: { code, reason, problems } });
}

/** Rejects requests to the control pages that do not send this token. */
export function requireToken(token: string): (headers: IncomingHttpHeaders) => Answer | undefined {
  const wanted = digest(`Bearer ${token}`);
  return ({ authorization = '' }) =>
    timingSafeEqual(digest(authorization), wanted) ? undefined : textAnswer(401, 'invalid or missing bearer token\n');
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
