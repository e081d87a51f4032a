import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, mock, test } from 'node:test';
import { plainConnection } from '../../support/plain-connection.ts';
import type { HttpKubeApi, HttpKubeApiOptions } from '../../../src/machinery/kube-client/kube-api.ts';
import { ApiError, type ApiReason } from '../../../src/machinery/api/api-error.ts';
import type { KubeObject } from '../../../src/machinery/api/meta.ts';
import type { WatchEvent } from '../../../src/machinery/ports/kube-reader.ts';
import { failureOf } from '../../support/failure-of.ts';
import { makeKubeApi } from '../../support/make-kube-api.ts';
import { RecordingMeter } from '../../support/fakes.ts';
import { type RawHandler, RawHttpServer } from '../../support/raw-http-server.ts';

const node = (name: string, resourceVersion = '1'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, resourceVersion },
});
const line = (type: string, object: unknown): string => `${JSON.stringify({ type, object })}\n`;

const failure = (call: Promise<unknown>): Promise<ApiError> => failureOf(call, ApiError);

/** The reason of a failed call, its Retry-After in milliseconds, and its status code. */
async function failed(call: Promise<unknown>): Promise<readonly [ApiReason, number | undefined, number]> {
  const { reason, retryAfterMs, code } = await failure(call);
  return [reason, retryAfterMs, code];
}

async function collect(stream: AsyncIterable<readonly WatchEvent[]>): Promise<readonly WatchEvent[]> {
  const events: WatchEvent[] = [];
  for await (const batch of stream) events.push(...batch);
  return events;
}

