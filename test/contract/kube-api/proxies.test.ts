import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { ConnectionError } from '../../../src/machinery/kubeconfig/connection-error.ts';
import type { HttpKubeApi } from '../../../src/machinery/kube-client/kube-api.ts';
import { loadConnection } from '../../../src/machinery/kubeconfig/connection.ts';
import { ApiError } from '../../../src/machinery/api/api-error.ts';
import {
  makeServingCertificate,
  type ServingCertificate,
} from '../../../src/machinery/page-server/serving-certificate.ts';
import { ConnectProxy } from '../../support/connect-proxy.ts';
import { failureOf } from '../../support/failure-of.ts';
import { makeKubeApi } from '../../support/make-kube-api.ts';
import { RawHttpServer } from '../../support/raw-http-server.ts';

const variables = ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY', 'https_proxy', 'http_proxy', 'no_proxy'] as const;
const untouched = new Map(variables.map((name) => [name, process.env[name]]));

// No name here resolves except through the proxy: a request that succeeds has used it.
describe('through a proxy', () => {
  let certificate: ServingCertificate;
  let server: RawHttpServer;
  let proxy: ConnectProxy;
  let folder: string;
  let api: HttpKubeApi | undefined;

  before(async () => {
    certificate = await makeServingCertificate({ hosts: ['api.invalid', 'inner.invalid', '0.0.0.0'] });
  });
  beforeEach(async () => {
    for (const name of variables) delete process.env[name];
    folder = mkdtempSync(join(tmpdir(), 'nlc-proxies-'));
    await serve({ cert: certificate.certPem, key: certificate.keyPem });
  });
  afterEach(async () => {
    await api?.close();
    await proxy.stop();
    await server.stop();
    rmSync(folder, { recursive: true });
  });
  after(() => {
    for (const [name, value] of untouched) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });

  async function serve(tls?: { cert: string; key: string }): Promise<void> {
    server = new RawHttpServer(tls);
    server.handler = (request) => {
      if (request.url.searchParams.get('watch') !== 'true') return request.answer(200, { metadata: { name: 'n1' } });
      request.open();
      request.chunk(`${JSON.stringify({ type: 'ADDED', object: { metadata: { name: 'n1' } } })}\n`);
    };
    await server.start();
    proxy = await ConnectProxy.start(server.port);
  }

  async function connect(cluster: Readonly<Record<string, unknown>> = {}): Promise<HttpKubeApi> {
    const ca = { 'certificate-authority-data': Buffer.from(certificate.caPem).toString('base64') };
    const config = {
      'current-context': 'c',
      clusters: [{ name: 'c', cluster: { server: 'https://api.invalid:6443', ...ca, ...cluster } }],
      users: [{ name: 'c', user: { token: 'secret' } }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'c' } }],
    };
    writeFileSync(join(folder, 'config'), JSON.stringify(config));
    api = makeKubeApi(await loadConnection({ kubeconfig: join(folder, 'config') }), { requestTimeoutMs: 5_000 });
    return api;
  }

  const signal = new AbortController().signal;
  const get = (from: HttpKubeApi): Promise<unknown> => from.get('nodes', { name: 'n1' }, { signal });
  const refusal = (call: Promise<unknown>): Promise<ApiError> => failureOf(call, ApiError);

  test('of the environment: calls and watches, each through a tunnel', async () => {
    process.env['HTTPS_PROXY'] = proxy.address;
    const through = await connect();
    await get(through);
    await get(through);
    for await (const batch of await through.watch('nodes', { signal })) {
      assert.equal(batch.length, 1);
      break;
    }
    const tunnel = 'CONNECT api.invalid:6443 HTTP/1.1';
    assert.deepEqual(proxy.asked.slice(0, 1), [tunnel]);
    assert.ok(proxy.asked.every((line) => line === tunnel));
    assert.ok(proxy.asked.length <= 3, 'calls share tunnels');
    assert.equal(server.requests[0]?.headers['authorization'], 'Bearer secret');
  });

  test('of the kubeconfig, which takes precedence, with its user name and password', async () => {
    process.env['HTTPS_PROXY'] = 'http://nowhere.invalid:1';
    process.env['NO_PROXY'] = '*';
    await get(await connect({ 'proxy-url': `http://me:pa%20ss@${proxy.address}` }));
    const basic = Buffer.from('me:pa ss').toString('base64');
    assert.deepEqual(proxy.asked, [`CONNECT api.invalid:6443 HTTP/1.1 | proxy-authorization: Basic ${basic}`]);
  });

  test('tls-server-name is used for SNI and verified at the end of the tunnel', async () => {
    process.env['HTTPS_PROXY'] = proxy.address;
    await get(await connect({ 'tls-server-name': 'inner.invalid' }));
    const [request] = server.requests;
    assert.ok(request !== undefined);
    assert.equal((request.socket as TLSSocket).servername, 'inner.invalid');
    await api?.close();
    assert.equal((await refusal(get(await connect({ 'tls-server-name': 'else.invalid' })))).reason, 'unavailable');
  });

  test('the server certificate is verified at the end of the tunnel, and a write that failed there was never sent', async () => {
    process.env['HTTPS_PROXY'] = proxy.address;
    const other = Buffer.from((await makeServingCertificate()).caPem).toString('base64');
    const strange = await connect({ 'certificate-authority-data': other });
    const patch = strange.patch('nodes', { name: 'n1' }, { type: 'merge', body: {} }, { signal });
    assert.equal((await refusal(patch)).reason, 'unavailable');
    assert.equal(server.requests.length, 0);
  });

  test('that rejects the request, or is not reachable: nothing was sent', async () => {
    process.env['HTTPS_PROXY'] = proxy.address;
    proxy.status = 403;
    const refused = await connect();
    const patch = (to: HttpKubeApi): Promise<unknown> =>
      to.patch('nodes', { name: 'n1' }, { type: 'merge', body: {} }, { signal });
    assert.equal((await refusal(patch(refused))).reason, 'unavailable');
    await refused.close();
    const gone = await ConnectProxy.start(1);
    process.env['HTTPS_PROXY'] = gone.address;
    await gone.stop();
    assert.equal((await refusal(patch(await connect()))).reason, 'unavailable');
    assert.equal(server.requests.length, 0);
  });

  test('no proxy for hosts in NO_PROXY, nor for loopback addresses', async () => {
    process.env['HTTPS_PROXY'] = proxy.address;
    // Loopback by an unusual address.
    const itself = `https://0.0.0.0:${server.port}`;
    process.env['NO_PROXY'] = `.other.invalid,0.0.0.0/30`;
    await get(await connect({ server: itself }));
    await api?.close();
    await get(await connect({ server: server.url }));
    await api?.close();
    assert.deepEqual(proxy.asked, []);
    process.env['NO_PROXY'] = `0.0.0.0:${server.port + 1}`;
    await get(await connect({ server: itself }));
    assert.equal(proxy.asked.length, 1);
  });

  test('a plain http server is reached through the proxy without a tunnel', async () => {
    await proxy.stop();
    await server.stop();
    await serve();
    process.env['HTTP_PROXY'] = proxy.address;
    await get(await connect({ server: 'http://api.invalid:8080' }));
    assert.deepEqual(proxy.asked, ['GET http://api.invalid:8080/api/v1/nodes/n1 HTTP/1.1']);
  });

  test('the error for an invalid proxy variable names the variable', async () => {
    process.env['https_proxy'] = 'ftp://proxy.invalid';
    await assert.rejects(connect(), (error: unknown) => {
      assert.ok(error instanceof ConnectionError);
      assert.deepEqual([error.file, error.field], ['(environment)', 'https_proxy']);
      return true;
    });
  });
});
