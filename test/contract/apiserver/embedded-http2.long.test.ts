/** Behaviour of the embedded server over HTTP/2: answers that are cut off, and many of them on one connection. */
import assert from 'node:assert/strict';
import { type ClientHttp2Stream, constants } from 'node:http2';
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

test('a deletion of a collection is carried out and answered, or answered 504 and not carried out', async () => {
  await withClient(async (client) => {
    await fill(client, 2_000, 2_000);
    const session = openSession(client.backend);
    const common = { authorization: `Bearer ${client.backend.token}`, accept: 'application/vnd.kubernetes.protobuf' };
    let status: number | undefined = 504;
    // A busy machine may need longer to read the request, which changes nothing.
    for (let timeoutMs = 10; status === 504 && timeoutMs < 1_000; timeoutMs *= 2) {
      const stream = session.request({
        ':method': 'DELETE',
        ':path': `${configMaps}?timeout=${timeoutMs}ms`,
        ...common,
      });
      const answer = await answerOf(stream.end());
      status = answer.status;
      const { body } = await client.get(configMaps);
      assert.equal(body.items.length, status === 504 ? 2_000 : 0, `answered ${status} after ${timeoutMs} ms`);
      assert.equal(answer.rstCode, constants.NGHTTP2_NO_ERROR);
      if (status === 200) assert.ok(answer.text.length > 4_000_000, 'all deleted objects are in the answer');
    }
    assert.equal(status, 200);
    session.destroy();
  });
});

test('the answer to a write that was carried out is sent after its deadline, to a client that reads late', async () => {
  await withClient(async (client) => {
    const session = openSession(client.backend);
    const common = { authorization: `Bearer ${client.backend.token}`, 'content-type': 'application/json' };
    const stream = session.request({ ':method': 'POST', ':path': `${configMaps}?timeout=400ms`, ...common });
    const answered = answerOf(stream);
    stream.pause();
    stream.end(JSON.stringify({ metadata: { name: 'large' }, data: { v: 'x'.repeat(900_000) } }));
    await sleep(1_000);
    stream.resume();
    const { status, text, rstCode } = await answered;
    assert.deepEqual([status, rstCode], [201, constants.NGHTTP2_NO_ERROR]);
    assert.equal(JSON.parse(text).data.v.length, 900_000);
    session.destroy();
  });
});

test('an answer that its client does not read is dropped at the deadline of the request', async () => {
  await withClient(async (client) => {
    await client.make(configMaps, { metadata: { name: 'c' }, data: { v: 'x'.repeat(200_000) } });
    const session = openSession(client.backend);
    const authorization = `Bearer ${client.backend.token}`;
    const stream = session.request({ ':path': `${configMaps}/c?timeout=300ms`, authorization });
    const answered = answerOf(stream);
    stream.pause();
    const { rstCode } = await answered;
    assert.equal(rstCode, constants.NGHTTP2_INTERNAL_ERROR);
    session.destroy();
  });
});

function begunOrRefused(stream: ClientHttp2Stream): Promise<void> {
  return new Promise((resolve) => {
    stream.once('response', () => resolve());
    stream.once('close', () => resolve());
  });
}

/** The length of an answer whose content is not kept. */
async function countBytes(stream: ClientHttp2Stream): Promise<{ readonly bytes: number; readonly rstCode: number }> {
  let bytes = 0;
  stream.on('data', (part: Buffer) => {
    bytes += part.length;
  });
  stream.on('error', () => {});
  await new Promise((resolve) => stream.once('close', resolve));
  return { bytes, rstCode: stream.rstCode ?? 0 };
}

test('300 lists at once on one connection are answered, and a watch on it continues', async () => {
  await withClient(async (client) => {
    await fill(client, 300, 4_000);
    const expectedBytes = (await client.get(configMaps)).bytes.length;
    const session = openSession(client.backend);
    const common = { authorization: `Bearer ${client.backend.token}` };
    const watched = session.request({ ':path': `${configMaps}?watch=true&resourceVersion=0`, ...common });
    const seen = new Promise<string>((resolve) => {
      let text = '';
      watched.on('data', (part: Buffer) => {
        text += part.toString();
        if (text.includes('"name":"last"')) resolve('seen');
      });
      watched.on('error', () => {});
      watched.once('close', () => resolve('closed'));
    });
    const lists = Array.from({ length: 300 }, () => countBytes(session.request({ ':path': configMaps, ...common })));
    for (const { bytes, rstCode } of await Promise.all(lists)) {
      assert.deepEqual([bytes, rstCode], [expectedBytes, constants.NGHTTP2_NO_ERROR]);
    }
    await client.make(configMaps, { metadata: { name: 'last' } });
    assert.equal(await seen, 'seen');
    session.destroy();
  });
});

test('a connection whose client does not read 300 lists is still served', async () => {
  await withClient(async (client) => {
    await fill(client, 300, 4_000);
    const session = openSession(client.backend);
    const common = { authorization: `Bearer ${client.backend.token}` };
    const unread = Array.from({ length: 300 }, () => session.request({ ':path': configMaps, ...common }).pause());
    for (const stream of unread) stream.on('error', () => {});
    await Promise.all(unread.map(begunOrRefused));
    const { status } = await answerOf(session.request({ ':path': '/version', ...common }));
    assert.equal(status, 200);
    session.destroy();
  });
});
