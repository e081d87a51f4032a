// The proxy of the fault scenarios, in front of a raw byte server: what it passes on, and the effect of each fault.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { Agent, type Dispatcher, request } from 'undici';
import { TestAuthority } from '../../support/certificates.ts';
import { RawHttpServer } from '../../support/raw-http-server.ts';
import { until } from '../../support/until.ts';
import { FaultProxy } from '../../control-plane/faults/fault-proxy.ts';

const soon = 60;

let ca: string;
let upstream: RawHttpServer;
let proxy: FaultProxy;
let agent: Agent;

before(async () => {
  const authority = await TestAuthority.make();
  ca = authority.cert;
  const pair = await authority.sign({ subject: 'CN=server', hosts: ['127.0.0.1'] });
  upstream = new RawHttpServer(pair);
  await upstream.start();
  proxy = await FaultProxy.start({ upstream: { url: upstream.url, ca }, ...pair });
});

beforeEach(async () => {
  await agent?.destroy();
  agent = new Agent({ connect: { ca }, connections: 4 });
  upstream.handler = (incoming) => incoming.answer(200, `${incoming.method} ${incoming.path}`);
});

after(async () => {
  await agent.destroy();
  await proxy.stop();
  await upstream.stop();
});

function send(method: Dispatcher.HttpMethod, path: string, body?: string): Promise<Dispatcher.ResponseData> {
  const headers = { authorization: 'Bearer secret', 'content-type': 'application/merge-patch+json' };
  return request(`${proxy.url}${path}`, { method, headers, body: body ?? null, dispatcher: agent });
}

async function textOf(answer: Promise<Dispatcher.ResponseData>): Promise<string> {
  return (await answer).body.text();
}

/** False without a response within a short time. */
function isAnswered(answer: Promise<unknown>): Promise<boolean> {
  const late = new Promise<boolean>((resolve) => setTimeout(() => resolve(false), soon));
  return Promise.race([answer.then(() => true), late]);
}

test('a request is forwarded with its token, body and content type, and is recorded', async () => {
  assert.equal(await textOf(send('PATCH', '/passes?x=1', '{"a":1}')), 'PATCH /passes?x=1');
  const { headers, body } = upstream.requests.findLast(({ path }) => path === '/passes?x=1') ?? assert.fail();
  assert.equal(headers['authorization'], 'Bearer secret');
  assert.equal(headers['content-type'], 'application/merge-patch+json');
  assert.equal(body, '{"a":1}');
  const record = proxy.writes.at(-1) ?? assert.fail();
  assert.deepEqual([record.method, record.path, record.status], ['PATCH', '/passes?x=1', 200]);
  assert.ok(record.forwardedAtMs !== undefined);
});

test('a Retry-After response, plain or as a Status: the request never reaches the server, and the rule ends after its number of requests', async () => {
  const fault = { kind: 'answer', code: 429, retryAfterSeconds: 7, form: 'status', message: 'busy' } as const;
  proxy.inject({ path: /^\/busy/, times: 1, fault });
  proxy.inject({ path: /^\/gone/, timesEach: 1, fault: { kind: 'answer', code: 404, form: 'plain', message: 'page' } });
  const busy = await send('GET', '/busy');
  assert.deepEqual([busy.statusCode, busy.headers['retry-after']], [429, '7']);
  const status = (await busy.body.json()) as Record<string, unknown>;
  assert.deepEqual([status['kind'], status['reason'], status['message']], ['Status', 'TooManyRequests', 'busy']);
  assert.equal(await textOf(send('GET', '/busy')), 'GET /busy');
  for (const path of ['/gone/1', '/gone/2']) {
    const { statusCode, headers, body } = await send('GET', path);
    const expected = [404, 'text/plain; charset=utf-8', 'page\n'];
    assert.deepEqual([statusCode, headers['content-type'], await body.text()], expected);
    assert.equal(await textOf(send('GET', path)), `GET ${path}`);
  }
  const seen = upstream.requests.map(({ path }) => path).filter((path) => path.startsWith('/gone'));
  assert.deepEqual(seen, ['/gone/1', '/gone/2']);
});

test('a rule is limited to methods and to a part of the body, and ends after its duration', async () => {
  const fault = { kind: 'answer', code: 503, form: 'plain' } as const;
  const matched = proxy.inject({ methods: ['PATCH'], path: /^\/chosen/, body: /NoExecute/, fault });
  const brief = proxy.inject({ path: /^\/brief/, forMs: 0, fault });
  assert.equal((await send('PATCH', '/chosen', 'NoSchedule')).statusCode, 200);
  assert.equal((await send('PUT', '/chosen', 'NoExecute')).statusCode, 200);
  assert.equal((await send('PATCH', '/chosen', 'NoExecute')).statusCode, 503);
  assert.equal((await send('GET', '/brief')).statusCode, 200);
  assert.deepEqual([matched.hits, brief.hits], [1, 0]);
  matched.remove();
  assert.equal((await send('PATCH', '/chosen', 'NoExecute')).statusCode, 200);
});

