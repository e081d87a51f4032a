import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { pageBytesMax } from '../../../../src/cli/client/page-source.ts';
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
