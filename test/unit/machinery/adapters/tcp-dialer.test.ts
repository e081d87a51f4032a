import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import { tcpDialer } from '../../../../src/machinery/adapters/tcp-dialer.ts';

const { signal } = new AbortController();
const never = { address: '192.0.2.1', port: 10_250 };

async function aPort(): Promise<{ readonly port: number; readonly close: () => Promise<void> }> {
  const server = createServer((socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      server.close();
      await once(server, 'close');
    },
  };
}

test('a port that accepts answers, and so does one that refuses', async () => {
  const { port, close } = await aPort();
  assert.equal(await tcpDialer.dial({ address: '127.0.0.1', port }, 2_000, signal), 'answered');
  await close();
  assert.equal(await tcpDialer.dial({ address: '127.0.0.1', port }, 2_000, signal), 'answered');
});

test('an address that cannot be asked is no evidence', async () => {
  assert.equal(await tcpDialer.dial({ address: 'no such name', port: 1 }, 2_000, signal), 'not-sent');
  assert.equal(await tcpDialer.dial({ address: '127.0.0.1', port: 70_000 }, 2_000, signal), 'not-sent');
  assert.equal(await tcpDialer.dial(never, 2_000, AbortSignal.abort()), 'not-sent');
});

test('an abort ends it', async () => {
  const abort = new AbortController();
  const dialing = tcpDialer.dial(never, 60_000, abort.signal);
  abort.abort();
  assert.equal(await dialing, 'not-sent');
});
