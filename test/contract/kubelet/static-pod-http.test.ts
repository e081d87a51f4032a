// The HTTP client of the HTTP source against a real server on loopback.
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, afterEach, before, describe, it } from 'node:test';
import { manifestText } from '../../../src/cli/simulation/hollow-nodes/manifests/manifest-text.ts';
import { manifestBytesMax } from '../../../src/cli/simulation/hollow-nodes/manifests/files.ts';
import { StaticPodUrl, type StaticPodUrlOptions } from '../../../src/cli/simulation/hollow-nodes/manifests/http.ts';
import { SystemClock } from '../../../src/machinery/adapters/system-clock.ts';
import { HttpSource } from '../../../src/hollow-cluster/kubelet/static-pods/http-source.ts';
import { aManifest } from '../../support/manifest-folder.ts';
import { RecordingLogger } from '../../support/fakes.ts';
import { until } from '../../support/until.ts';

describe('manifests behind a URL', () => {
  const { signal } = new AbortController();
  let server: Server;
  let base: string;
  let answer: (request: IncomingMessage, response: ServerResponse) => void;
  const open: StaticPodUrl[] = [];

  before(async () => {
    server = createServer((request, response) => answer(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  afterEach(async () => {
    for (const manifests of open.splice(0)) await manifests.close();
  });

  after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  function theUrl(options: Partial<StaticPodUrlOptions> = {}): StaticPodUrl {
    const manifests = new StaticPodUrl({ url: `${base}/pods`, ...options });
    open.push(manifests);
    return manifests;
  }

  it('are requested with the configured headers', async () => {
    let received: IncomingMessage | undefined;
    answer = (request, response) => {
      received = request;
      response.end('hello');
    };
    const manifests = theUrl({ headers: { 'x-token': 'secret' } });
    assert.deepEqual(await manifests.get(signal), { kind: 'answer', status: 200, text: 'hello' });
    assert.deepEqual([received?.method, received?.url, received?.headers['x-token']], ['GET', '/pods', 'secret']);
  });

  it('are requested with the credentials of the URL, which are not part of the reported URL', async () => {
    let login: string | undefined;
    answer = (request, response) => {
      login = request.headers.authorization;
      response.end('hello');
    };
    const manifests = theUrl({ url: `${base.replace('//', '//me:pass%20word@')}/pods` });
    await manifests.get(signal);
    assert.equal(login, `Basic ${Buffer.from('me:pass word').toString('base64')}`);
    assert.equal(manifests.url, `${base}/pods`);
    assert.throws(() => new StaticPodUrl({ url: 'pods' }), TypeError);
  });

  it('are read through a redirect, but not through an endless one', async () => {
    answer = (request, response) => {
      if (request.url === '/pods') response.writeHead(302, { location: '/there' }).end();
      else response.end(request.url);
    };
    assert.deepEqual(await theUrl().get(signal), { kind: 'answer', status: 200, text: '/there' });
    answer = (_request, response) => response.writeHead(302, { location: '/pods' }).end();
    const endless = await theUrl().get(signal);
    assert.ok(endless.kind === 'failed' || endless.status === 302, JSON.stringify(endless));
  });

  it('are only a status if that is not 200', async () => {
    answer = (_request, response) => response.writeHead(404).end('not here');
    assert.deepEqual(await theUrl().get(signal), { kind: 'answer', status: 404, text: '' });
    answer = (_request, response) => response.writeHead(204).end();
    assert.deepEqual(await theUrl().get(signal), { kind: 'answer', status: 204, text: '' });
  });

  it('are limited to 10 MiB', async () => {
    answer = (_request, response) => response.end('x'.repeat(manifestBytesMax));
    const whole = await theUrl().get(signal);
    assert.equal(whole.kind === 'answer' && whole.text.length, manifestBytesMax);
    answer = (_request, response) => response.end('x'.repeat(manifestBytesMax + 1));
    assert.deepEqual(await theUrl().get(signal), {
      kind: 'failed',
      problem: `the response is larger than ${manifestBytesMax} bytes`,
    });
  });

  it('time out if they are not complete in time, and are cancelled by the signal', async () => {
    answer = () => {};
    assert.deepEqual(await theUrl({ timeoutMs: 100 }).get(signal), {
      kind: 'failed',
      problem: 'no response before the timeout',
    });
    answer = (_request, response) => response.write('half');
    assert.deepEqual(await theUrl({ timeoutMs: 100 }).get(signal), {
      kind: 'failed',
      problem: 'no response before the timeout',
    });
    const life = new AbortController();
    const waiting = theUrl().get(life.signal);
    life.abort();
    assert.equal((await waiting).kind, 'failed');
  });

  it('fail if the server refuses the connection', async () => {
    assert.equal((await theUrl({ url: 'http://127.0.0.1:1/pods' }).get(signal)).kind, 'failed');
  });

  it('an HTTP source sends an empty list for an empty document, and a document once [C16]', async () => {
    let page = '';
    let asked = 0;
    answer = (_request, response) => {
      asked += 1;
      response.end(page);
    };
    const life = new AbortController();
    const sets: string[] = [];
    const logger = new RecordingLogger();
    const clock = new SystemClock();
    const common = { nodeName: 'n1', text: manifestText, clock, logger, checkPeriodMs: 20 };
    const source = new HttpSource({ ...common, manifests: theUrl() });
    const running = source.run(async (pods) => {
      sets.push(pods.map((pod) => pod.metadata.name).join());
    }, life.signal);
    await until(() => sets.length > 0);
    page = aManifest('web');
    await until(() => sets.at(-1) === 'web-n1');
    const askedBefore = asked;
    await until(() => asked >= askedBefore + 3);
    life.abort();
    await running;
    assert.equal(sets.filter((set) => set !== '').length, 1);
    assert.equal(logger.lines[0]?.fields['problem'], 'document is empty');
  });
});
