/** Behaviour of the embedded server over HTTP/2: answers that are cut off, and many of them on one connection. */
import assert from 'node:assert/strict';
import { constants } from 'node:http2';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { embeddedBackend } from './backend.ts';
import { Client, expect } from './client.ts';
import { answerOf, openSession } from './http2-client.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';

async function withClient(use: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client(await embeddedBackend({}));
  try {
    await use(client);
  } finally {
    await client.close();
  }
}

/** Creates ConfigMaps with so many bytes each. */
async function fill(client: Client, count: number, bytes: number): Promise<void> {
  const data = { v: 'x'.repeat(bytes) };
  for (let made = 0; made < count; made += 50) {
    const batch = Array.from({ length: Math.min(50, count - made) }, (_, index) => `c${made + index}`);
    await Promise.all(batch.map((name) => client.make(configMaps, { metadata: { name }, data })));
  }
}

for (const [reader, pauseMs] of [
  ['that reads', 0],
  ['that is blocked by flow control', 600],
] as const) {
  test(`a list that is not complete at its deadline ends with an error code, for a client ${reader}`, async () => {
    await withClient(async (client) => {
      await fill(client, 1_500, 4_000);
      const session = openSession(client.backend);
      const authorization = `Bearer ${client.backend.token}`;
      const timeoutMs = pauseMs === 0 ? 10 : 200;
      const stream = session.request({ ':path': `${configMaps}?timeout=${timeoutMs}ms`, authorization });
      const answered = answerOf(stream);
      if (pauseMs > 0) stream.pause();
      await new Promise((resolve) => stream.once('response', resolve));
      await sleep(pauseMs);
      stream.resume();
      const { rstCode, text } = await answered;
      assert.equal(rstCode, constants.NGHTTP2_INTERNAL_ERROR, `${text.length} characters`);
      const { status } = await answerOf(session.request({ ':path': '/version', authorization }));
      assert.equal(status, 200, 'the connection is still served');
      session.destroy();
      expect(await client.get(`${configMaps}?limit=1`), 200);
    });
  });
}
