import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { pageBytesMax } from '../../../../src/cli/client/page-source.ts';
import { serverFlags } from '../../../../src/cli/client/flags.ts';
import { ServerPages } from '../../../../src/cli/client/server-pages.ts';
import { readFlags } from '../../../../src/cli/flags/flag-schema.ts';
import { nlc } from '../../../support/run-command.ts';

test('a server whose response does not end: nlc status stops reading, and names the limit', async () => {
  const chunk = Buffer.alloc(64 * 1024, 'x');
  let sent = 0;
  const server = createServer((_, response) => {
    const send = (): void => {
      while (!response.destroyed && sent < 100 * pageBytesMax) {
        sent += chunk.length;
        if (!response.write(chunk)) return void response.once('drain', send);
      }
    };
    send();
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const { code, out, err } = await nlc('status', `--server=http://127.0.0.1:${port}`);
    assert.deepEqual([code, out], [1, '']);
    assert.match(err, /the page of http:\/\/127\.0\.0\.1:\d+ is longer than 16777216 bytes/u);
    assert.ok(sent < 3 * pageBytesMax, `${sent} bytes were sent`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test('a server that switches protocols gives no page: the request ends with its signal', async () => {
  const server = createServer();
  // Any request: it asks for no upgrade, and gets one.
  server.on('request', (request) =>
    request.socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'),
  );
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const values = readFlags([`--server=http://127.0.0.1:${port}`], serverFlags);
  assert.ok('values' in values);
  const pages = await ServerPages.open(values.values);
  try {
    await assert.rejects(pages.get('/status', AbortSignal.timeout(300)), {
      name: 'PageError',
      message: /no response from/u,
    });
  } finally {
    await pages.close();
    server.closeAllConnections();
    server.close();
  }
});