describe('the API over HTTP', () => {
  const server = new RawHttpServer();
  const meter = new RecordingMeter();
  let api: HttpKubeApi;
  /** All of a test; closed at its end. */
  const apis: HttpKubeApi[] = [];
  let give: AbortController;

  function anApi(options: Partial<HttpKubeApiOptions> = {}): HttpKubeApi {
    const made = makeKubeApi(plainConnection(server.url, { token: 'secret' }), { meter, ...options });
    apis.push(made);
    return made;
  }

  function script(handler: RawHandler): void {
    server.requests.length = 0;
    server.handler = handler;
  }

  /** Responds with one chunk, and ends the response. */
  function scriptStream(chunk: string): void {
    script((request) => {
      request.open();
      request.chunk(chunk);
      request.end();
    });
  }

  const signal = (): AbortSignal => give.signal;
  const getNode = (): Promise<KubeObject> => api.get('nodes', { name: 'n1' }, { signal: signal() });
  const listNodes = (): Promise<unknown> => api.list('nodes', { signal: signal() });
  const patchNode = (): Promise<KubeObject> =>
    api.patch('nodes', { name: 'n1' }, { type: 'merge', body: {} }, { signal: signal() });
  const last = (): (typeof server.requests)[number] => server.requests.at(-1) ?? assert.fail('no request arrived');

  before(() => server.start());
  after(() => server.stop());
  beforeEach(() => {
    give = new AbortController();
    meter.series.clear();
    api = anApi();
  });
  afterEach(async () => {
    await Promise.all(apis.splice(0).map((made) => made.close()));
    assert.equal(await drained(), true, 'no connection is left');
  });

  /** The server notices a closed socket shortly afterwards. */
  async function drained(): Promise<boolean> {
    for (let tries = 0; tries < 100 && server.sockets.size > 0; tries += 1) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return server.sockets.size === 0;
  }

  describe('requests', () => {
    test('get', async () => {
      script((request) => request.answer(200, { ...node('n1'), unknown: { field: 1 } }));
      const got = await api.get('nodes', { name: 'n1' }, { resourceVersion: '0', signal: signal() });
      assert.deepEqual(got, { ...node('n1'), unknown: { field: 1 } }, 'unknown fields are preserved');
      assert.equal(last().path, '/api/v1/nodes/n1?resourceVersion=0');
      assert.equal(last().headers['authorization'], 'Bearer secret');
      assert.deepEqual([last().headers['accept'], last().headers['user-agent']], ['application/json', 'nlc/test']);
    });

    test('list, as in client-go', async () => {
      script((request) => request.answer(200, { metadata: { resourceVersion: '9', continue: 'c' }, items: null }));
      const selection = { namespace: 'kube-node-lease', labelSelector: 'a=b', fieldSelector: 'spec.nodeName=n 1' };
      const page = await api.list('leases', { ...selection, limit: 500, continue: 'x/y', signal: signal() });
      assert.deepEqual(page, { metadata: { resourceVersion: '9', continue: 'c' }, items: [] });
      assert.equal(
        last().path,
        '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases' +
          '?continue=x%2Fy&fieldSelector=spec.nodeName%3Dn+1&labelSelector=a%3Db&limit=500',
      );
    });

    test('watch, as in client-go', async () => {
      script((request) => {
        request.open();
        request.end();
      });
      const stream = await api.watch('daemonsets', {
        allowWatchBookmarks: true,
        resourceVersionMatch: 'NotOlderThan',
        sendInitialEvents: true,
        timeoutSeconds: 449,
        signal: signal(),
      });
      assert.deepEqual(await collect(stream), []);
      assert.equal(
        last().path,
        '/apis/apps/v1/daemonsets?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan' +
          '&sendInitialEvents=true&timeout=7m29s&timeoutSeconds=449&watch=true',
      );
    });

    test('create', async () => {
      script((request) => request.answer(201, node('n1')));
      await api.create('nodes', { metadata: { name: 'n1' } }, { signal: signal() });
      assert.equal(`${last().method} ${last().path}`, 'POST /api/v1/nodes?fieldManager=nlc');
      assert.equal(last().headers['content-type'], 'application/json');
      assert.deepEqual(JSON.parse(last().body), { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } });
    });

    test('replace of a status', async () => {
      script((request) => request.answer(200, node('p')));
      const pod = { metadata: { namespace: 'ns', name: 'p', resourceVersion: '7' } };
      await api.replace('pods', pod, { signal: signal(), subresource: 'status' });
      assert.equal(`${last().method} ${last().path}`, 'PUT /api/v1/namespaces/ns/pods/p/status?fieldManager=nlc');
    });

    test('patch, of each type', async () => {
      script((request) => request.answer(200, node('n1')));
      const types = {
        'strategic-merge': 'application/strategic-merge-patch+json',
        merge: 'application/merge-patch+json',
        json: 'application/json-patch+json',
      } as const;
      for (const type of ['strategic-merge', 'merge', 'json'] as const) {
        await api.patch('nodes', { name: 'n1' }, { type, body: [{ op: 'x' }] }, { signal: signal() });
        assert.equal(last().headers['content-type'], types[type]);
        assert.equal(`${last().method} ${last().path}`, 'PATCH /api/v1/nodes/n1?fieldManager=nlc');
        assert.equal(last().body, '[{"op":"x"}]');
      }
    });

    test('delete: every option in the body, none in the query', async () => {
      script((request) => request.answer(200, { kind: 'Status', status: 'Success' }));
      const name = { namespace: 'ns', name: 'p' };
      await api.delete('pods', name, { uid: 'u1', resourceVersion: '5', gracePeriodSeconds: 0, signal: signal() });
      assert.equal(`${last().method} ${last().path}`, 'DELETE /api/v1/namespaces/ns/pods/p');
      assert.deepEqual(JSON.parse(last().body), {
        kind: 'DeleteOptions',
        apiVersion: 'v1',
        gracePeriodSeconds: 0,
        preconditions: { uid: 'u1', resourceVersion: '5' },
      });
      await api.delete('pods', name, { uid: 'u1', signal: signal() });
      assert.deepEqual(JSON.parse(last().body), {
        kind: 'DeleteOptions',
        apiVersion: 'v1',
        preconditions: { uid: 'u1' },
      });
    });

    test('evict: a POST of a policy/v1 Eviction with the uid as a precondition', async () => {
      script((request) => request.answer(201, { kind: 'Status', metadata: {}, status: 'Success' }));
      await api.evict({ namespace: 'ns', name: 'p' }, { uid: 'u1', signal: signal() });
      assert.equal(`${last().method} ${last().path}`, 'POST /api/v1/namespaces/ns/pods/p/eviction?fieldManager=nlc');
      assert.equal(last().headers['content-type'], 'application/json');
      assert.deepEqual(JSON.parse(last().body), {
        kind: 'Eviction',
        apiVersion: 'policy/v1',
        metadata: { namespace: 'ns', name: 'p' },
        deleteOptions: { preconditions: { uid: 'u1' } },
      });
    });

    test('a request without a name or namespace is rejected before it is sent', async () => {
      script((request) => request.answer(200, node('n1')));
      assert.equal((await failure(api.get('pods', { name: 'p' }, { signal: signal() }))).reason, 'bad-request');
      assert.equal((await failure(api.get('nodes', { name: '' }, { signal: signal() }))).reason, 'bad-request');
      assert.equal((await failure(api.replace('nodes', { metadata: {} }, { signal: signal() }))).reason, 'bad-request');
      assert.equal(server.requests.length, 0);
    });

    test('the path of the server URL is kept', async () => {
      script((request) => request.answer(200, node('n1')));
      api = anApi({ connection: plainConnection(`${server.url}/k8s/clusters/c1/`) });
      await getNode();
      assert.equal(last().path, '/k8s/clusters/c1/api/v1/nodes/n1');
    });

    test('sequential requests share connections, concurrent ones use a bounded number', async () => {
      script((request) => request.answer(200, node('n1')));
      const before = server.connections;
      for (let calls = 0; calls < 20; calls += 1) await getNode();
      // A connection becomes idle shortly after its response: the next call may be faster.
      assert.ok(server.connections - before <= 2, `${server.connections - before} connections`);
      await Promise.all(Array.from({ length: 200 }, getNode));
      assert.ok(server.connections - before <= 32, `${server.connections - before} connections`);
    });

    test('are counted and measured', async () => {
      script((request) => request.answer(200, node('n1')));
      await getNode();
      const host = new URL(server.url).host;
      assert.equal(meter.series.get(`rest_client_requests_total{code="200",method="GET",host="${host}"}`), 1);
      assert.ok((meter.series.get(`rest_client_request_duration_seconds{verb="GET",host="${host}"}`) ?? -1) >= 0);
    });
  });

  describe('failures', () => {
    const errorResponses: readonly (readonly [number, unknown, ApiReason])[] = [
      [404, { kind: 'Status', reason: 'NotFound', message: 'nodes "n1" not found', code: 404 }, 'not-found'],
      [409, { kind: 'Status', reason: 'Conflict', code: 409 }, 'conflict'],
      [410, { kind: 'Status', reason: 'Expired', code: 410 }, 'expired'],
      [422, { kind: 'Status', reason: 'Invalid', code: 422 }, 'invalid'],
      [403, 'forbidden by a proxy', 'forbidden'],
      [429, 'Too many requests, please try again later.', 'too-many-requests'],
      [502, '<html>bad gateway</html>', 'unavailable'],
      [500, '{ this is no JSON', 'internal'],
      [
        504,
        { kind: 'Status', reason: 'Timeout', details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } },
        'too-large-resource-version',
      ],
    ];
    for (const [code, body, reason] of errorResponses) {
      test(`${code} ${JSON.stringify(body).slice(0, 40)} is "${reason}", once`, async () => {
        script((request) => request.answer(code, body));
        assert.deepEqual(await failed(getNode()), [reason, undefined, code]);
        assert.equal(server.requests.length, 1, 'no retry without Retry-After');
      });
    }

    test('409 to a POST means that the object already exists', async () => {
      script((request) => request.answer(409, 'no Status'));
      assert.equal((await failure(api.create('nodes', node('n1'), { signal: signal() }))).reason, 'already-exists');
    });

    test('a list waits for Retry-After and is retried', async () => {
      script((request) => {
        if (server.requests.length === 1) request.answer(429, 'later', { 'retry-after': '1' });
        else request.answer(200, { metadata: {}, items: [] });
      });
      await listNodes();
      const [first, second] = server.requests;
      assert.ok((second?.atMs ?? 0) - (first?.atMs ?? 0) >= 990);
    });

    test('a list whose caller decides at once does not wait for Retry-After', async () => {
      script((request) => request.answer(429, 'later', { 'retry-after': '1' }));
      const refused = await failed(api.list('nodes', { limit: 1, waitMsMax: 0, signal: signal() }));
      assert.deepEqual(refused, ['too-many-requests', 1_000, 429]);
      assert.equal(server.requests.length, 1);
      assert.doesNotMatch(String(server.requests[0]?.url), /wait/i);
    });

    test('a read of one object never waits: Retry-After rejects it at once', async () => {
      script((request) => request.answer(429, 'later', { 'retry-after': '1' }));
      assert.deepEqual(await failed(getNode()), ['too-many-requests', 1_000, 429]);
      assert.equal(server.requests.length, 1);
    });

    test('a write is never retried: Retry-After rejects it at once, with the delay', async () => {
      script((request) => request.answer(429, 'later', { 'retry-after': '60' }));
      const sinceMs = performance.now();
      const writes = [
        patchNode(),
        api.create('nodes', node('n1'), { signal: signal() }),
        api.replace('nodes', node('n1'), { signal: signal() }),
        api.delete('pods', { namespace: 'd', name: 'p' }, { uid: 'u', signal: signal() }),
        api.evict({ namespace: 'd', name: 'p' }, { uid: 'u', signal: signal() }),
      ];
      for (const error of await Promise.all(writes.map(failed)))
        assert.deepEqual(error, ['too-many-requests', 60_000, 429]);
      assert.ok(performance.now() - sinceMs < 2_000);
      assert.equal(server.requests.length, 5);
    });

    test('a write that is rejected without a header carries the delay of its Status', async () => {
      const details = { retryAfterSeconds: 7 };
      script((request) => request.answer(503, { kind: 'Status', reason: 'ServiceUnavailable', details }));
      assert.equal((await failure(patchNode())).retryAfterMs, 7_000);
      assert.equal(server.requests.length, 1);
    });

    test('a list is retried at most ten times', async () => {
      script((request) => request.answer(429, 'later', { 'retry-after': '0' }));
      assert.deepEqual(await failed(listNodes()), ['too-many-requests', 0, 429]);
      assert.equal(server.requests.length, 11);
    });

    test('a list waits less than a minute in all, then the error carries the delay', async () => {
      script((request) => request.answer(429, 'later', { 'retry-after': '60' }));
      assert.deepEqual(await failed(listNodes()), ['too-many-requests', 60_000, 429]);
      assert.equal(server.requests.length, 1);
    });

    test('no retries if the caller disables them', async () => {
      script((request) => request.answer(429, 'later', { 'retry-after': '0' }));
      api = anApi({ retriesMax: 0 });
      await failure(listNodes());
      assert.equal(server.requests.length, 1);
    });

    test('a wait for Retry-After ends with the signal', async () => {
      script((request) => request.answer(429, 'later', { 'retry-after': '30' }));
      const call = failure(listNodes());
      setTimeout(() => give.abort(), 50);
      assert.equal((await call).reason, 'aborted');
      assert.equal(server.requests.length, 1);
    });

    test('connection refused: a read and a write are unavailable, at once', async () => {
      const stopped = new RawHttpServer();
      await stopped.start();
      const connection = plainConnection(stopped.url);
      await stopped.stop();
      const gone = anApi({ connection });
      for (const call of [
        gone.get('nodes', { name: 'n1' }, { signal: signal() }),
        gone.create('nodes', node('n1'), { signal: signal() }),
      ]) {
        assert.deepEqual(await failed(call), ['unavailable', undefined, 0]);
      }
    });

    test('a read of one object that loses its connection is retried at once, and once', async () => {
      script((request) => request.socket.resetAndDestroy());
      const sinceMs = performance.now();
      assert.equal((await failure(getNode())).reason, 'unavailable');
      assert.ok(performance.now() - sinceMs < 900);
      assert.equal(server.requests.length, 2);
    });

    test('a list that loses its connection is retried after a second', async () => {
      script((request) => {
        if (server.requests.length === 1) request.socket.resetAndDestroy();
        else request.answer(200, { metadata: {}, items: [] });
      });
      await listNodes();
      assert.equal(server.requests.length, 2);
      assert.ok((server.requests[1]?.atMs ?? 0) - (server.requests[0]?.atMs ?? 0) >= 990);
    });

    test('a write that loses its connection is not retried: its outcome is unknown', async () => {
      script((request) => request.socket.resetAndDestroy());
      assert.equal((await failure(patchNode())).reason, 'timeout');
      assert.equal(server.requests.length, 1);
    });

    test('an interrupted response: a read is unavailable, the outcome of a write is unknown', async () => {
      script((request) => {
        request.socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{"metadata":');
        request.socket.end();
      });
      const once = anApi({ retriesMax: 0 });
      assert.equal((await failure(once.get('nodes', { name: 'n1' }, { signal: signal() }))).reason, 'unavailable');
      assert.equal((await failure(once.create('nodes', node('n1'), { signal: signal() }))).reason, 'timeout');
    });

    test('a server that accepts and does not respond: timeout', async () => {
      script(() => undefined);
      api = anApi({ requestTimeoutMs: 200 });
      const sinceMs = performance.now();
      assert.equal((await failure(getNode())).reason, 'timeout');
      assert.ok(performance.now() - sinceMs < 1_500);
      assert.equal(server.requests.length, 1);
    });

    test('a server that sends its response byte by byte: timeout', async () => {
      let dripping: NodeJS.Timeout | undefined;
      script((request) => {
        request.open();
        dripping = setInterval(() => request.chunk(' '), 20);
      });
      const hasty = anApi({ requestTimeoutMs: 300 });
      assert.equal((await failure(hasty.get('nodes', { name: 'n1' }, { signal: signal() }))).reason, 'timeout');
      clearInterval(dripping);
    });

    /** Sends this many items, one each 50 ms, then ends the list or stops sending. */
    function dripList(items: number, { ends }: { readonly ends: boolean }): void {
      script((request) => {
        request.open();
        request.chunk('{"kind":"NodeList","metadata":{"resourceVersion":"9"},"items":[');
        let sent = 0;
        const dripping = setInterval(() => {
          sent += 1;
          if (sent > items) {
            clearInterval(dripping);
            if (!ends) return;
            request.chunk(']}');
            request.end();
          } else request.chunk(`${sent === 1 ? '' : ','}${JSON.stringify(node(`n${sent}`))}`);
        }, 50);
        request.socket.on('close', () => clearInterval(dripping));
      });
    }

    const taken: string[] = [];
    const streamList = (hasty: HttpKubeApi): Promise<unknown> => {
      taken.length = 0;
      const each = ({ metadata }: KubeObject): unknown => taken.push(metadata.name ?? '');
      return hasty.list('nodes', { each: (item) => void each(item), signal: signal() });
    };

    test('a streamed list may take longer than a request, while bytes arrive', async () => {
      dripList(15, { ends: true });
      await streamList(anApi({ requestTimeoutMs: 500 }));
      assert.equal(taken.length, 15);
    });

    test('a streamed list without further bytes ends after the request timeout', async () => {
      dripList(3, { ends: false });
      const hasty = anApi({ requestTimeoutMs: 300 });
      const sinceMs = performance.now();
      assert.equal((await failure(streamList(hasty))).reason, 'timeout');
      assert.ok(performance.now() - sinceMs < 1_500);
      assert.ok(taken.length >= 2, `${taken.length} items`);
    });

    test('a streamed list has a maximum duration', async () => {
      dripList(10_000, { ends: false });
      const hasty = anApi({ requestTimeoutMs: 500, streamMsMax: 1_000 });
      assert.equal((await failure(streamList(hasty))).reason, 'timeout');
      assert.ok(taken.length >= 8, `${taken.length} items`);
    });

    test('calls queued behind unanswered ones time out too', async () => {
      script(() => undefined);
      api = anApi({ requestTimeoutMs: 300 });
      const calls = Array.from({ length: 40 }, () => getNode());
      for (const call of await Promise.all(calls.map(failure))) assert.equal(call.reason, 'timeout');
    });

    test('the caller aborts', async () => {
      script(() => give.abort());
      assert.equal((await failure(getNode())).reason, 'aborted');
      assert.equal((await failure(getNode())).reason, 'aborted', 'before it starts');
    });

    test('a response above the size limit is rejected', async () => {
      script((request) => request.answer(200, { metadata: {}, items: [node('x'.repeat(5_000))] }));
      api = anApi({ bodyBytesMax: 1_000 });
      assert.equal((await failure(listNodes())).reason, 'too-large');
    });

    test('a response of another type than requested', async () => {
      for (const body of ['', 'ok', '[]', '{"items":[]}', '{"metadata":{},"items":{}}']) {
        script((request) => request.answer(200, body));
        assert.equal((await failure(api.list('nodes', { signal: signal() }))).reason, 'internal', body);
      }
    });

    test('close ends requests in flight', async () => {
      script(() => undefined);
      const call = failure(getNode());
      await new Promise((resolve) => setTimeout(resolve, 50));
      await api.close();
      assert.equal((await call).reason, 'aborted');
      assert.equal((await failure(getNode())).reason, 'aborted');
    });
  });

  describe('a watch', () => {
    const watch = (options: { timeoutSeconds?: number } = {}): ReturnType<HttpKubeApi['watch']> =>
      api.watch('nodes', { ...options, signal: signal() });

    test('delivers events in the order and the batches in which they arrived', async () => {
      script((request) => {
        request.open();
        request.chunk(line('ADDED', node('n1', '1')) + line('MODIFIED', node('n1', '2')));
        setTimeout(() => {
          request.chunk(line('BOOKMARK', node('', '3')));
          request.end();
        }, 50);
      });
      const batches: number[] = [];
      for await (const batch of await watch()) batches.push(batch.length);
      assert.deepEqual(batches, [2, 1]);
    });

    test('joins chunks that are cut anywhere, inside a character too, and splits only at newline bytes', async () => {
      const bytes = Buffer.from(line('ADDED', node('nö\u2028d✓e😀')) + line('DELETED', node('n2')));
      script((request) => {
        request.open();
        for (const byte of bytes) request.chunk(Buffer.from([byte]));
        request.end();
      });
      const events = await collect(await watch());
      const seen = events.map(({ type, object }) => [type, (object as KubeObject).metadata.name]);
      assert.deepEqual(seen, [
        ['ADDED', 'nö\u2028d✓e😀'],
        ['DELETED', 'n2'],
      ]);
    });

    test('reads lines of megabytes', async () => {
      const long = 'x'.repeat(3_000_000);
      scriptStream(line('ADDED', node(long)));
      const [event] = await collect(await watch());
      assert.ok(event?.type === 'ADDED');
      assert.equal(event.object.metadata.name, long);
    });

    test('a partial line at the end is a lost connection, never an event', async () => {
      scriptStream(line('ADDED', node('n1')) + line('ADDED', node('n2')).slice(0, -10));
      const seen: string[] = [];
      const error = await failure(
        (async () => {
          for await (const batch of await watch()) seen.push(...batch.map(({ type }) => type));
        })(),
      );
      assert.equal(error.reason, 'unavailable');
      assert.deepEqual(seen, ['ADDED']);
    });

    test('a complete line without its newline is not an event either', async () => {
      scriptStream(line('DELETED', node('n1')).trimEnd());
      assert.equal((await failure(collect(await watch()))).reason, 'unavailable');
    });

    test('a line that is not JSON, or not an event, becomes an UNDECODABLE event, and the next one is decoded', async () => {
      for (const broken of ['{"type":\n', '42\n', '{"type":"ADDED"}\n', 'null\n']) {
        scriptStream(broken + line('ADDED', node('n1')));
        const types = (await collect(await watch())).map(({ type }) => type);
        assert.deepEqual(types, ['UNDECODABLE', 'ADDED'], broken);
      }
    });

    test('a connection reset is a lost connection', async () => {
      script((request) => {
        request.open();
        request.chunk(line('ADDED', node('n1')));
        setTimeout(() => request.socket.resetAndDestroy(), 30);
      });
      assert.equal((await failure(collect(await watch()))).reason, 'unavailable');
    });

    test('is rejected with the reason, once, and the error carries Retry-After', async () => {
      script((request) => request.answer(429, 'later', { 'retry-after': '7' }));
      assert.deepEqual(await failed(watch()), ['too-many-requests', 7_000, 429]);
      assert.equal(server.requests.length, 1);
    });

    test('missing response headers: timeout', async () => {
      script(() => undefined);
      const hasty = anApi({ requestTimeoutMs: 200 });
      assert.equal((await failure(hasty.watch('nodes', { signal: signal() }))).reason, 'timeout');
    });

    test('outlives the request timeout after its response headers', async () => {
      script((request) => {
        request.open();
        setTimeout(() => {
          request.chunk(line('ADDED', node('n1')));
          request.end();
        }, 600);
      });
      const hasty = anApi({ requestTimeoutMs: 200 });
      assert.equal((await collect(await hasty.watch('nodes', { signal: signal() }))).length, 1);
    });

    test('no data for longer than the limit is a lost connection', async () => {
      script((request) => request.open());
      const strict = anApi({ watchQuietMsMax: 300 });
      assert.equal((await failure(collect(await strict.watch('nodes', { signal: signal() })))).reason, 'unavailable');
    });

    test('ends with the signal, before the first event and between events', async () => {
      for (const events of ['', line('ADDED', node('n1'))]) {
        give = new AbortController();
        script((request) => {
          request.open();
          if (events !== '') request.chunk(events);
        });
        const reading = failure(collect(await watch()));
        setTimeout(() => give.abort(), 50);
        assert.equal((await reading).reason, 'aborted');
      }
    });

    test('that is not read breaks without an uncaught error', async () => {
      script((request) => {
        request.open();
        setTimeout(() => request.socket.resetAndDestroy(), 20);
      });
      await watch();
      await new Promise((resolve) => setTimeout(resolve, 100));
      give.abort();
    });

    test('with an unsupported Content-Type closes its connection', async () => {
      script((request) => request.open({ 'content-type': 'application/vnd.kubernetes.protobuf;stream=watch' }));
      assert.equal((await failure(api.watch('daemonsets', { signal: signal() }))).reason, 'internal');
      assert.equal(await drained(), true);
    });

    test('that is not read to the end closes its connection', async () => {
      script((request) => {
        request.open();
        request.chunk(line('ADDED', node('n1')));
      });
      for await (const batch of await watch()) {
        assert.equal(batch.length, 1);
        break;
      }
      assert.equal(await drained(), true);
    });

    test('applies backpressure to the server when the reader is slow', async () => {
      const chunk = line('ADDED', node('x'.repeat(100_000)));
      let written = 0;
      script((request) => {
        request.open();
        const more = (): void => {
          while (written < 400 && request.socket.writable) {
            written += 1;
            request.chunk(chunk);
            if (request.socket.writableNeedDrain) {
              request.socket.once('drain', more);
              return;
            }
          }
        };
        more();
      });
      const iterator = (await watch())[Symbol.asyncIterator]();
      await iterator.next();
      await new Promise((resolve) => setTimeout(resolve, 300));
      assert.ok(written < 200, `the server could write ${written} of 400 chunks to a reader that took one batch`);
      await iterator.return?.();
    });

    test('does not delay calls, and is not delayed by calls', async () => {
      const limited = anApi({ qps: 1, burst: 1 });
      script((request) => {
        if (request.url.searchParams.get('watch') === 'true') request.open();
        else request.answer(200, node('n1'));
      });
      await limited.get('nodes', { name: 'n1' }, { signal: signal() });
      const sinceMs = performance.now();
      for (let watches = 0; watches < 5; watches += 1) await limited.watch('nodes', { signal: signal() });
      assert.ok(performance.now() - sinceMs < 500, 'watches are not limited');
      give.abort();
    });
  });

  describe('the client-side rate limit', () => {
    test('allows a burst and then its rate', async () => {
      script((request) => request.answer(200, node('n1')));
      api = anApi({ qps: 10, burst: 5 });
      const sinceMs = performance.now();
      await Promise.all(Array.from({ length: 5 }, getNode));
      const burstMs = performance.now() - sinceMs;
      await Promise.all(Array.from({ length: 10 }, getNode));
      const wholeMs = performance.now() - sinceMs;
      assert.ok(burstMs < 500, `the burst took ${burstMs} ms`);
      assert.ok(wholeMs >= 700 && wholeMs < 2_500, `ten more at 10/s took ${wholeMs} ms`);
    });

    test('continues when the wall clock steps back by a minute', async () => {
      script((request) => request.answer(200, node('n1')));
      const limited = anApi({ qps: 20, burst: 2 });
      const call = (): Promise<unknown> => limited.get('nodes', { name: 'n1' }, { signal: AbortSignal.timeout(5_000) });
      await Promise.all([call(), call(), call()]);
      const now = Date.now.bind(Date);
      mock.method(Date, 'now', () => now() - 60_000);
      const sinceMs = performance.now();
      try {
        await Promise.all(Array.from({ length: 10 }, call));
      } finally {
        mock.restoreAll();
        await limited.close();
      }
      assert.ok(performance.now() - sinceMs < 3_000);
    });

    test('a wait ends with the signal', async () => {
      script((request) => request.answer(200, node('n1')));
      api = anApi({ qps: 0.1, burst: 1 });
      await getNode();
      const waiting = failure(getNode());
      setTimeout(() => give.abort(), 30);
      assert.equal((await waiting).reason, 'aborted');
    });

    test('close rejects waiting requests', async () => {
      script((request) => request.answer(200, node('n1')));
      const limited = anApi({ qps: 0.1, burst: 1 });
      await limited.get('nodes', { name: 'n1' }, { signal: signal() });
      const waiting = failure(limited.get('nodes', { name: 'n1' }, { signal: signal() }));
      await limited.close();
      assert.equal((await waiting).reason, 'aborted');
    });
  });

  test('a write is not sent if mayWrite becomes false during the wait', async () => {
    let leading = true;
    api = anApi({ mayWrite: () => leading });
    script((request) => {
      leading = false;
      request.answer(503, 'later', { 'retry-after': '0' });
    });
    assert.equal((await failure(patchNode())).reason, 'unavailable');
    assert.equal(server.requests.length, 1);
    assert.equal((await failure(patchNode())).reason, 'aborted');
    assert.equal(
      (await failure(api.delete('pods', { namespace: 'd', name: 'p' }, { uid: 'u', signal: signal() }))).reason,
      'aborted',
    );
    assert.equal(server.requests.length, 1);
  });
});
