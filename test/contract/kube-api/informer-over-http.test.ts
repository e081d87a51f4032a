import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { plainConnection } from '../../support/plain-connection.ts';
import type { HttpKubeApi } from '../../../src/machinery/kube-client/kube-api.ts';
import { SystemClock } from '../../../src/machinery/adapters/system-clock.ts';
import { type Node, type NodeView, transformNode } from '../../../src/machinery/api/node.ts';
import type { Change } from '../../../src/machinery/informer/informer.ts';
import { SharedInformer } from '../../../src/machinery/informer/shared-informer.ts';
import { waitForCacheSync } from '../../../src/machinery/informer/wait-for-cache-sync.ts';
import { makeKubeApi } from '../../support/make-kube-api.ts';
import { RecordingLogger, RecordingMeter } from '../../support/fakes.ts';
import { type RawRequest, RawHttpServer } from '../../support/raw-http-server.ts';
import { until } from '../../support/until.ts';

const line = (type: string, object: unknown): string => `${JSON.stringify({ type, object })}\n`;
const node = (name: string, resourceVersion: string): Node => ({
  metadata: { name, uid: `uid-${name}`, resourceVersion },
});
const initialEnd = (resourceVersion: string): string =>
  line('BOOKMARK', { metadata: { resourceVersion, annotations: { 'k8s.io/initial-events-end': 'true' } } });

