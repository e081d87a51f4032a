// A port of a pod as a stream, against the protocol of the kubelet; and the same endpoint with the official client, which shows
// that the endpoint serves what clients expect.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { KubeConfig, PortForward } from '@kubernetes/client-node';
import { ApiError } from '../../../src/machinery/api/api-error.ts';
import { ClusterClient } from '../../../src/machinery/kube-client/cluster-client.ts';
import { FakeCluster } from '../../support/fake-cluster.ts';
import { plainConnection } from '../../support/plain-connection.ts';

const signal = AbortSignal.timeout(30_000);
let cluster: FakeCluster;
let client: ClusterClient;
let echo: Server;
let port = 0;

before(async () => {
  cluster = await FakeCluster.start();
  client = new ClusterClient(plainConnection(cluster.url, { token: 't' }), 'test');
  echo = createServer((socket) => socket.pipe(socket));
  echo.listen(0, '127.0.0.1');
  await once(echo, 'listening');
  const address = echo.address();
  port = typeof address === 'object' && address !== null ? address.port : 0;
  cluster.pods.push({ namespace: 'nlc', name: 'c-1', port });
});

after(async () => {
  await client.close();
  echo.close();
  await cluster[Symbol.asyncDispose]();
});

const target = (changes: object = {}) => ({ namespace: 'nlc', pod: 'c-1', port, ...changes });

test('bytes go both ways unchanged, in any size', async () => {
  const stream = await client.forward(target(), signal);
  const sent = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 251));
  for (const end of [1, 125, 126, 65_535, 65_536]) stream.write(sent.subarray(0, end));
  stream.write(sent);
  const wanted = 1 + 125 + 126 + 65_535 + 65_536 + sent.length;
  const received: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    received.push(chunk);
    bytes += chunk.length;
    if (bytes >= wanted) break;
  }
  const all = Buffer.concat(received);
  assert.equal(all.length, wanted);
  assert.deepEqual(all.subarray(-sent.length), sent);
});

test('a pod that closes the connection ends the stream', async () => {
  const closing = createServer((socket) => socket.end('bye'));
  closing.listen(0, '127.0.0.1');
  await once(closing, 'listening');
  const { port: other } = closing.address() as { port: number };
  const stream = await client.forward(target({ port: other }), signal);
  assert.equal((await buffer(stream)).toString(), 'bye');
  closing.close();
});

test('a port that refuses connections is an error of the stream, with the message of the kubelet', async () => {
  const stream = await client.forward(target({ port: 1 }), signal);
  await assert.rejects(buffer(stream), /error forwarding port 1 to pod/);
});

test('a forbidden and an unknown pod are errors with the status of the API server', async () => {
  cluster.forbidden.add('create pods/portforward');
  const isForbidden = (error: unknown): boolean =>
    error instanceof ApiError &&
    error.reason === 'forbidden' &&
    /cannot create resource "pods\/portforward"/.test(error.message);
  await assert.rejects(client.forward(target(), signal), isForbidden);
  cluster.forbidden.clear();
  const isUnknown = (error: unknown): boolean => error instanceof ApiError && error.code === 404;
  await assert.rejects(client.forward(target({ pod: 'gone' }), signal), isUnknown);
});

test('an aborted signal ends the handshake', async () => {
  await assert.rejects(client.forward(target(), AbortSignal.abort()), ApiError);
});

test('destroying the stream closes the port-forward', async () => {
  const stream = await client.forward(target(), signal);
  assert.ok(cluster.forwards > 0);
  stream.destroy();
  while (cluster.forwards > 0) await new Promise((resolve) => setTimeout(resolve, 5));
});

test('the official client gets the same bytes from this endpoint', async () => {
  const config = new KubeConfig();
  config.loadFromString(
    JSON.stringify({
      clusters: [{ name: 'c', cluster: { server: cluster.url, 'insecure-skip-tls-verify': true } }],
      users: [{ name: 'u', user: {} }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'c',
    }),
  );
  const [output, input] = [new PassThrough(), new PassThrough()];
  const socket = await new PortForward(config).portForward('nlc', 'c-1', [port], output, null, input);
  input.write('hello');
  const [received] = (await once(output, 'data')) as [Buffer];
  assert.equal(received.toString(), 'hello');
  assert.ok(typeof socket !== 'function');
  socket?.close();
});
