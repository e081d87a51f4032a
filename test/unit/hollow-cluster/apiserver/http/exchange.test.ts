import assert from 'node:assert/strict';
import { connect, constants, createServer, type Http2ServerResponse } from 'node:http2';
import { type AddressInfo, createConnection, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { test } from 'node:test';
import { cutOff } from '../../../../../src/hollow-cluster/apiserver/http/exchange.ts';

/** A connection whose incoming bytes pass through here, so that a paused socket is one that the client does not read. */
function overSocket(socket: Socket): Duplex {
  const duplex = new Duplex({ read() {}, write: (chunk, _encoding, done) => socket.write(chunk, done) });
  socket.on('data', (chunk) => duplex.push(chunk));
  return duplex;
}

test('a response that is cut off ends at once, also if its client reads nothing from the connection', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve());
  });
  const { port } = server.address() as AddressInfo;
  const socket = createConnection(port, '127.0.0.1');
  const settings = { initialWindowSize: 2 ** 30 };
  const client = connect(`http://127.0.0.1:${port}`, { createConnection: () => overSocket(socket), settings });
  client.on('error', () => {});
  const received = new Promise<Http2ServerResponse>((resolve) => {
    server.once('request', (_incoming, outgoing) => resolve(outgoing));
  });
  const stream = client.request({ ':path': '/' });
  stream.on('error', () => {});
  const ended = new Promise((resolve) => {
    stream.once('close', () => resolve(stream.rstCode));
  });
  stream.resume();
  const outgoing = await received;
  socket.pause();
  outgoing.writeHead(200);
  // More than the buffers of the two sockets hold.
  outgoing.write(Buffer.alloc(64 * 1024 * 1024));
  await new Promise((resolve) => setTimeout(resolve, 100));
  const closed = new Promise<string>((resolve) => {
    outgoing.once('close', () => resolve('closed'));
  });
  cutOff(outgoing);
  const late = new Promise<string>((resolve) => {
    setTimeout(resolve, 2_000, 'open').unref();
  });
  assert.equal(await Promise.race([closed, late]), 'closed');
  socket.resume();
  assert.equal(await ended, constants.NGHTTP2_INTERNAL_ERROR, 'the client detects it when it reads again');
  socket.destroy();
  client.destroy();
  server.close();
});
