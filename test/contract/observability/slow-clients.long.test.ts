// Clients that hold a connection without using it: every connection has a limit, so that probes and scrapes are served.
import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { type RunningHttp, startHttp, textAnswer } from '../../../src/machinery/page-server/observability-server.ts';
import { RecordingLogger } from '../../support/fakes.ts';

/** More than both kernels' socket buffers. */
const large = textAnswer(200, 'x'.repeat(32 * 1024 * 1024));

describe('slow clients', { concurrency: true }, () => {
  let server: RunningHttp;

  before(async () => {
    const routes = [{ path: '/large', answer: () => large }];
    server = await startHttp({ address: { host: '127.0.0.1', port: 0 }, routes, logger: new RecordingLogger() });
  });
  after(() => server.close());

  /** Resolves with the seconds until the server closes the connection. */
  function secondsUntilEnd(begin: (socket: Socket) => void): Promise<number> {
    const sinceMs = performance.now();
    return new Promise((resolve) => {
      const socket = connect(server.address.port, server.address.host, () => begin(socket));
      socket.on('error', () => undefined);
      socket.on('close', () => resolve((performance.now() - sinceMs) / 1_000));
    });
  }

  test('a connection without a request', async () => {
    const seconds = await secondsUntilEnd((socket) => socket.resume());
    assert.ok(seconds < 18, `${seconds} s`);
  });

  test('headers sent byte by byte', async () => {
    const seconds = await secondsUntilEnd((socket) => {
      socket.resume().write('GET /large HTTP/1.1\r\nhost: localhost\r\nx-slow: ');
      const dripping = setInterval(() => socket.write('x'), 500);
      socket.once('close', () => clearInterval(dripping));
    });
    assert.ok(seconds < 18, `${seconds} s`);
  });

  test('a body sent byte by byte', async () => {
    const seconds = await secondsUntilEnd((socket) => {
      socket.resume().write('POST /large HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\n');
      const dripping = setInterval(() => socket.write('x'), 500);
      socket.once('close', () => clearInterval(dripping));
    });
    assert.ok(seconds < 18, `${seconds} s`);
  });

  test('a response that is not read', async () => {
    let bytes = 0;
    await secondsUntilEnd((socket) => {
      socket.write('GET /large HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n');
      // A client that does not read does not notice the end; the remaining bytes show it.
      setTimeout(() => socket.on('data', (piece) => (bytes += piece.length)), 36_000);
    });
    assert.ok(bytes < large.body.length, `all ${bytes} bytes came`);
  });
});
