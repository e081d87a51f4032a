import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { plainConnection } from '../../../src/adapters/http-connection.ts';
import type { HttpKubeApi, HttpKubeApiOptions } from '../../../src/adapters/http-kube-api.ts';
import { ApiError, type ApiReason } from '../../../src/api/api-error.ts';
import type { KubeObject } from '../../../src/api/meta.ts';
import type { WatchEvent } from '../../../src/ports/kube-reader.ts';
import { makeKubeApi } from '../../support/make-kube-api.ts';
import { KeepingMeter } from '../../support/quiet.ts';
import { type RawHandler, RawHttpServer } from '../../support/raw-http-server.ts';

const node = (name: string, resourceVersion = '1'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, resourceVersion },
});
const line = (type: string, object: unknown): string => `${JSON.stringify({ type, object })}\n`;

async function failure(call: Promise<unknown>): Promise<ApiError> {
  const error: unknown = await call.then(
    () => assert.fail('the call should have failed'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof ApiError, String(error));
  return error;
}

async function collect(stream: AsyncIterable<readonly WatchEvent[]>): Promise<readonly WatchEvent[]> {
  const events: WatchEvent[] = [];
  for await (const batch of stream) events.push(...batch);
  return events;
}

describe('the API over HTTP', () => {
  const server = new RawHttpServer();
  const meter = new KeepingMeter();
  let api: HttpKubeApi;
  let give: AbortController;

  function anApi(options: Partial<HttpKubeApiOptions> = {}): HttpKubeApi {
    return makeKubeApi(plainConnection(server.url, { token: 'secret' }), { meter, ...options });
  }

  function script(handler: RawHandler): void {
    server.requests.length = 0;
    server.handler = handler;
  }

  const signal = (): AbortSignal => give.signal;
  const getNode = (): Promise<KubeObject> => api.get('nodes', { name: 'n1' }, { signal: signal() });
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
    await api.close();
    assert.equal(await drained(), true, 'no connection is left');
  });

  /** The server hears of a closed socket a moment later. */
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
      assert.deepEqual(got, { ...node('n1'), unknown: { field: 1 } }, 'what we do not know survives');
      assert.equal(last().path, '/api/v1/nodes/n1?resourceVersion=0');
      assert.equal(last().headers['authorization'], 'Bearer secret');
      assert.equal(last().headers['accept'], 'application/json');
      assert.equal(last().headers['user-agent'], 'nlc/test');
    });

    test('list, as client-go writes it', async () => {
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

    test('watch, as client-go writes it', async () => {
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

    test('patch, in each of its forms', async () => {
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

    test('what has no name or namespace is refused before it is sent', async () => {
      script((request) => request.answer(200, node('n1')));
      assert.equal((await failure(api.get('pods', { name: 'p' }, { signal: signal() }))).reason, 'bad-request');
      assert.equal((await failure(api.get('nodes', { name: '' }, { signal: signal() }))).reason, 'bad-request');
      assert.equal((await failure(api.replace('nodes', { metadata: {} }, { signal: signal() }))).reason, 'bad-request');
      assert.equal(server.requests.length, 0);
    });

    test('a server below a path keeps it', async () => {
      script((request) => request.answer(200, node('n1')));
      const below = anApi({ connection: plainConnection(`${server.url}/k8s/clusters/c1/`) });
      await below.get('nodes', { name: 'n1' }, { signal: signal() });
      assert.equal(last().path, '/k8s/clusters/c1/api/v1/nodes/n1');
      await below.close();
    });

    test('one after another share connections, many at once a bounded number', async () => {
      script((request) => request.answer(200, node('n1')));
      const before = server.connections;
      for (let calls = 0; calls < 20; calls += 1) await getNode();
      // A connection is free again a moment after its answer: the next call may be faster.
      assert.ok(server.connections - before <= 2, `${server.connections - before} connections`);
      await Promise.all(Array.from({ length: 200 }, getNode));
      assert.ok(server.connections - before <= 32, `${server.connections - before} connections`);
    });

    test('are counted and timed', async () => {
      script((request) => request.answer(200, node('n1')));
      await getNode();
      const host = new URL(server.url).host;
      assert.equal(meter.series.get(`rest_client_requests_total{code="200",method="GET",host="${host}"}`), 1);
      assert.ok((meter.series.get(`rest_client_request_duration_seconds{verb="GET",host="${host}"}`) ?? -1) >= 0);
    });
  });

  describe('failures', () => {
    const refusals: readonly (readonly [number, unknown, ApiReason])[] = [
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
    for (const [code, body, reason] of refusals) {
      test(`${code} ${JSON.stringify(body).slice(0, 40)} is "${reason}", once`, async () => {
        script((request) => request.answer(code, body));
        const error = await failure(getNode());
        assert.equal(error.reason, reason);
        assert.equal(error.code, code);
        assert.equal(error.retryAfterMs, undefined);
        assert.equal(server.requests.length, 1, 'nothing is repeated unless the server says when');
      });
    }

    test('409 to a POST means that the name is taken', async () => {
      script((request) => request.answer(409, 'no Status'));
      assert.equal((await failure(api.create('nodes', node('n1'), { signal: signal() }))).reason, 'already-exists');
    });

    test('Retry-After is waited for, reads and writes alike', async () => {
      for (const [call, code] of [
        [getNode, 429],
        [patchNode, 503],
      ] as const) {
        script((request) => {
          if (server.requests.length === 1) request.answer(code, 'later', { 'retry-after': '1' });
          else request.answer(200, node('n1'));
        });
        await call();
        const [first, second] = server.requests;
        assert.ok((second?.atMs ?? 0) - (first?.atMs ?? 0) >= 990);
        assert.equal(first?.body, second?.body);
      }
    });

    test('after ten repeats it is enough', async () => {
      script((request) => request.answer(429, 'later', { 'retry-after': '0' }));
      const error = await failure(getNode());
      assert.equal(error.reason, 'too-many-requests');
      assert.equal(error.retryAfterMs, 0);
      assert.equal(server.requests.length, 11);
    });

    test('no repeats where the caller wants none', async () => {
      script((request) => request.answer(429, 'later', { 'retry-after': '0' }));
      const once = anApi({ retriesMax: 0 });
      await failure(once.get('nodes', { name: 'n1' }, { signal: signal() }));
      assert.equal(server.requests.length, 1);
      await once.close();
    });

    test('a wait for Retry-After ends with the signal', async () => {
      script((request) => request.answer(429, 'later', { 'retry-after': '60' }));
      const call = failure(getNode());
      setTimeout(() => give.abort(), 50);
      assert.equal((await call).reason, 'aborted');
      assert.equal(server.requests.length, 1);
    });

    test('nobody listens: a read and a write are unavailable, at once', async () => {
      const nobody = new RawHttpServer();
      await nobody.start();
      const connection = plainConnection(nobody.url);
      await nobody.stop();
      const gone = anApi({ connection });
      for (const call of [
        gone.get('nodes', { name: 'n1' }, { signal: signal() }),
        gone.create('nodes', node('n1'), { signal: signal() }),
      ]) {
        const error = await failure(call);
        assert.equal(error.reason, 'unavailable');
        assert.equal(error.code, 0);
      }
      await gone.close();
    });

    test('a read that loses its connection is repeated after a second', async () => {
      script((request) => {
        if (server.requests.length === 1) request.socket.resetAndDestroy();
        else request.answer(200, node('n1'));
      });
      await getNode();
      assert.equal(server.requests.length, 2);
      assert.ok((server.requests[1]?.atMs ?? 0) - (server.requests[0]?.atMs ?? 0) >= 990);
    });

    test('a write that loses its connection is not: nobody knows what became of it', async () => {
      script((request) => request.socket.resetAndDestroy());
      const error = await failure(patchNode());
      assert.equal(error.reason, 'timeout');
      assert.equal(server.requests.length, 1);
    });

    test('an answer that breaks off: a read is unavailable, a write unknown', async () => {
      script((request) => {
        request.socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{"metadata":');
        request.socket.end();
      });
      const once = anApi({ retriesMax: 0 });
      assert.equal((await failure(once.get('nodes', { name: 'n1' }, { signal: signal() }))).reason, 'unavailable');
      assert.equal((await failure(once.create('nodes', node('n1'), { signal: signal() }))).reason, 'timeout');
      await once.close();
    });

    test('a server that accepts and says nothing: the deadline', async () => {
      script(() => undefined);
      const hasty = anApi({ requestTimeoutMs: 200 });
      const sinceMs = performance.now();
      assert.equal((await failure(hasty.get('nodes', { name: 'n1' }, { signal: signal() }))).reason, 'timeout');
      assert.ok(performance.now() - sinceMs < 1_500);
      assert.equal(server.requests.length, 1);
      await hasty.close();
    });

    test('a server that drips its answer byte by byte: the deadline too', async () => {
      let dripping: NodeJS.Timeout | undefined;
      script((request) => {
        request.open();
        dripping = setInterval(() => request.chunk(' '), 20);
      });
      const hasty = anApi({ requestTimeoutMs: 300 });
      assert.equal((await failure(hasty.get('nodes', { name: 'n1' }, { signal: signal() }))).reason, 'timeout');
      clearInterval(dripping);
      await hasty.close();
    });

    test('a queue of calls behind silent ones: their deadlines too', async () => {
      script(() => undefined);
      const hasty = anApi({ requestTimeoutMs: 300 });
      const calls = Array.from({ length: 40 }, () => hasty.get('nodes', { name: 'n1' }, { signal: signal() }));
      for (const call of await Promise.all(calls.map(failure))) assert.equal(call.reason, 'timeout');
      await hasty.close();
    });

    test('the caller gives up', async () => {
      script(() => give.abort());
      assert.equal((await failure(getNode())).reason, 'aborted');
      assert.equal((await failure(getNode())).reason, 'aborted', 'before it began');
    });

    test('an answer that is too large is refused', async () => {
      script((request) => request.answer(200, { metadata: {}, items: [node('x'.repeat(5_000))] }));
      const small = anApi({ bodyBytesMax: 1_000 });
      assert.equal((await failure(small.list('nodes', { signal: signal() }))).reason, 'too-large');
      await small.close();
    });

    test('an answer that is not what was asked for', async () => {
      for (const body of ['', 'ok', '[]', '{"items":[]}', '{"metadata":{},"items":{}}']) {
        script((request) => request.answer(200, body));
        assert.equal((await failure(api.list('nodes', { signal: signal() }))).reason, 'internal', body);
      }
    });

    test('close ends what is under way', async () => {
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

    test('brings events in the order and the batches in which they came', async () => {
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

    test('puts together what was cut anywhere, inside a character too, and leaves odd line separators alone', async () => {
      const bytes = Buffer.from(line('ADDED', node('nö\u2028d✓e😀')) + line('DELETED', node('n2')));
      script((request) => {
        request.open();
        for (const byte of bytes) request.chunk(Buffer.from([byte]));
        request.end();
      });
      const events = await collect(await watch());
      assert.deepEqual(
        events.map(({ type, object }) => [type, (object as KubeObject).metadata.name]),
        [
          ['ADDED', 'nö\u2028d✓e😀'],
          ['DELETED', 'n2'],
        ],
      );
    });

    test('reads lines of megabytes', async () => {
      const long = 'x'.repeat(3_000_000);
      script((request) => {
        request.open();
        request.chunk(line('ADDED', node(long)));
        request.end();
      });
      const [event] = await collect(await watch());
      assert.ok(event?.type === 'ADDED');
      assert.equal(event.object.metadata.name, long);
    });

    test('half a line at the end is a lost connection, never an event', async () => {
      script((request) => {
        request.open();
        request.chunk(line('ADDED', node('n1')) + line('ADDED', node('n2')).slice(0, -10));
        request.end();
      });
      const seen: string[] = [];
      const error = await failure(
        (async () => {
          for await (const batch of await watch()) seen.push(...batch.map(({ type }) => type));
        })(),
      );
      assert.equal(error.reason, 'unavailable');
      assert.deepEqual(seen, ['ADDED']);
    });

    test('a whole line that parses but for its newline is not believed either', async () => {
      script((request) => {
        request.open();
        request.chunk(line('DELETED', node('n1')).trimEnd());
        request.end();
      });
      assert.equal((await failure(collect(await watch()))).reason, 'unavailable');
    });

    test('a line that is no JSON, or no event, is an internal error', async () => {
      for (const broken of ['{"type":\n', '42\n', '{"type":"ADDED"}\n', 'null\n']) {
        script((request) => {
          request.open();
          request.chunk(broken);
        });
        assert.equal((await failure(collect(await watch()))).reason, 'internal', broken);
      }
    });

    test('a reset in the middle is a lost connection', async () => {
      script((request) => {
        request.open();
        request.chunk(line('ADDED', node('n1')));
        setTimeout(() => request.socket.resetAndDestroy(), 30);
      });
      assert.equal((await failure(collect(await watch()))).reason, 'unavailable');
    });

    test('is refused with the reason, once, and says when to come back', async () => {
      script((request) => request.answer(429, 'later', { 'retry-after': '7' }));
      const error = await failure(watch());
      assert.equal(error.reason, 'too-many-requests');
      assert.equal(error.retryAfterMs, 7_000);
      assert.equal(server.requests.length, 1);
    });

    test('headers that do not come: the deadline', async () => {
      script(() => undefined);
      const hasty = anApi({ requestTimeoutMs: 200 });
      assert.equal((await failure(hasty.watch('nodes', { signal: signal() }))).reason, 'timeout');
      await hasty.close();
    });

    test('outlives the deadline of calls once its headers are there', async () => {
      script((request) => {
        request.open();
        setTimeout(() => {
          request.chunk(line('ADDED', node('n1')));
          request.end();
        }, 600);
      });
      const hasty = anApi({ requestTimeoutMs: 200 });
      assert.equal((await collect(await hasty.watch('nodes', { signal: signal() }))).length, 1);
      await hasty.close();
    });

    test('silence beyond its limit is a lost connection', async () => {
      script((request) => request.open());
      const strict = anApi({ watchQuietMsMax: 300 });
      assert.equal((await failure(collect(await strict.watch('nodes', { signal: signal() })))).reason, 'unavailable');
      await strict.close();
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

    test('that nobody reads breaks without an uncaught error', async () => {
      script((request) => {
        request.open();
        setTimeout(() => request.socket.resetAndDestroy(), 20);
      });
      await watch();
      await new Promise((resolve) => setTimeout(resolve, 100));
      give.abort();
    });

    test('that is left early lets its connection go', async () => {
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

    test('slows the server down when the reader is slow', async () => {
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

    test('does not stand before calls, nor calls before it', async () => {
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
      await limited.close();
    });
  });

  describe('the client side limit', () => {
    test('lets a burst through and then its rate', async () => {
      script((request) => request.answer(200, node('n1')));
      const limited = anApi({ qps: 10, burst: 5 });
      const sinceMs = performance.now();
      const call = (): Promise<unknown> => limited.get('nodes', { name: 'n1' }, { signal: signal() });
      await Promise.all(Array.from({ length: 5 }, call));
      const burstMs = performance.now() - sinceMs;
      await Promise.all(Array.from({ length: 10 }, call));
      const wholeMs = performance.now() - sinceMs;
      assert.ok(burstMs < 500, `the burst took ${burstMs} ms`);
      assert.ok(wholeMs >= 700 && wholeMs < 2_500, `ten more at 10/s took ${wholeMs} ms`);
      await limited.close();
    });

    test('a wait for it ends with the signal', async () => {
      script((request) => request.answer(200, node('n1')));
      const limited = anApi({ qps: 0.1, burst: 1 });
      await limited.get('nodes', { name: 'n1' }, { signal: signal() });
      const waiting = failure(limited.get('nodes', { name: 'n1' }, { signal: signal() }));
      setTimeout(() => give.abort(), 30);
      assert.equal((await waiting).reason, 'aborted');
      await limited.close();
    });

    test('close lets go of those who wait', async () => {
      script((request) => request.answer(200, node('n1')));
      const limited = anApi({ qps: 0.1, burst: 1 });
      await limited.get('nodes', { name: 'n1' }, { signal: signal() });
      const waiting = failure(limited.get('nodes', { name: 'n1' }, { signal: signal() }));
      await limited.close();
      assert.equal((await waiting).reason, 'aborted');
    });
  });

  test('a write is not sent, nor sent again, when the right to write has ended meanwhile', async () => {
    let leading = true;
    api = anApi({ mayWrite: () => leading });
    script((request) => {
      leading = false;
      request.answer(503, 'later', { 'retry-after': '0' });
    });
    const patch = api.patch('nodes', { name: 'n1' }, { type: 'merge', body: {} }, { signal: signal() });
    assert.equal((await failure(patch)).reason, 'aborted');
    assert.equal(server.requests.length, 1);
    assert.equal(
      (await failure(api.delete('pods', { namespace: 'd', name: 'p' }, { uid: 'u', signal: signal() }))).reason,
      'aborted',
    );
    assert.equal(server.requests.length, 1);
  });
});