test('a held request reaches the server when the rule is removed; a hanging one never does; a cut one fails', async () => {
  const held = proxy.inject({ path: /^\/held/, fault: { kind: 'hold' } });
  const hung = proxy.inject({ path: /^\/hung/, fault: { kind: 'hang' } });
  proxy.inject({ path: /^\/cut/, fault: { kind: 'cut' } });
  const answer = send('PATCH', '/held');
  const never = send('PATCH', '/hung');
  never.catch(() => undefined);
  assert.deepEqual([await isAnswered(answer), await isAnswered(never)], [false, false]);
  held.remove();
  hung.remove();
  assert.equal(await textOf(answer), 'PATCH /held');
  assert.equal(await isAnswered(never), false);
  await assert.rejects(send('PATCH', '/cut'));
  const seen = upstream.requests.map(({ path }) => path);
  assert.deepEqual([seen.includes('/hung'), seen.includes('/cut')], [false, false]);
});

test('a lost response: the server executes the write and the client gets a broken connection', async () => {
  proxy.inject({ path: /^\/ambiguous/, fault: { kind: 'lose-answer' } });
  await assert.rejects(send('PATCH', '/ambiguous', '{}'));
  assert.ok(upstream.requests.some(({ path }) => path === '/ambiguous'));
  assert.deepEqual([proxy.writes.at(-1)?.upstreamStatus, proxy.writes.at(-1)?.status], [200, undefined]);
});

test('frozen connections stay open without responses to current and new requests; new connections work', async () => {
  let chunk: ((text: string) => void) | undefined;
  upstream.handler = (incoming) => {
    if (!incoming.path.startsWith('/watch')) return incoming.answer(200, 'whole');
    incoming.open();
    chunk = (text) => incoming.chunk(text);
  };
  const single = new Agent({ connect: { ca }, connections: 1, pipelining: 1 });
  const watch = await send('GET', '/watch');
  const received: string[] = [];
  watch.body.on('data', (bytes: Buffer) => received.push(bytes.toString('utf8'))).on('error', () => undefined);
  await request(`${proxy.url}/idle`, { dispatcher: single }).then(({ body }) => body.text());
  chunk?.('before ');
  await until(() => received.join('') === 'before ');
  const forwarded = upstream.requests.length;

  proxy.freezeConnections();
  chunk?.('after');
  const onFrozen = request(`${proxy.url}/frozen`, { dispatcher: single });
  onFrozen.catch(() => undefined);
  assert.equal(await isAnswered(onFrozen), false);
  assert.equal(received.join(''), 'before ');
  assert.equal(upstream.requests.length, forwarded);
  const fresh = new Agent({ connect: { ca } });
  const { body } = await request(`${proxy.url}/fresh`, { dispatcher: fresh });
  assert.equal(await body.text(), 'whole');
  await Promise.all([single.destroy(), fresh.destroy()]);
});

test('one frozen response does not affect the others, and can be cut', async () => {
  const chunks = new Map<string, (text: string) => void>();
  upstream.handler = (incoming) => {
    incoming.open();
    chunks.set(incoming.path, (text) => incoming.chunk(text));
  };
  const received = { '/nodes': '', '/leases': '' };
  let hasEnded = false;
  for (const path of ['/nodes', '/leases'] as const) {
    const { body } = await send('GET', path);
    body.on('data', (bytes: Buffer) => (received[path] += bytes.toString('utf8')));
    body.on('error', () => (hasEnded = true));
  }
  const frozen = proxy.freezeAnswers(/^\/nodes/);
  for (const chunk of chunks.values()) chunk('event');
  await until(() => received['/leases'] === 'event');
  assert.deepEqual([frozen.count, received['/nodes'], hasEnded], [1, '', false]);
  frozen.cut();
  await until(() => hasEnded);
});

test('a delayed response has the same bytes in the same order', async () => {
  let chunk: ((text: string) => void) | undefined;
  upstream.handler = (incoming) => {
    incoming.open();
    chunk = (text) => incoming.chunk(text);
  };
  const { body } = await send('GET', '/lagging');
  let received = '';
  body.on('data', (bytes: Buffer) => (received += bytes.toString('utf8'))).on('error', () => undefined);
  proxy.lagAnswers(/^\/lagging/, 2 * soon);
  const sentAtMs = performance.now();
  for (const text of ['a', 'b', 'c']) chunk?.(text);
  await until(() => received === 'abc');
  assert.ok(performance.now() - sentAtMs >= 2 * soon - 5);
});
