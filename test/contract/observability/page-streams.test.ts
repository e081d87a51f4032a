// Responses that are written over time, over real sockets.
import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { startHttp, textAnswer } from '../../../src/machinery/page-server/observability-server.ts';
import type { PageStream } from '../../../src/machinery/page-server/page-stream.ts';
import { RecordingLogger } from '../../support/fakes.ts';
import { until } from '../../support/until.ts';

const chunk = 'x'.repeat(64 * 1024);

async function serving(t: TestContext) {
  const streams: PageStream[] = [];
  const logger = new RecordingLogger();
  const server = await startHttp({
    address: { host: '127.0.0.1', port: 0 },
    routes: [
      {
        path: '/stream',
        answer: () => textAnswer(200, ''),
        stream: () => ({ status: 200, contentType: 'text/plain', open: (stream) => void streams.push(stream) }),
      },
      {
        path: '/broken',
        answer: () => textAnswer(200, ''),
        stream: () => {
          throw new Error('secret detail');
        },
      },
    ],
    logger,
  });
  t.after(() => server.close());
  const sockets: Socket[] = [];
  t.after(() => sockets.forEach((socket) => socket.destroy()));
  const open = async (): Promise<{ readonly socket: Socket; readonly stream: PageStream }> => {
    const socket = connect({ host: '127.0.0.1', port: server.address.port }).on('error', () => undefined);
    sockets.push(socket);
    const count = streams.length;
    socket.write('GET /stream HTTP/1.1\r\nhost: localhost\r\n\r\n');
    await until(() => streams.length > count);
    return { socket, stream: streams[count] ?? assert.fail('no stream') };
  };
  return { open, url: `http://127.0.0.1:${server.address.port}` };
}

/** Writes while the client takes it; resolves with whether it did not take everything within a moment. */
async function fill(stream: PageStream): Promise<boolean> {
  for (let written = 0; written < 1_000; written += 1) {
    stream.write(chunk);
    const isDrained = await Promise.race([
      stream.drained().then(() => true),
      new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 300)),
    ]);
    if (!isDrained) return true;
  }
  return false;
}

test('a writer waits for a client that does not read, and goes on when it does', async (t) => {
  const { open } = await serving(t);
  const { socket, stream } = await open();
  assert.equal(await fill(stream), true);
  assert.ok(stream.pendingBytes > 0 && stream.pendingBytes < 4 * chunk.length, String(stream.pendingBytes));
  const drained = stream.drained();
  socket.resume();
  await drained;
  assert.equal(stream.pendingBytes, 0);
});

test('a client that disconnects ends its stream, also while the writer waits', async (t) => {
  const { open } = await serving(t);
  const { socket, stream } = await open();
  let closed = 0;
  stream.onClose(() => (closed += 1));
  assert.equal(await fill(stream), true);
  const drained = stream.drained();
  socket.destroy();
  await drained;
  assert.equal(closed, 1);
  stream.write('nothing is sent');
  stream.end();
  stream.onClose(() => (closed += 1));
  assert.equal(closed, 2, 'a listener that comes later is called at once');
});

test('a stream that is ended disconnects a client that does not read', async (t) => {
  const { open } = await serving(t);
  const { socket, stream } = await open();
  assert.equal(await fill(stream), true);
  let isClosed = false;
  socket.on('close', () => (isClosed = true));
  const sinceMs = performance.now();
  stream.end();
  setTimeout(() => socket.resume(), 1_500);
  await until(() => isClosed);
  assert.ok(performance.now() - sinceMs < 5_000);
});

test('a stream that cannot be opened is an internal error without details', async (t) => {
  const { url } = await serving(t);
  const answer = await fetch(`${url}/broken`);
  assert.deepEqual([answer.status, await answer.text()], [500, 'internal error\n']);
});
