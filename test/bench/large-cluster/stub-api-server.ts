// A process that serves what a controller of a large healthy cluster reads: watches of nodes, pods and leases with their
// initial state as protobuf, lease renewals at a fixed rate, node status every five minutes, and the leader's lease.
// Everything else is counted: a healthy cluster needs no other request.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Kind } from '../cluster-objects.ts';
import { bookmarkChunk, eventTemplate, initialBlocks, writeEvent } from '../watch-events.ts';
import { LagSampler } from './lag-sampler.ts';
import { json, LeaderLease } from './leader-lease.ts';
import { Renewals } from './renewals.ts';
import type { StubCommand, StubMessage, StubOptions } from './stub-protocol.ts';

const firstVersion = 1_000_000_000;
const bookmarkEveryMs = 60_000;
const statusEveryMs = 300_000;
const statusTickMs = 100;
const leaderPath = /^\/apis\/coordination\.k8s\.io\/v1\/namespaces\/kube-system\/leases(?:\/|$)/u;
const emptyLeaseList = (version: number): object => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'LeaseList',
  metadata: { resourceVersion: String(version) },
  items: [],
});

function serve({ nodes, pods, renewalsPerSecond, controller }: StubOptions): void {
  let version = firstVersion + nodes + pods;
  const nextVersion = (): number => (version += 1);
  const counts: Record<Kind, number> = { nodes, pods, leases: nodes };
  const renewals = new Renewals({ nodes, perSecond: renewalsPerSecond, nextVersion });
  const sampler = new LagSampler({ nodes, perSecond: renewalsPerSecond, controller, renewals });
  const leader = new LeaderLease();
  const unexpected = new Map<string, number>();
  const watching = new Map<Kind, Socket>();

  const watch = async (kind: Kind, query: URLSearchParams, response: ServerResponse): Promise<void> => {
    response.writeHead(200, {
      'content-type': 'application/vnd.kubernetes.protobuf;stream=watch',
      'transfer-encoding': 'chunked',
    });
    response.flushHeaders();
    const { socket } = response;
    if (socket === null) return;
    // The blocks have the form of HTTP chunks already, one for each event.
    if (query.get('sendInitialEvents') === 'true')
      await writeAll(socket, initialBlocks(kind, 'protobuf', counts[kind], firstVersion));
    const isFirst = !watching.has(kind);
    watching.set(kind, socket);
    if (kind === 'leases') renewals.attach(socket);
    if (isFirst && kind === 'leases') renewals.run();
    if (isFirst && kind === 'nodes') postStatus(nodes, watching, nextVersion);
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://stub');
    const kind = (['nodes', 'pods', 'leases'] as const).find((name) => pathname.endsWith(`/${name}`));
    if (leaderPath.test(pathname)) return leader.answer(request, response);
    if (kind !== undefined && searchParams.get('watch') === 'true') return watch(kind, searchParams, response);
    if (pathname.endsWith('/events')) return json(response, 201, JSON.parse(await text(request)) as object);
    request.resume();
    // The controller reads one lease to see that the API server answers while no heartbeats arrive.
    if (kind === 'leases') return json(response, 200, emptyLeaseList(version));
    const what = `${request.method} ${(request.url ?? '').replaceAll(/\d{5,}/gu, 'N')}`;
    unexpected.set(what, (unexpected.get(what) ?? 0) + 1);
    json(response, 404, { kind: 'Status', status: 'Failure', reason: 'NotFound', code: 404 });
  };

  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1', () => send({ kind: 'listening', port: (server.address() as AddressInfo).port }));
  process.on('message', (command: StubCommand) => {
    if (command.kind === 'measure') sampler.run();
    if (command.kind !== 'report') return;
    const { sent, behindMax } = renewals;
    send({
      kind: 'report',
      report: { renewals: sent, behindMax, unexpected: Object.fromEntries(unexpected), lags: sampler.lags },
    });
  });
  setInterval(() => {
    for (const [kind, socket] of watching) socket.write(bookmarkChunk(kind, 'protobuf', nextVersion(), false));
  }, bookmarkEveryMs);
}

/** Writes as fast as the reader reads. */
async function writeAll(socket: Socket, blocks: Iterable<Buffer>): Promise<void> {
  for (const block of blocks) {
    if (socket.destroyed) return;
    if (!socket.write(block)) await drained(socket);
  }
}

function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      socket.off('drain', done).off('close', done);
      resolve();
    };
    socket.on('drain', done).on('close', done);
  });
}

/** Each node posts its status every five minutes. */
function postStatus(nodes: number, watching: ReadonlyMap<Kind, Socket>, nextVersion: () => number): void {
  const template = eventTemplate('nodes', 'protobuf', 'MODIFIED');
  const startedAtMs = performance.now();
  let posted = 0;
  setInterval(() => {
    const due = Math.floor(((performance.now() - startedAtMs) / statusEveryMs) * nodes);
    for (; posted < due; posted += 1) {
      const block = Buffer.allocUnsafe(template.bytes.length);
      writeEvent(block, 0, template, { n: posted % nodes, version: nextVersion() });
      watching.get('nodes')?.write(block);
    }
  }, statusTickMs);
}

function send(message: StubMessage): void {
  process.send?.(message);
}

process.once('message', (command: StubCommand) => {
  if (command.kind === 'start') serve(command);
});
process.on('disconnect', () => process.exit());