describe('an informer over sockets', () => {
  const clock = new SystemClock();
  let server: RawHttpServer;
  let api: HttpKubeApi;
  let informer: SharedInformer<Node, NodeView>;
  let meter: RecordingMeter;
  let stop: AbortController;
  let running: Promise<void>;
  let changes: Change<NodeView>[];

  beforeEach(async () => {
    server = new RawHttpServer();
    await server.start();
    meter = new RecordingMeter();
    stop = new AbortController();
    changes = [];
    const logger = new RecordingLogger();
    api = makeKubeApi(plainConnection(server.url), { clock, logger, meter, requestTimeoutMs: 500 });
    informer = new SharedInformer({
      resource: 'nodes',
      transform: transformNode,
      identity: (view: NodeView) => view,
      // The minimum delay each time: the test checks that the informer recovers, not how long it waits.
      api,
      clock,
      random: { next: () => 0 },
      logger,
      meter,
      quietMsMax: 600,
    });
    informer.onChange('test', (change) => changes.push(change));
  });

  afterEach(async () => {
    stop.abort();
    await running;
    await api.close();
    await server.stop();
  });

  /** A read of the version of the storage, beside a watch that continues from a version. */
  const isVersionCheck = ({ url }: RawRequest): boolean => url.searchParams.get('limit') === '1';

  function answerVersion(request: RawRequest): void {
    request.answer(200, { kind: 'NodeList', metadata: { resourceVersion: '1000' }, items: [] });
  }

  /** Serves a complete state at version 10 and then the scripted events of each further watch. */
  function serve(...watches: readonly ((request: RawRequest) => void)[]): void {
    const left = [...watches];
    server.handler = (request) => {
      if (isVersionCheck(request)) return answerVersion(request);
      if (request.url.searchParams.get('sendInitialEvents') === 'true') {
        request.open();
        request.chunk(line('ADDED', node('n1', '5')) + initialEnd('10'));
      }
      left.shift()?.(request);
    };
    running = informer.run(stop.signal);
  }

  const synced = async (): Promise<void> => {
    assert.deepEqual(await waitForCacheSync([informer], { clock, signal: stop.signal, timeoutMs: 5_000 }), []);
  };
  const versionsAsked = (): readonly (string | null)[] =>
    server.requests
      .filter((request) => !isVersionCheck(request))
      .map(({ url }) => url.searchParams.get('resourceVersion'));
  const named =
    (name: string): (() => boolean) =>
    () =>
      informer.store.get(name) !== undefined;

  test('syncs and follows changes', async () => {
    serve((request) => request.chunk(line('ADDED', node('n2', '11'))));
    await synced();
    await until(named('n2'));
    const seen = changes.map(({ kind, key }) => `${kind} ${key}`);
    assert.deepEqual(seen, ['added n1', 'added n2']);
  });

  test('a reset, then a cut in the middle of a line: resumes without a relist', async () => {
    serve(
      (request) => {
        request.chunk(line('ADDED', node('n2', '11')));
        setTimeout(() => request.socket.resetAndDestroy(), 20);
      },
      (request) => {
        request.open();
        request.chunk(line('ADDED', node('n3', '12')) + line('ADDED', node('ghost', '13')).slice(0, 20));
        request.end();
      },
      (request) => {
        request.open();
        request.chunk(line('ADDED', node('n4', '14')));
      },
    );
    await until(named('n4'));
    assert.deepEqual([...informer.store.keys()], ['n1', 'n2', 'n3', 'n4']);
    assert.deepEqual(versionsAsked(), [null, '11', '12']);
    assert.equal(meter.series.get('reflector_lists_total{resource="nodes"}'), 1);
  });

  test('a dead open connection is detected and replaced', async () => {
    serve(
      () => undefined, // Nothing comes after the initial state, and nothing says so.
      (request) => {
        request.open();
        request.chunk(line('ADDED', node('n2', '11')));
      },
    );
    await synced();
    const sinceMs = clock.monotonicMs();
    await until(named('n2'));
    assert.ok(clock.monotonicMs() - sinceMs < 2_500);
    assert.deepEqual(versionsAsked(), [null, '10']);
    assert.ok(server.connections >= 2, 'on another connection');
    assert.equal(meter.series.get('reflector_relists_total{resource="nodes",cause="expired"}'), undefined);
  });

  test('a server that accepts connections and never responds: the watch is not open; retries, and recovers', async () => {
    serve(
      () => undefined,
      () => undefined,
      (request) => request.open(),
    );
    await synced();
    // The second watch gets no response headers: it times out, and a third one is opened.
    await until(() => versionsAsked().length >= 2);
    const states = new Set<string>();
    await until(() => versionsAsked().length >= 3 || (states.add(informer.status().state), false));
    assert.deepEqual([...states], ['opening', 'backing-off']);
    await until(() => informer.status().state === 'watching');
    assert.equal(informer.hasSynced(), true);
  });

  test('connection refused: retries, and resumes', async () => {
    serve((request) => {
      request.chunk(line('BOOKMARK', { metadata: { resourceVersion: '20' } }));
      setTimeout(() => request.end(), 1_100);
    });
    await synced();
    await until(() => informer.status().resourceVersion === '20');
    const { port } = server;
    await server.stop();
    await until(() => informer.status().state === 'backing-off');
    await until(() => informer.status().consecutiveFailures >= 2);
    server = new RawHttpServer();
    await server.start(port);
    server.handler = (request) => {
      if (isVersionCheck(request)) return answerVersion(request);
      request.open();
      request.chunk(line('ADDED', node('n2', '21')));
    };
    await until(named('n2'));
    assert.deepEqual(versionsAsked(), ['20']);
  });

  test('a line that is not JSON: relists', async () => {
    serve((request) => request.chunk('{"type":"ADDED","object":{"metad}\n'));
    await until(() => (meter.series.get('reflector_lists_total{resource="nodes"}') ?? 0) >= 2);
    assert.equal(meter.series.get('reflector_relists_total{resource="nodes",cause="undecodable"}'), 1);
    assert.equal(changes.length, 1, 'no duplicate notification');
  });

  test('without streaming lists: pages', async () => {
    server.handler = (request) => {
      const { searchParams } = request.url;
      if (searchParams.get('sendInitialEvents') === 'true') request.answer(422, { kind: 'Status', reason: 'Invalid' });
      else if (searchParams.get('watch') === 'true') request.open();
      else if (searchParams.get('continue') === null) {
        request.answer(200, { metadata: { resourceVersion: '10', continue: 'next' }, items: [node('n1', '5')] });
      } else request.answer(200, { metadata: { resourceVersion: '10' }, items: [node('n2', '6')] });
    };
    running = informer.run(stop.signal);
    await synced();
    assert.deepEqual([...informer.store.keys()], ['n1', 'n2']);
    await until(() => server.requests.length === 4);
    assert.equal(server.requests[3]?.url.searchParams.get('resourceVersion'), '10');
  });

  test('stops at once and leaves no connection', async () => {
    serve();
    await synced();
    stop.abort();
    await running;
    assert.equal(informer.status().state, 'stopped');
    await api.close();
    await until(() => server.sockets.size === 0);
  });
});
