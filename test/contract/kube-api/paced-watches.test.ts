import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeKubeApi } from '../../support/make-kube-api.ts';
import { plainConnection } from '../../support/plain-connection.ts';
import { RawHttpServer } from '../../support/raw-http-server.ts';

const eventEveryMs = 5;
const events = 600;

test('a watch with 200 events per second is delivered in batches, complete and in order, and ends at once', async () => {
  const server = new RawHttpServer();
  await server.start();
  server.handler = (request) => {
    request.open();
    let sent = 0;
    const timer = setInterval(() => {
      sent += 1;
      const object = { metadata: { name: 'n', resourceVersion: String(sent) } };
      request.chunk(`${JSON.stringify({ type: 'MODIFIED', object })}\n`);
      if (sent < events) return;
      clearInterval(timer);
      request.end();
    }, eventEveryMs);
  };
  const api = makeKubeApi(plainConnection(server.url));
  const versions: string[] = [];
  const late: number[] = [];
  for await (const batch of await api.watch('nodes', { timeoutSeconds: 60, signal: AbortSignal.timeout(60_000) })) {
    if (versions.length > events / 2) late.push(batch.length);
    for (const { object } of batch)
      if (object !== undefined && 'metadata' in object) versions.push(object.metadata?.resourceVersion ?? '');
  }
  assert.deepEqual(
    versions,
    Array.from({ length: events }, (_, place) => String(place + 1)),
  );
  const mean = late.reduce((sum, size) => sum + size, 0) / late.length;
  assert.ok(mean >= 5, `${mean} events in a batch`);
  await api.close();
  await server.stop();
});
