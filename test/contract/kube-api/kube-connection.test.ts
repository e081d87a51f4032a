import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { inspect } from 'node:util';
import { ConnectionError } from '../../../src/machinery/kubeconfig/connection-error.ts';
import type { Connection } from '../../../src/machinery/kube-client/connection.ts';
import type { HttpKubeApi } from '../../../src/machinery/kube-client/kube-api.ts';
import { type LoadConnectionOptions, loadConnection } from '../../../src/machinery/kubeconfig/connection.ts';
import { ApiError } from '../../../src/machinery/api/api-error.ts';
import {
  makeServingCertificate,
  type ServingCertificate,
} from '../../../src/machinery/page-server/serving-certificate.ts';
import { ManualClock, settled } from '../../support/manual-clock.ts';
import { makeKubeApi } from '../../support/make-kube-api.ts';
import { failureOf } from '../../support/failure-of.ts';
import { RawHttpServer } from '../../support/raw-http-server.ts';

interface Written {
  readonly cluster?: Readonly<Record<string, unknown>>;
  readonly user?: Readonly<Record<string, unknown>>;
  readonly context?: Readonly<Record<string, unknown>>;
}

function kubeconfig({ cluster = {}, user = {}, context = {} }: Written = {}): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'here',
    clusters: [{ name: 'c', cluster: { server: 'https://api.example:6443', ...cluster } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'here', context: { cluster: 'c', user: 'u', ...context } }],
  });
}

const execWith = (over: object): object => ({
  apiVersion: 'client.authentication.k8s.io/v1',
  interactiveMode: 'Never',
  command: process.execPath,
  ...over,
});
/** The `exec` section of a user whose plugin is a Node.js script. */
const pluginOf = (script: string, ...args: string[]): object => execWith({ args: ['-e', script, '--', ...args] });
const printsToken = `console.log(JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential',
  status: { token: 't' } }));`;

const problem = (loading: Promise<unknown>): Promise<ConnectionError> => failureOf(loading, ConnectionError);

const touched = ['HOME', 'KUBECONFIG', 'KUBERNETES_SERVICE_HOST', 'KUBERNETES_SERVICE_PORT'] as const;
const untouched = new Map(touched.map((name) => [name, process.env[name]]));

function restoreEnvironment(): void {
  for (const [name, value] of untouched) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
}

