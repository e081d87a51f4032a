/** The API of the kubelets of a fleet, over HTTPS: the address of a connection selects the node. */
import assert from 'node:assert/strict';
import { request } from 'node:https';
import { after, test } from 'node:test';
import { KubeletServer } from '../../../src/cli/hollow-nodes/kubelet-server.ts';
import { TestAuthority } from '../../support/certificates.ts';
import { RecordingLogger } from '../../support/fakes.ts';
import { FleetWorld } from '../../support/fleet-world.ts';

const authority = await TestAuthority.make();
const foreign = await (await TestAuthority.make('another')).sign({ subject: 'CN=kube-apiserver' });
const client = await authority.sign({ subject: 'CN=kube-apiserver' });
const world = new FleetWorld({ nodes: 3 });
await world.advance(10);
// The addresses of nodes do not lead here; two of loopback stand in for those of the first two.
const addresses = new Map([
  ['127.0.0.1', '10.64.0.0'],
  ['127.0.0.2', '10.64.0.1'],
]);
const { fleet } = world;
const server = await KubeletServer.start({
  fleet: {
    kubeletAt: (address) => fleet.kubeletAt(addresses.get(address) ?? address),
    isConnected: (name) => fleet.isConnected(name),
  },
  clientCa: authority.cert,
  port: 0,
  logger: new RecordingLogger(),
});
after(async () => {
  await server[Symbol.asyncDispose]();
  await world.end();
});

interface Answer {
  readonly code: number | undefined;
  readonly body: string;
}

interface Ask {
  readonly host?: string;
  readonly path?: string;
  readonly method?: string;
  readonly as?: { readonly cert: string; readonly key: string } | undefined;
}

function ask({ host = '127.0.0.1', path = '/pods', method = 'GET', ...given }: Ask): Promise<Answer> {
  const options = {
    host,
    port: server.port,
    path,
    method,
    rejectUnauthorized: false,
    agent: false,
    ...('as' in given ? given.as : client),
  };
  return new Promise((resolve, reject) => {
    const sent = request(options, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (part: string) => (body += part));
      response.once('end', () => resolve({ code: response.statusCode, body }));
    });
    sent.once('error', reject);
    sent.end();
  });
}

test('the address of the connection selects the node, whose pods are served', async () => {
  await world.bind('web', 'n1');
  await world.bind('db', 'n2');
  await world.advance(5);
  for (const [host, name] of [
    ['127.0.0.1', 'web'],
    ['127.0.0.2', 'db'],
  ] as const) {
    const { code, body } = await ask({ host });
    const { kind, apiVersion, items } = JSON.parse(body);
    assert.deepEqual([code, kind, apiVersion, items.length], [200, 'PodList', 'v1', 1]);
    assert.deepEqual([items[0].metadata.name, items[0].status.phase], [name, 'Running']);
  }
});

test('there is nothing to write, and nothing but pods and health', async () => {
  assert.deepEqual(await ask({ path: '/healthz' }), { code: 200, body: 'ok' });
  assert.deepEqual(await ask({ path: '/pods?a=b', method: 'HEAD' }), { code: 200, body: '' });
  assert.equal((await ask({ path: '/exec' })).code, 404);
  assert.equal((await ask({ method: 'POST' })).code, 405);
});

test('another address is that of no node', async () => {
  assert.deepEqual(await ask({ host: '127.0.0.3' }), { code: 404, body: 'no node has the address 127.0.0.3\n' });
});

test('clients need a certificate of the CA', async () => {
  const denied = { code: 401, body: 'Unauthorized\n' };
  assert.deepEqual(await ask({ as: undefined }), denied);
  assert.deepEqual(await ask({ as: foreign }), denied);
  assert.deepEqual(await ask({ path: '/healthz', as: undefined }), denied);
});

test('a node that is cut off does not answer', async () => {
  fleet.cutOff(['n1']);
  await assert.rejects(ask({}), { code: 'ECONNRESET' });
  assert.equal((await ask({ host: '127.0.0.2' })).code, 200);
  fleet.reconnect(['n1']);
  assert.equal((await ask({})).code, 200);
});
