/** Deadlines of requests: `?timeout=`, which also covers the time in which the body arrives. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expect, type Json, openClient } from './client.ts';
import { answerOf, type Http2Answer, openSession } from './http2-client.ts';

const client = await openClient();
const namespace = await client.namespace();
const configMaps = `/api/v1/namespaces/${namespace}/configmaps`;

const timeoutStatus = {
  metadata: {},
  status: 'Failure',
  message: 'Timeout: request did not complete within the allotted timeout',
  reason: 'Timeout',
  details: {},
  code: 504,
};

/** Sends the beginning of a body, and the rest when the promise that `use` returns is settled. */
async function withSlowBody(
  { method, path, type = 'application/json' }: { method: string; path: string; type?: string },
  body: Json,
  use: (answered: Promise<Http2Answer>) => Promise<void>,
): Promise<void> {
  const session = openSession(client.backend);
  const headers = {
    ':method': method,
    ':path': path,
    authorization: `Bearer ${client.backend.token}`,
    'content-type': type,
  };
  const stream = session.request(headers, { endStream: false });
  const text = JSON.stringify(body);
  stream.write(text.slice(0, 10));
  const answered = answerOf(stream);
  try {
    await use(answered);
    if (!stream.closed) stream.end(text.slice(10));
    await answered;
  } finally {
    session.destroy();
  }
}

function expectTimeout({ headers, text, rstCode }: Http2Answer): void {
  assert.equal(headers[':status'], 504, text);
  assert.deepEqual(JSON.parse(text), timeoutStatus);
  assert.ok(text.endsWith('}\n'));
  assert.equal(headers['content-type'], 'text/plain; charset=utf-8');
  assert.equal(headers['cache-control'], 'no-cache, private');
  assert.match(String(headers['audit-id']), /^[-0-9a-f]{36}$/);
  assert.equal(rstCode, 0);
}

test('a body that does not arrive within the timeout is answered 504, and the write is not carried out', async () => {
  const name = client.name('slow');
  const path = `${configMaps}?timeout=300ms`;
  await withSlowBody({ method: 'POST', path }, { metadata: { name } }, async (answered) => {
    expectTimeout(await answered);
  });
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(await client.get(`${configMaps}/${name}`), 404);
});

test('the timeout of updates, patches and deletions covers their bodies', async () => {
  const made = await client.make(configMaps, { metadata: { name: client.name('kept') }, data: { a: '1' } });
  const path = `${configMaps}/${made.metadata.name}?timeout=300ms`;
  const changed = { metadata: { name: made.metadata.name, labels: { changed: 'true' } } };
  for (const [method, type] of [
    ['PUT', 'application/json'],
    ['PATCH', 'application/merge-patch+json'],
    ['PATCH', 'application/apply-patch+yaml'],
    ['DELETE', 'application/json'],
  ] as const) {
    const body = method === 'DELETE' ? { kind: 'DeleteOptions', apiVersion: 'v1' } : changed;
    const query = type.startsWith('application/apply') ? '&fieldManager=t&force=true' : '';
    await withSlowBody({ method, path: `${path}${query}`, type }, body, async (answered) => {
      expectTimeout(await answered);
    });
  }
  const { body } = await client.get(`${configMaps}/${made.metadata.name}`);
  assert.equal(body.metadata.resourceVersion, made.metadata.resourceVersion);
});

test('a body that arrives within the timeout is accepted; a timeout of zero or above the maximum is the maximum', async () => {
  for (const timeout of ['20s', '0s', '-1s', '1h']) {
    const name = client.name('timely');
    await withSlowBody(
      { method: 'POST', path: `${configMaps}?timeout=${timeout}` },
      { metadata: { name } },
      async (answered) => {
        const early = await Promise.race([answered, new Promise((resolve) => setTimeout(resolve, 300))]);
        assert.equal(early, undefined);
      },
    );
    expect(await client.get(`${configMaps}/${name}`), 200);
  }
});

test('a read that waits for a version ends at its timeout', async () => {
  const startedMs = performance.now();
  const session = openSession(client.backend);
  const stream = session.request({
    ':path': `${configMaps}?resourceVersion=999999999&timeout=500ms`,
    authorization: `Bearer ${client.backend.token}`,
  });
  const { headers } = await answerOf(stream);
  session.destroy();
  assert.equal(headers[':status'], 504);
  // Without a timeout it waits for three seconds.
  assert.ok(performance.now() - startedMs < 2_500);
});

test('a watch has no deadline but timeoutSeconds', async () => {
  const watch = await client.watch(`${configMaps}?timeout=100ms&timeoutSeconds=20`);
  await new Promise((resolve) => setTimeout(resolve, 500));
  const { metadata } = await client.make(configMaps, { metadata: { name: client.name('late') } });
  const events = await watch.until(({ object }) => object.metadata.name === metadata.name);
  assert.equal(events.at(-1)?.type, 'ADDED');
  watch.stop();
});
