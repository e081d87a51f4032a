// Tokens, CAs and client certificates change on disk while a watch is open and requests are sent.
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import type { HttpKubeApi } from '../../../src/machinery/kube-client/kube-api.ts';
import { loadConnection } from '../../../src/machinery/kubeconfig/connection.ts';
import { ApiError } from '../../../src/machinery/api/api-error.ts';
import type { KubeObject } from '../../../src/machinery/api/meta.ts';
import {
  makeServingCertificate,
  type ServingCertificate,
} from '../../../src/machinery/page-server/serving-certificate.ts';
import { failureOf } from '../../support/failure-of.ts';
import { makeKubeApi } from '../../support/make-kube-api.ts';
import { ManualClock, settled } from '../../support/manual-clock.ts';
import { RecordingLogger } from '../../support/fakes.ts';
import { type RawRequest, RawHttpServer } from '../../support/raw-http-server.ts';
import { until } from '../../support/until.ts';

const checkMs = 300_000;
const node: KubeObject = { metadata: { name: 'n1' } };

describe('rotated credentials', () => {
  let certificates: readonly ServingCertificate[];
  let folder: string;
  let server: RawHttpServer;
  let clock: ManualClock;
  let api: HttpKubeApi;
  let logger: RecordingLogger;
  /** Every opened watch, in order: its events, and how it ended. */
  let watches: { readonly request: RawRequest; readonly names: string[]; ended: string | undefined }[];
  /** Whether the server accepts a request. */
  let accepts: (request: RawRequest) => boolean;

  before(async () => {
    certificates = await Promise.all([makeServingCertificate(), makeServingCertificate(), makeServingCertificate()]);
  });
  after(() => {
    certificates = [];
  });

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'nlc-rotation-'));
    clock = new ManualClock();
    logger = new RecordingLogger();
    watches = [];
    accepts = () => true;
    const { certPem, keyPem } = certificate(0);
    server = new RawHttpServer({ cert: certPem, key: keyPem, requestCert: true, rejectUnauthorized: false });
    server.handler = (request) => {
      if (!accepts(request)) request.answer(401, { kind: 'Status', reason: 'Unauthorized', code: 401 });
      else if (request.url.searchParams.get('watch') === 'true') request.open();
      else request.answer(200, node);
    };
    await server.start();
  });
  afterEach(async () => {
    await api.close();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const certificate = (index: number): ServingCertificate => certificates[index] ?? assert.fail('no such certificate');
  const file = (name: string): string => join(folder, name);
  const write = (name: string, text: string): void => writeFileSync(file(name), text);

  async function connect(user: object): Promise<void> {
    const config = {
      'current-context': 'c',
      clusters: [{ name: 'c', cluster: { server: server.url, 'certificate-authority': 'ca.pem' } }],
      users: [{ name: 'c', user }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'c' } }],
    };
    write('config', JSON.stringify(config));
    const connection = await loadConnection({ kubeconfig: file('config'), clock, logger });
    api = makeKubeApi(connection, { clock, logger });
  }

  const signal = new AbortController().signal;
  const get = (): Promise<unknown> => api.get('nodes', { name: 'n1' }, { signal });
  const patch = (): Promise<unknown> => api.patch('nodes', { name: 'n1' }, { type: 'merge', body: {} }, { signal });
  const reasonOf = async (call: Promise<unknown>): Promise<string> => (await failureOf(call, ApiError)).reason;

  /** Opens a watch and reads it in the background. */
  async function follow(): Promise<(typeof watches)[number]> {
    const stream = await api.watch('nodes', { signal });
    const request = server.requests.at(-1) ?? assert.fail('no watch arrived');
    const watch = { request, names: [] as string[], ended: undefined as string | undefined };
    watches.push(watch);
    const read = async (): Promise<void> => {
      for await (const batch of stream) watch.names.push(...batch.map(({ object }) => nameOf(object)));
    };
    void read().then(
      () => (watch.ended = 'by the server'),
      (error: unknown) => (watch.ended = error instanceof ApiError ? error.reason : String(error)),
    );
    return watch;
  }

  async function brings(watch: (typeof watches)[number], name: string): Promise<void> {
    watch.request.chunk(`${JSON.stringify({ type: 'ADDED', object: { metadata: { name } } })}\n`);
    await until(() => watch.names.at(-1) === name);
  }

  function nameOf(object: object): string {
    return 'metadata' in object ? ((object as KubeObject).metadata.name ?? '') : '';
  }

  const tokens = (): readonly (string | undefined)[] =>
    server.requests.map(({ headers }) => headers['authorization']?.replace('Bearer ', ''));

  describe('a token file', () => {
    beforeEach(async () => {
      write('ca.pem', certificate(0).caPem);
      write('token', 'old\n');
      await connect({ tokenFile: 'token' });
      accepts = ({ headers }) => headers['authorization'] === `Bearer ${readFileSync(file('token'), 'utf8').trim()}`;
    });

    test('changes: calls use the new token within a minute, and the watch continues', async () => {
      const watch = await follow();
      await get();
      accepts = () => true;
      write('token', 'new\n');
      await clock.advance(50_000);
      await get();
      await patch();
      assert.deepEqual(tokens(), ['old', 'old', 'new', 'new']);
      await brings(watch, 'n2');
      assert.equal(watch.ended, undefined);
    });

    test('changes and the old token is rejected: a read is retried with the new one, at once and once', async () => {
      await get();
      write('token', 'new\n');
      await get();
      assert.deepEqual(tokens(), ['old', 'old', 'new']);
      accepts = () => false;
      assert.equal(await reasonOf(get()), 'unauthorized');
      assert.equal(server.requests.length, 5);
    });

    test('changes and the old token is rejected: a watch is opened again with the new one', async () => {
      write('token', 'new\n');
      const watch = await follow();
      assert.deepEqual(tokens(), ['old', 'new']);
      await brings(watch, 'n2');
    });

    test('changes and the old token is rejected: a write is not retried, the next one succeeds', async () => {
      write('token', 'new\n');
      assert.equal(await reasonOf(patch()), 'unauthorized');
      await patch();
      assert.deepEqual(tokens(), ['old', 'new']);
    });

    test('is deleted: the last token stays in use', async () => {
      accepts = () => true;
      rmSync(file('token'));
      await clock.advance(120_000);
      await get();
      assert.deepEqual(tokens(), ['old']);
      assert.equal(logger.at('warn').length, 1);
    });
  });

  describe('a CA', () => {
    beforeEach(async () => {
      write('ca.pem', certificate(0).caPem);
      await connect({ token: 'secret' });
    });

    test('is replaced, with the server certificate: calls and the open watch continue', async () => {
      const watch = await follow();
      await get();
      write('ca.pem', certificate(1).caPem);
      server.present({ cert: certificate(1).certPem, key: certificate(1).keyPem });
      await clock.advance(checkMs);
      const before = server.connections;
      await get();
      assert.equal(server.connections, before + 1, 'on a new connection');
      await brings(watch, 'n2');
      const another = await follow();
      await brings(another, 'n3');
      assert.equal(watch.ended, undefined);
    });

    test('is replaced and the server restarts: only the first call fails certificate verification', async () => {
      const watch = await follow();
      await get();
      write('ca.pem', certificate(1).caPem);
      server.present({ cert: certificate(1).certPem, key: certificate(1).keyPem });
      server.reset();
      await until(() => watch.ended !== undefined);
      assert.equal(watch.ended, 'unavailable');
      // The broken connection has already caused a reload of the files.
      await Promise.allSettled([get()]);
      await get();
      await brings(await follow(), 'n2');
    });

    for (const [what, text] of [
      ['empty', ''],
      ['half written', '-----BEGIN CERTIFICATE-----\nMIIB'],
      ['no certificate', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'],
    ] as const) {
      test(`becomes ${what}: the old CA stays in use, and it is logged once`, async () => {
        await get();
        const before = server.connections;
        write('ca.pem', text);
        for (let rounds = 0; rounds < 3; rounds += 1) {
          await clock.advance(checkMs);
          await get();
          await settled();
        }
        assert.equal(logger.at('warn').length, 1);
        server.reset();
        await until(() => server.sockets.size === 0);
        await get();
        assert.ok(server.connections > before, 'on a new connection, verified with the old CA');
      });
    }
  });

  describe('the client certificate', () => {
    /** Index of the client certificate of the request. */
    const shown = ({ socket }: RawRequest): number => {
      const peer = (socket as TLSSocket).getPeerCertificate(false);
      return certificates.findIndex(
        ({ certPem }) => new X509Certificate(certPem).fingerprint256 === peer.fingerprint256,
      );
    };
    let certificatesShown: number[];

    function own(index: number): void {
      write('cert.pem', certificate(index).certPem);
      write('key.pem', certificate(index).keyPem);
    }

    beforeEach(async () => {
      write('ca.pem', certificate(0).caPem);
      own(1);
      certificatesShown = [];
      const usual = server.handler;
      server.handler = (request) => {
        certificatesShown.push(shown(request));
        usual(request);
      };
      await connect({ 'client-certificate': 'cert.pem', 'client-key': 'key.pem' });
    });

    test('changes: every connection is replaced, including that of the watch', async () => {
      const watch = await follow();
      await get();
      own(2);
      await clock.advance(checkMs);
      await get();
      assert.deepEqual(certificatesShown, [1, 1, 2]);
      await until(() => watch.ended !== undefined);
      assert.equal(watch.ended, 'unavailable');
      await follow();
      assert.equal(certificatesShown.at(-1), 2);
    });

    test('changes while a call is in flight: the call succeeds', async () => {
      let answer = (): void => assert.fail('no request yet');
      const usual = server.handler;
      server.handler = (request) => {
        if (request.method !== 'PATCH') return usual(request);
        certificatesShown.push(shown(request));
        answer = () => request.answer(200, node);
      };
      const slow = patch();
      await until(() => server.requests.length === 1);
      own(2);
      await clock.advance(checkMs);
      await get();
      answer();
      await slow;
      assert.deepEqual(certificatesShown, [1, 2]);
    });

    test('is no longer accepted: a read is retried with the new one', async () => {
      accepts = (request) => shown(request) === 2;
      own(2);
      await get();
      assert.deepEqual(certificatesShown, [1, 2]);
    });

    test('is written before its key: the old pair stays until both are written', async () => {
      write('cert.pem', certificate(2).certPem);
      await clock.advance(checkMs);
      await get();
      write('key.pem', certificate(2).keyPem);
      await clock.advance(checkMs);
      await get();
      assert.deepEqual(certificatesShown, [1, 2]);
    });
  });

  describe('a credential plugin', () => {
    const runs = (): number => readFileSync(file('runs'), 'utf8').length;
    /** Prints the token in a file, valid for a minute of the test's clock. */
    const script = `
      const fs = require('node:fs');
      fs.appendFileSync('@RUNS@', 'x');
      console.log(JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential',
        status: JSON.parse(fs.readFileSync('@STATUS@')) }));`;

    beforeEach(async () => {
      write('ca.pem', certificate(0).caPem);
      write('runs', '');
      hand('first', 60_000);
      const text = script.replace('@RUNS@', file('runs')).replace('@STATUS@', file('status'));
      const version = { apiVersion: 'client.authentication.k8s.io/v1', interactiveMode: 'Never' };
      await connect({ exec: { ...version, command: process.execPath, args: ['-e', text] } });
    });

    function hand(token: string, goodForMs: number): void {
      const expirationTimestamp = new Date(clock.nowMs() + goodForMs).toISOString();
      write('status', JSON.stringify({ token, expirationTimestamp }));
    }

    test('runs again once, ten seconds before its credential expires, and no request waits for it', async () => {
      await get();
      await clock.advance(49_999);
      await get();
      assert.equal(runs(), 1);
      hand('second', 120_000);
      await clock.advance(1);
      await Promise.all([get(), get(), get()]);
      assert.deepEqual(tokens(), Array(5).fill('first'));
      await until(() => runs() === 2);
      await clock.advance(10_000);
      await get();
      assert.equal(tokens().at(-1), 'second');
      assert.equal(runs(), 2);
    });

    test('runs once for all waiting requests, when its credential has expired', async () => {
      await get();
      hand('second', 120_000);
      await clock.advance(60_000);
      await Promise.all([get(), get(), get()]);
      assert.equal(runs(), 2);
      assert.deepEqual(tokens(), ['first', 'second', 'second', 'second']);
    });

    test('runs again when the server rejects its credential', async () => {
      accepts = ({ headers }) => headers['authorization'] === 'Bearer second';
      hand('second', 60_000);
      await get();
      assert.deepEqual(tokens(), ['first', 'second']);
      assert.equal(runs(), 2);
    });

    test('a server that rejects every token causes one more process, and then one after a backoff', async () => {
      accepts = () => false;
      for (let requests = 0; requests < 5; requests += 1) assert.equal(await reasonOf(get()), 'unauthorized');
      assert.equal(runs(), 2);
      await clock.advance(1_000);
      for (let requests = 0; requests < 5; requests += 1) assert.equal(await reasonOf(get()), 'unauthorized');
      assert.equal(runs(), 3);
    });

    test('fails while its credential is valid: calls continue', async () => {
      await clock.advance(50_000);
      write('status', 'nonsense');
      await get();
      await until(() => logger.lines.some(({ message }) => message === 'credential plugin failed'));
      await get();
      assert.deepEqual(tokens(), ['first', 'first']);
      assert.equal(runs(), 2, 'not again at once');
    });

    test('fails after its credential has expired: calls are not sent, and it runs again after a backoff', async () => {
      await clock.advance(60_000);
      write('status', 'nonsense');
      for (let requests = 0; requests < 5; requests += 1) assert.equal(await reasonOf(get()), 'unavailable');
      assert.equal(server.requests.length, 0);
      assert.equal(runs(), 2);
      hand('third', 60_000);
      await clock.advance(1_000);
      await get();
      assert.deepEqual(tokens(), ['third']);
    });
  });
});
