// The same kubeconfigs, read by this project and by the JavaScript Kubernetes client.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import { loadConnection } from '../../../src/machinery/kubeconfig/connection.ts';

/** The connection settings of a request, as strings. */
type Reading = Readonly<Record<string, string | boolean | undefined>>;

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const printsToken = `console.log(JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential',
  status: { token: process.env.TOKEN } }));`;

interface Case {
  readonly cluster?: object;
  readonly user?: object;
  readonly context?: object;
}

const cases: Readonly<Record<string, Case>> = {
  'a token, a namespace and a CA as data': {
    cluster: { 'certificate-authority-data': base64('CA') },
    user: { token: 'secret' },
    context: { namespace: 'ops' },
  },
  'files with relative paths': {
    cluster: { 'certificate-authority': 'ca', 'tls-server-name': 'inner.example' },
    user: { 'client-certificate': 'cert', 'client-key': 'key' },
  },
  'a client certificate as data': {
    user: { 'client-certificate-data': base64('CERT'), 'client-key-data': base64('KEY') },
  },
  'a user name and a password': { user: { username: 'u', password: 'p' } },
  'insecure-skip-tls-verify': { cluster: { 'insecure-skip-tls-verify': true } },
  'a credential plugin': {
    user: {
      exec: {
        apiVersion: 'client.authentication.k8s.io/v1',
        interactiveMode: 'Never',
        command: process.execPath,
        args: ['-e', printsToken],
        env: [{ name: 'TOKEN', value: 'from-plugin' }],
      },
    },
  },
};

describe('a kubeconfig gives the same settings as in the JavaScript client', () => {
  let folder: string;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'nlc-kubeconfig-parity-'));
    for (const name of ['ca', 'cert', 'key']) writeFileSync(join(folder, name), `${name} from a file`);
  });
  after(() => rmSync(folder, { recursive: true }));

  async function readHere(kubeconfig: string): Promise<Reading> {
    const connection = await loadConnection({ kubeconfig });
    const { tls, server, namespace } = connection;
    const headers = await connection.authorization();
    return { server, namespace, ...tlsTexts(tls), authorization: headers['authorization'] };
  }

  async function readThere(kubeconfig: string): Promise<Reading> {
    const config = new KubeConfig();
    config.loadFromFile(kubeconfig);
    const options: RequestOptions = {};
    await config.applyToHTTPSOptions(options);
    const headers = Object.entries(options.headers ?? {});
    const header = headers.find(([name]) => name.toLowerCase() === 'authorization')?.[1];
    const basic = typeof options.auth === 'string' ? `Basic ${base64(options.auth)}` : undefined;
    const namespace = config.getContextObject(config.getCurrentContext())?.namespace;
    const authorization = header === undefined ? basic : String(header);
    return { server: config.getCurrentCluster()?.server, namespace, ...tlsTexts(options), authorization };
  }

  for (const [what, { cluster, user, context }] of Object.entries(cases))
    test(what, async () => {
      const kubeconfig = join(folder, 'config');
      const document = {
        apiVersion: 'v1',
        kind: 'Config',
        'current-context': 'here',
        clusters: [{ name: 'c', cluster: { server: 'https://api.example:6443', ...cluster } }],
        users: [{ name: 'u', user: user ?? {} }],
        contexts: [{ name: 'here', context: { cluster: 'c', user: 'u', ...context } }],
      };
      writeFileSync(kubeconfig, JSON.stringify(document));
      assert.deepEqual(await readHere(kubeconfig), await readThere(kubeconfig));
    });
});

type TlsParts = Pick<RequestOptions, 'ca' | 'cert' | 'key' | 'servername' | 'rejectUnauthorized'>;

function tlsTexts({ ca, cert, key, servername, rejectUnauthorized }: TlsParts): Reading {
  const texts = Object.entries({ ca, cert, key }).map(([name, pem]) => {
    return [name, Buffer.isBuffer(pem) || typeof pem === 'string' ? String(pem) : undefined] as const;
  });
  return { ...Object.fromEntries(texts), servername: servername ?? undefined, rejectUnauthorized };
}