describe('finding the API server', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'nlc-kubeconfig-'));
    for (const name of touched) delete process.env[name];
    process.env['HOME'] = folder;
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
    restoreEnvironment();
  });

  function write(name: string, text: string): string {
    const path = join(folder, name);
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, text);
    return path;
  }

  const load = (written: Written = {}, options: LoadConnectionOptions = {}): Promise<Connection> =>
    loadConnection({ kubeconfig: write('config', kubeconfig(written)), ...options });

  test('a file given by name, with its token, namespace and TLS options', async () => {
    const connection = await load({
      cluster: {
        server: 'https://api.example:6443/',
        'certificate-authority-data': Buffer.from('CA').toString('base64'),
        'tls-server-name': 'inner.example',
        'proxy-url': 'http://proxy.example:3128',
      },
      user: { token: 'abc' },
      context: { namespace: 'ops' },
    });
    assert.deepEqual([connection.server, connection.namespace], ['https://api.example:6443', 'ops']);
    assert.equal(connection.proxyUrl, 'http://proxy.example:3128');
    assert.equal(String(connection.tls.ca), 'CA');
    assert.deepEqual([connection.tls.servername, connection.tls.rejectUnauthorized], ['inner.example', undefined]);
    assert.deepEqual(await connection.authorization(), { authorization: 'Bearer abc' });
  });

  test('insecure-skip-tls-verify, and a plain http server without it', async () => {
    const insecure = await load({ cluster: { 'insecure-skip-tls-verify': true } });
    assert.equal(insecure.tls.rejectUnauthorized, false);
    const plain = await load({ cluster: { server: 'http://127.0.0.1:8080' } });
    assert.equal(plain.server, 'http://127.0.0.1:8080');
    assert.deepEqual(await plain.authorization(), {});
  });

  test('the error for an invalid proxy-url does not contain its password', async () => {
    const error = await problem(load({ cluster: { 'proxy-url': 'ftp://user:secret@p' } }));
    assert.match(error.message, /"ftp:\/\/\*\*\*@p"/);
  });

  test('user name and password, and impersonation', async () => {
    const connection = await load({ user: { username: 'u', password: 'p', as: 'other' } });
    assert.deepEqual(await connection.authorization(), {
      authorization: `Basic ${Buffer.from('u:p').toString('base64')}`,
      'impersonate-user': 'other',
    });
  });

  test('paths are relative to the kubeconfig, and files are reloaded', async () => {
    write('sub/ca.pem', 'CA 1');
    write('sub/cert.pem', 'CERT');
    write('sub/key.pem', 'KEY');
    const path = write(
      'sub/config',
      kubeconfig({
        cluster: { 'certificate-authority': 'ca.pem' },
        user: { 'client-certificate': 'cert.pem', 'client-key': 'key.pem' },
      }),
    );
    const connection = await loadConnection({ kubeconfig: path });
    assert.deepEqual([connection.tls.ca, connection.tls.cert, connection.tls.key].map(String), ['CA 1', 'CERT', 'KEY']);
    write('sub/ca.pem', 'CA 2');
    assert.equal(String((await connection.reloadTls()).ca), 'CA 2');
  });

  test('data in the kubeconfig takes precedence over a file', async () => {
    for (const name of ['ca', 'cert', 'key']) write(`${name}.pem`, 'from a file');
    const data = Buffer.from('from the config').toString('base64');
    const { tls } = await load({
      cluster: { 'certificate-authority': 'ca.pem', 'certificate-authority-data': data },
      user: {
        'client-certificate': 'cert.pem',
        'client-certificate-data': data,
        'client-key': 'key.pem',
        'client-key-data': data,
      },
    });
    assert.deepEqual([tls.ca, tls.cert, tls.key].map(String), Array(3).fill('from the config'));
  });

  test('an empty field is treated as absent', async () => {
    const user = {
      token: 'abc',
      tokenFile: '',
      as: '',
      'as-groups': [],
      'as-user-extra': {},
      'as-uid': '',
      username: null,
    };
    const unsaid = { 'client-certificate-data': '', 'client-key': '', 'client-key-data': null };
    const connection = await load({ user: { ...user, ...unsaid } });
    assert.deepEqual(await connection.authorization(), { authorization: 'Bearer abc' });
    assert.deepEqual([connection.tls.cert, connection.tls.key], [undefined, undefined]);
    const exec = pluginOf('process.exit(3)');
    assert.equal((await problem(load({ user: { exec, token: '' } }))).field, 'users.u.exec');
    await load({ user: { 'auth-provider': null, exec: null, token: 'abc' } });
    write('empty.pem', '');
    const { tls } = await load({ cluster: { 'certificate-authority': 'empty.pem' } });
    assert.notEqual(tls.ca ?? '', '', 'with an empty CA, TLS would fall back to the default CAs');
  });

  test('a token file takes precedence over a token, and its newline is trimmed', async () => {
    write('token', 'from-file\n');
    const connection = await load({ user: { token: 'from-config', tokenFile: 'token' } });
    assert.deepEqual(await connection.authorization(), { authorization: 'Bearer from-file' });
  });

  test('a plugin is run once for all requests, and its certificate is used', async () => {
    const script = `
      require('node:fs').appendFileSync(process.env.RUNS, 'x');
      console.log(JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential',
        status: { token: 'from-plugin', clientCertificateData: 'CERT', clientKeyData: 'KEY',
                  expirationTimestamp: process.env.EXPIRY } }));`;
    const runs = write('runs', '');
    const env = [
      { name: 'RUNS', value: runs },
      { name: 'EXPIRY', value: '2027-01-01T00:00:00Z' },
    ];
    const connection = await load({ user: { exec: { ...pluginOf(script), env } } }, { clock: new ManualClock() });
    const headers = await Promise.all([connection.authorization(), connection.authorization()]);
    assert.deepEqual(headers, [{ authorization: 'Bearer from-plugin' }, { authorization: 'Bearer from-plugin' }]);
    assert.equal(connection.tls.cert, 'CERT');
    assert.equal(readFileSync(runs, 'utf8'), 'x');
  });

  test('the error of a failing plugin contains its command, but no input or output', async () => {
    const script = 'console.log(process.env.PASSWORD); console.error(process.argv); process.exit(3)';
    const exec = { ...pluginOf(script, 'hunter2'), env: [{ name: 'PASSWORD', value: 'hunter2' }] };
    const error = await problem(load({ user: { exec } }));
    assert.equal(error.field, 'users.u.exec');
    assert.ok(error.message.endsWith(`cannot be obtained: command "${process.execPath}" failed with exit code 3`));
    const everything = inspect(error, { depth: null, showHidden: true });
    assert.doesNotMatch(everything, /hunter2|process\.exit/);
  });

  test('the error for malformed plugin output does not repeat it', async () => {
    const error = await problem(load({ user: { exec: pluginOf('console.log("hunter2")') } }));
    assert.ok(error.message.endsWith(`command "${process.execPath}": its output is not a JSON object`));
    assert.doesNotMatch(inspect(error, { depth: null, showHidden: true }), /hunter2/);
  });

  test('a plugin must respond in the requested version', async () => {
    const script = `console.log(JSON.stringify({ ...JSON.parse(process.env.KUBERNETES_EXEC_INFO), status: { token: 't' } }))`;
    for (const version of ['v1', 'v1beta1']) {
      const exec = { ...pluginOf(script), apiVersion: `client.authentication.k8s.io/${version}` };
      assert.deepEqual(await (await load({ user: { exec } })).authorization(), { authorization: 'Bearer t' });
    }
    const printed = `console.log('{"apiVersion":"client.authentication.k8s.io/v1beta1","kind":"ExecCredential"}')`;
    const error = await problem(load({ user: { exec: pluginOf(printed) } }));
    assert.match(error.message, /apiVersion "client\.authentication\.k8s\.io\/v1beta1"; accepted: ".*\/v1"$/);
  });

  describe('the input of a plugin', () => {
    const printInput = `
      require('node:fs').writeFileSync(process.env.INFO, process.env.KUBERNETES_EXEC_INFO);
      ${printsToken}`;
    const infoOf = async (cluster: Readonly<Record<string, unknown>>, exec: object): Promise<unknown> => {
      const info = write('info', '');
      const env = [
        { name: 'INFO', value: info },
        { name: 'KUBERNETES_EXEC_INFO', value: 'not from the kubeconfig' },
      ];
      await load({ cluster, user: { exec: { ...pluginOf(printInput), env, ...exec } } });
      return JSON.parse(readFileSync(info, 'utf8'));
    };
    const about = { kind: 'ExecCredential', apiVersion: 'client.authentication.k8s.io/v1' };
    const server = 'https://api.example:6443';

    test('no cluster information unless the kubeconfig enables it', async () => {
      assert.deepEqual(await infoOf({}, {}), { ...about, spec: { interactive: false } });
    });

    test("the cluster's address, its CA as data, and its extension for plugins", async () => {
      write('ca.pem', 'CA');
      const config = { audience: '06e3fbd18de8' };
      const given = {
        'certificate-authority': 'ca.pem',
        'tls-server-name': 'inner.example',
        'proxy-url': 'http://proxy.example:3128',
        'disable-compression': true,
        extensions: [
          { name: 'other', extension: {} },
          { name: 'client.authentication.k8s.io/exec', extension: config },
        ],
      };
      const cluster = {
        server,
        'tls-server-name': 'inner.example',
        'certificate-authority-data': Buffer.from('CA').toString('base64'),
        'proxy-url': 'http://proxy.example:3128',
        'disable-compression': true,
        config,
      };
      const spec = { interactive: false, cluster };
      assert.deepEqual(await infoOf(given, { provideClusterInfo: true }), { ...about, spec });
    });

    test('insecure-skip-tls-verify, and no fields that the kubeconfig does not set', async () => {
      const spec = { interactive: false, cluster: { server, 'insecure-skip-tls-verify': true } };
      const given = { 'insecure-skip-tls-verify': true };
      assert.deepEqual(await infoOf(given, { provideClusterInfo: true }), { ...about, spec });
      const data = Buffer.from('DATA').toString('base64');
      const withData = { interactive: false, cluster: { server, 'certificate-authority-data': data } };
      assert.deepEqual(await infoOf({ 'certificate-authority-data': data }, { provideClusterInfo: true }), {
        ...about,
        spec: withData,
      });
    });
  });

  test('KUBECONFIG lists files: the first that sets a value takes precedence, missing ones are skipped', async () => {
    const first = write('first', JSON.stringify({ users: [{ name: 'u', user: { token: 'first' } }] }));
    const second = write('second', kubeconfig({ user: { token: 'second' } }));
    process.env['KUBECONFIG'] = [join(folder, 'none'), first, second].join(delimiter);
    const connection = await loadConnection();
    assert.equal(connection.server, 'https://api.example:6443');
    assert.deepEqual(await connection.authorization(), { authorization: 'Bearer first' });
  });

  test('the home directory, and another context', async () => {
    const config = JSON.parse(kubeconfig()) as { contexts: unknown[]; users: unknown[] };
    config.contexts.push({ name: 'there', context: { cluster: 'c', user: 'other' } });
    config.users.push({ name: 'other', user: { token: 'other' } });
    write('.kube/config', JSON.stringify(config));
    const connection = await loadConnection({ context: 'there' });
    assert.deepEqual(await connection.authorization(), { authorization: 'Bearer other' });
  });

  test('in-cluster configuration', async () => {
    const account = 'var/run/secrets/kubernetes.io/serviceaccount';
    write(`${account}/token`, 'mounted\n');
    write(`${account}/ca.crt`, 'CA');
    write(`${account}/namespace`, 'kube-system');
    process.env['KUBERNETES_SERVICE_HOST'] = 'fd00::1';
    process.env['KUBERNETES_SERVICE_PORT'] = '443';
    const connection = await loadConnection({ root: `${folder}/` });
    assert.deepEqual([connection.server, connection.namespace], ['https://[fd00::1]:443', 'kube-system']);
    assert.equal(String(connection.tls.ca), 'CA');
    assert.deepEqual(await connection.authorization(), { authorization: 'Bearer mounted' });
  });

  describe('in-cluster configuration', () => {
    const account = 'var/run/secrets/kubernetes.io/serviceaccount';

    beforeEach(() => {
      write(`${account}/token`, 'mounted\n');
      write(`${account}/ca.crt`, 'CA');
      process.env['KUBERNETES_SERVICE_HOST'] = '10.0.0.1';
      process.env['KUBERNETES_SERVICE_PORT'] = '8080';
    });
    const inside = (): Promise<Connection> => loadConnection({ root: folder });

    test('the server is https on any port, because it receives the token', async () => {
      const connection = await inside();
      assert.deepEqual([connection.server, connection.namespace], ['https://10.0.0.1:8080', undefined]);
    });

    for (const field of ['KUBERNETES_SERVICE_HOST', 'KUBERNETES_SERVICE_PORT']) {
      test(`${field} is missing or empty`, async () => {
        delete process.env[field];
        assert.deepEqual(placeOf(await problem(inside())), ['(environment)', field]);
        process.env[field] = '';
        assert.deepEqual(placeOf(await problem(inside())), ['(environment)', field]);
      });
    }

    for (const field of ['token', 'ca.crt']) {
      test(`${field} is missing`, async () => {
        rmSync(join(folder, account, field));
        assert.deepEqual(placeOf(await problem(inside())), [join(folder, account), field]);
      });
    }

    test('the token is empty', async () => {
      write(`${account}/token`, '\n');
      const error = await problem(inside());
      assert.deepEqual(placeOf(error), [join(folder, account), 'token']);
      assert.match(error.message, /is empty/);
    });

    function placeOf({ file, field }: ConnectionError): readonly string[] {
      return [file, field];
    }
  });

  describe('errors name the invalid field', () => {
    const cases: readonly (readonly [string, Written, string])[] = [
      ['no server', { cluster: { server: '' } }, 'clusters.c.server'],
      ['a server that is not a URL', { cluster: { server: 'api.example' } }, 'clusters.c.server'],
      ['an unknown cluster', { context: { cluster: 'x' } }, 'contexts.here.cluster'],
      ['an unknown user', { context: { user: 'x' } }, 'contexts.here.user'],
      ['a missing CA', { cluster: { 'certificate-authority': 'no.pem' } }, 'clusters.c.certificate-authority'],
      ['a certificate without a key', { user: { 'client-certificate-data': 'eA==' } }, 'users.u.client-key'],
      ['a key without a certificate', { user: { 'client-key-data': 'eA==' } }, 'users.u.client-certificate'],
      ['a missing token file', { user: { tokenFile: 'none' } }, 'users.u.tokenFile'],
      ['impersonated groups', { user: { as: 'a', 'as-groups': ['ops'] } }, 'users.u.as-groups'],
      ['an impersonated uid', { user: { as: 'a', 'as-uid': '7' } }, 'users.u.as-uid'],
      ['impersonated extra fields', { user: { 'as-user-extra': { reason: ['x'] } } }, 'users.u.as-user-extra'],
      [
        'impersonated groups, with a plugin',
        { user: { exec: { command: 'x' }, 'as-groups': ['a'] } },
        'users.u.as-groups',
      ],
      ['a plugin without a version', { user: { exec: execWith({ apiVersion: '' }) } }, 'users.u.exec.apiVersion'],
      [
        'a plugin of a removed version',
        { user: { exec: execWith({ apiVersion: 'client.authentication.k8s.io/v1alpha1' }) } },
        'users.u.exec.apiVersion',
      ],
      ['a plugin without a command', { user: { exec: execWith({ command: '' }) } }, 'users.u.exec.command'],
      [
        'a plugin of v1 without an interactive mode',
        { user: { exec: execWith({ interactiveMode: undefined }) } },
        'users.u.exec.interactiveMode',
      ],
      [
        'a plugin that needs a terminal',
        { user: { exec: execWith({ interactiveMode: 'Always' }) } },
        'users.u.exec.interactiveMode',
      ],
      [
        'a plugin of v1beta1 with an unknown interactive mode',
        {
          user: {
            exec: execWith({ apiVersion: 'client.authentication.k8s.io/v1beta1', interactiveMode: 'Sometimes' }),
          },
        },
        'users.u.exec.interactiveMode',
      ],
      ['an argument that is not a string', { user: { exec: execWith({ args: ['a', 1] }) } }, 'users.u.exec.args[1]'],
      ['arguments that are not a list', { user: { exec: execWith({ args: 'a' }) } }, 'users.u.exec.args'],
      [
        'a variable without a name',
        { user: { exec: execWith({ env: [{ value: 'v' }] }) } },
        'users.u.exec.env[0].name',
      ],
      [
        'a variable that is not a string',
        { user: { exec: execWith({ env: [{ name: 'A', value: 1 }] }) } },
        'users.u.exec.env[0].value',
      ],
      ['a plugin that is not a mapping', { user: { exec: 'aws' } }, 'users.u.exec'],
      ['an identity provider', { user: { 'auth-provider': { name: 'oidc' } } }, 'users.u.auth-provider'],
      [
        'an identity provider and a plugin',
        { user: { exec: execWith({}), 'auth-provider': { name: 'gcp', config: {} } } },
        'users.u.auth-provider',
      ],
      ['an impersonated user that is not a string', { user: { token: 'abc', as: 7 } }, 'users.u.as'],
      ['a token that is a number', { user: { token: 12_345 } }, 'users.u.token'],
      [
        'a CA that is not a string',
        { cluster: { 'certificate-authority-data': ['eA=='] } },
        'clusters.c.certificate-authority-data',
      ],
      ['an unsupported proxy scheme', { cluster: { 'proxy-url': 'ftp://p' } }, 'clusters.c.proxy-url'],
      [
        'a CA together with insecure-skip-tls-verify',
        { cluster: { 'insecure-skip-tls-verify': true, 'certificate-authority-data': 'cGVt' } },
        'clusters.c.insecure-skip-tls-verify',
      ],
    ];
    for (const [what, written, field] of cases) {
      test(what, async () => {
        const error = await problem(load(written));
        assert.equal(error.field, field);
        assert.equal(error.file, join(folder, 'config'));
      });
    }

    test('errors contain the accepted values, and no secret', async () => {
      for (const [user, message] of [
        [
          { exec: execWith({ apiVersion: 'client.authentication.k8s.io/v1alpha1' }) },
          'users.u.exec.apiVersion: "client.authentication.k8s.io/v1alpha1" is not supported; ' +
            'accepted: client.authentication.k8s.io/v1, client.authentication.k8s.io/v1beta1',
        ],
        [
          { exec: execWith({ interactiveMode: 'Always' }) },
          'users.u.exec.interactiveMode: "Always" is not supported; accepted: Never, IfAvailable',
        ],
        [
          { 'auth-provider': { name: 'oidc', config: { 'refresh-token': 'hunter2' } } },
          'users.u.auth-provider: "oidc" is not supported; ' +
            'accepted: exec (a credential plugin), tokenFile, token, client-certificate',
        ],
      ] as const) {
        assert.equal((await problem(load({ user }))).message, `${join(folder, 'config')}: ${message}`);
      }
    });

    test('an unknown context, and no current context', async () => {
      assert.equal((await problem(load({}, { context: 'nowhere' }))).field, 'contexts');
      const path = write('config', JSON.stringify({ clusters: [] }));
      assert.equal((await problem(loadConnection({ kubeconfig: path }))).field, 'current-context');
    });

    test('a file that is missing, and files that are not a kubeconfig', async () => {
      assert.equal((await problem(loadConnection({ kubeconfig: join(folder, 'none') }))).file, join(folder, 'none'));
      for (const text of [
        '{ "a": ',
        'just text',
        '[]',
        'clusters: 3',
        'users: [{}]',
        'contexts: [{name: a, context: 1}]',
      ]) {
        await problem(loadConnection({ kubeconfig: write('config', text) }));
      }
    });

    test('no configuration', async () => {
      assert.equal((await problem(loadConnection())).field, 'KUBERNETES_SERVICE_HOST');
      process.env['KUBERNETES_SERVICE_HOST'] = '10.0.0.1';
      process.env['KUBERNETES_SERVICE_PORT'] = '443';
      assert.equal((await problem(loadConnection({ root: folder }))).field, 'token');
    });
  });

  describe('over TLS', () => {
    let certificate: ServingCertificate;
    let server: RawHttpServer;
    let api: HttpKubeApi | undefined;
    const clock = new ManualClock();

    before(async () => {
      certificate = await makeServingCertificate({ hosts: ['inner.example'] });
    });
    beforeEach(async () => {
      await serve(certificate);
    });
    afterEach(async () => {
      await api?.close();
      await server.stop();
    });
    after(() => {
      api = undefined;
    });

    async function serve({ certPem, keyPem }: ServingCertificate): Promise<void> {
      server = new RawHttpServer({ cert: certPem, key: keyPem, requestCert: true, rejectUnauthorized: false });
      server.handler = (request) => request.answer(200, { metadata: { name: 'n1' } });
      await server.start();
    }

    async function use(written: Written): Promise<HttpKubeApi> {
      const connection = await load({ ...written, cluster: { server: server.url, ...written.cluster } });
      api = makeKubeApi(connection, { clock, retriesMax: 0 });
      return api;
    }

    const get = (from: HttpKubeApi): Promise<unknown> =>
      from.get('nodes', { name: 'n1' }, { signal: new AbortController().signal });
    const refusedReason = async (from: HttpKubeApi): Promise<string> => (await failureOf(get(from), ApiError)).reason;
    const lastSocket = (): TLSSocket => server.requests.at(-1)?.socket as TLSSocket;
    const base64 = (text: string): string => Buffer.from(text).toString('base64');

    test('only the CA of the kubeconfig is trusted', async () => {
      await get(await use({ cluster: { 'certificate-authority-data': base64(certificate.caPem) } }));
      await api?.close();
      assert.equal(await refusedReason(await use({})), 'unavailable');
      const other = await makeServingCertificate();
      await api?.close();
      const strange = await use({ cluster: { 'certificate-authority-data': base64(other.caPem) } });
      assert.equal(await refusedReason(strange), 'unavailable');
    });

    test('insecure-skip-tls-verify', async () => {
      await get(await use({ cluster: { 'insecure-skip-tls-verify': true } }));
    });

    test('tls-server-name is used for SNI and verified', async () => {
      const ca = { 'certificate-authority-data': base64(certificate.caPem) };
      await get(await use({ cluster: { ...ca, 'tls-server-name': 'inner.example' } }));
      assert.equal(lastSocket().servername, 'inner.example');
      await api?.close();
      const actual = await refusedReason(await use({ cluster: { ...ca, 'tls-server-name': 'else.example' } }));
      assert.equal(actual, 'unavailable');
    });

    test('a client certificate is presented', async () => {
      const user = {
        'client-certificate-data': base64(certificate.certPem),
        'client-key-data': base64(certificate.keyPem),
      };
      await get(await use({ cluster: { 'certificate-authority-data': base64(certificate.caPem) }, user }));
      assert.equal(lastSocket().getPeerCertificate().subject.CN, 'kube-apiserver');
    });

    test('a new CA on disk is loaded when the old one fails, and every five minutes', async () => {
      write('ca.pem', (await makeServingCertificate()).caPem);
      const client = await use({ cluster: { 'certificate-authority': 'ca.pem' } });
      assert.equal(await refusedReason(client), 'unavailable');
      write('ca.pem', certificate.caPem);
      await get(client);
      await settled(); // The connection is free again a moment after its answer.
      const before = server.connections;
      write('ca.pem', `${certificate.caPem}\n`);
      await get(client);
      await settled();
      assert.equal(server.connections, before);
      await clock.advance(300_000);
      await get(client);
      assert.equal(server.connections, before + 1, 'on a new connection');
    });

    test('through a proxy: a tunnel for https', async () => {
      const { connect } = await import('node:net');
      const tunnels: string[] = [];
      const proxy = new RawHttpServer();
      proxy.handler = ({ method, path, socket }) => {
        tunnels.push(`${method} ${path}`);
        const onward = connect(Number(path.split(':')[1]), '127.0.0.1', () => {
          socket.removeAllListeners('data');
          socket.write('HTTP/1.1 200 Connected\r\n\r\n');
          socket.pipe(onward).pipe(socket);
        });
        socket.on('close', () => onward.destroy());
      };
      await proxy.start();
      const ca = { 'certificate-authority-data': base64(certificate.caPem) };
      await get(await use({ cluster: { ...ca, 'proxy-url': proxy.url } }));
      assert.deepEqual(tunnels, [`CONNECT 127.0.0.1:${server.port}`]);
      await api?.close();
      await proxy.stop();
    });
  });
});
