// The pages with TLS and delegated authentication and authorization, over real sockets.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { request as plainRequest } from 'node:http';
import { createServer as secureServer, request as secureRequest } from 'node:https';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { connect as tlsConnect, type SecureVersion, type TLSSocket } from 'node:tls';
import { Agent } from 'undici';
import { type Pair, TestAuthority } from '../../support/certificates.ts';
import { nlc } from '../../support/run-command.ts';
import { ask, SecurePagesStage } from '../../support/secure-pages.ts';
import { until } from '../../support/until.ts';

async function staged(t: TestContext, ...flags: readonly string[]): Promise<SecurePagesStage> {
  const stage = await SecurePagesStage.open(...flags);
  t.after(() => stage.close());
  stage.api.add('reader', 'reader-token', 'get /metrics', 'head /metrics').add('other', 'other-token', 'get /status');
  return stage;
}

test('a request without a token is rejected with 401 and a WWW-Authenticate header', async (t) => {
  const stage = await staged(t);
  const { status, headers, body } = await stage.get('/metrics');
  assert.equal(status, 401);
  assert.match(String(headers['www-authenticate']), /^Bearer /);
  assert.deepEqual(JSON.parse(body), {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'Unauthorized',
    reason: 'Unauthorized',
    code: 401,
  });
  assert.deepEqual(stage.api.tokensAsked, [], 'no review was sent');
  assert.equal((await stage.get('/metrics', { token: 'unknown' })).status, 401);
  assert.equal((await stage.get('/no-such-page')).status, 401, '401 does not depend on whether the page exists');
});

test('an authenticated user may read what the API server allows, by method and path, and nothing else', async (t) => {
  const stage = await staged(t);
  const mine = await stage.get('/metrics?x=y', { token: 'reader-token' });
  assert.deepEqual([mine.status, mine.body], [200, 'page /metrics']);
  assert.equal((await stage.get('/metrics', { token: 'reader-token', method: 'HEAD' })).status, 200);
  const refused = await stage.get('/metrics', { token: 'other-token' });
  assert.equal(refused.status, 403);
  assert.match(refused.body, /"message":"forbidden: User \\"other\\" cannot get path \\"\/metrics\\""/);
  assert.equal((await stage.get('/metrics', { token: 'reader-token', method: 'POST' })).status, 403);
  assert.deepEqual(stage.api.accessesAsked, [
    'reader get /metrics',
    'reader head /metrics',
    'other get /metrics',
    'reader post /metrics',
  ]);
  assert.equal(stage.meter.series.get('secure_serving_requests_total{outcome="allowed"}'), 2);
  assert.equal(stage.meter.series.get('secure_serving_requests_total{outcome="forbidden"}'), 2);
  assert.equal(stage.meter.series.get('apiserver_delegated_authz_request_total{code="201"}'), 4);
});

/** Sends the path unchanged; fetch and undici would normalize it. */
function rawGet(stage: SecurePagesStage, path: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: 'Bearer reader-token' };
    const options = { host: '127.0.0.1', port: stage.port, path, headers, ca: stage.authority.cert, agent: false };
    secureRequest(options, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });
}

test('the authorized path is the path of the served page, in any notation', async (t) => {
  const stage = await staged(t);
  stage.api.add('reader', 'reader-token', 'get /explain/nodes/a b');
  assert.equal(await rawGet(stage, '/metrics/../status'), 403);
  assert.equal(await rawGet(stage, '/metrics/%2e%2e/status'), 403);
  assert.equal(await rawGet(stage, '/explain/nodes/a%20b'), 200);
  assert.equal(await rawGet(stage, '/explain/nodes/%ff'), 403);
  assert.deepEqual(stage.api.accessesAsked, [
    'reader get /status',
    'reader get /explain/nodes/a b',
    'reader get /explain/nodes/%ff',
  ]);
});

/** Sends raw bytes. Resolves with the status codes when the server closes the connection or has sent `answersMax` responses. */
function say(stage: SecurePagesStage, text: string, answersMax: number): Promise<readonly number[]> {
  return new Promise((resolve, reject) => {
    let received = '';
    const statuses = (): readonly number[] =>
      [...received.matchAll(/HTTP\/1\.[01] (\d{3}) /g)].map((match) => Number(match[1]));
    const socket = tlsConnect({ host: '127.0.0.1', port: stage.port, ca: stage.authority.cert }, () =>
      socket.write(text),
    );
    socket.on('data', (piece) => {
      received += String(piece);
      if (statuses().length >= answersMax) socket.destroy();
    });
    socket.on('error', reject).on('close', () => resolve(statuses()));
  });
}

const asReader = 'authorization: Bearer reader-token\r\n';

test('no notation of a path serves a page for which only another path is allowed', async (t) => {
  const stage = await staged(t, '--authorization-always-allow-paths=/livez,/explain/nodes/public*');
  const rows: readonly (readonly [path: string, status: number, asked?: string])[] = [
    ['//metrics', 403, '//metrics'],
    ['/metrics/', 403, '/metrics/'],
    ['/metrics/.', 403, '/metrics/'],
    ['/./metrics', 200, '/metrics'],
    ['/%6detrics', 404],
    ['/metrics%2f..%2fstatus', 403, '/metrics/../status'],
    ['/metrics/%2E%2e/status', 403, '/status'],
    ['/metrics\\..\\status', 403, '/status'],
    ['/metrics%5c..%5cstatus', 403, '/metrics\\..\\status'],
    ['/metrics/..;/status', 403, '/metrics/..;/status'],
    ['/metrics%00', 403, '/metrics\0'],
    ['/metrics%3f', 403, '/metrics?'],
    ['/status?/../metrics', 403],
    ['/status#/metrics', 403],
    ['/metrics%252e%252e', 403, '/metrics%2e%2e'],
    ['/explain/nodes/public/../secret', 403, '/explain/nodes/secret'],
    ['/explain/nodes/%70ublic', 403, '/explain/nodes/public'],
    ['/livez/../status', 403],
    ['/livez/%2e%2e/explain/nodes/public', 200],
    ['http://livez/metrics', 400],
    ['*', 400],
  ];
  const asked: string[] = [];
  for (const [path, status, access] of rows) {
    await stage.clock.advance(300);
    const [got] = await say(stage, `GET ${path} HTTP/1.1\r\nhost: livez\r\n${asReader}\r\n`, 1);
    assert.equal(got, status, path);
    if (access !== undefined && !asked.includes(access)) asked.push(access);
  }
  assert.deepEqual(
    stage.api.accessesAsked,
    asked.map((path) => `reader get ${path}`),
  );
  const open = ['/%6civez', '/livez%2f', '/livez/', '//livez', '/explain/nodes/%70ublic', '/explain/nodes/public/../x'];
  for (const path of open)
    assert.deepEqual(await say(stage, `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`, 1), [401], path);
});

test('no form of a request is allowed without a token', async (t) => {
  const stage = await staged(t);
  const rows: readonly (readonly [request: string, status: number | undefined])[] = [
    ['GET /metrics HTTP/1.0\r\n\r\n', 401],
    ['OPTIONS /metrics HTTP/1.1\r\nhost: x\r\n\r\n', 401],
    ['OPTIONS * HTTP/1.1\r\nhost: x\r\n\r\n', 400],
    ['TRACE /metrics HTTP/1.1\r\nhost: x\r\n\r\n', 401],
    ['CONNECT /metrics HTTP/1.1\r\nhost: x\r\n\r\n', undefined],
    ['GET https://127.0.0.1/metrics HTTP/1.1\r\nhost: x\r\n\r\n', 400],
    ['GET /metrics HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n', 401],
    ['GET /metrics HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n', 401],
    ['POST /metrics HTTP/1.1\r\nhost: x\r\nx-http-method-override: GET\r\ncontent-length: 0\r\n\r\n', 401],
    ['GET /metrics HTTP/1.1\r\nhost: x\r\nx-remote-user: root\r\nx-remote-group: system:masters\r\n\r\n', 401],
    ['GET /metrics HTTP/1.1\r\nhost: x\r\nx-original-url: /livez\r\n\r\n', 401],
    ['GET /metrics?token=reader-token&access_token=reader-token HTTP/1.1\r\nhost: x\r\n\r\n', 401],
    ['GET /metrics HTTP/1.1\r\nhost: x\r\nauthorization: Basic x\r\nauthorization: Bearer reader-token\r\n\r\n', 401],
    ['GET /metrics HTTP/1.1\r\nhost: x\r\nauthorization : Bearer reader-token\r\n\r\n', 400],
  ];
  for (const [request, status] of rows) assert.equal((await say(stage, request, 1))[0], status, request);
  assert.deepEqual(stage.api.tokensAsked, []);
  const other = `GET /metrics HTTP/1.1\r\nhost: x\r\nauthorization: Bearer other-token\r\nimpersonate-user: reader\r\nx-remote-user: reader\r\n\r\n`;
  assert.deepEqual(await say(stage, other, 1), [403], 'impersonation headers are ignored');
});

test('each request of a connection is authorized separately, also when pipelined', async (t) => {
  const stage = await staged(t);
  const get = (path: string, token?: string): string =>
    `GET ${path} HTTP/1.1\r\nhost: x\r\n${token === undefined ? '' : `authorization: Bearer ${token}\r\n`}\r\n`;
  const requests = [
    get('/metrics', 'reader-token'),
    get('/metrics'),
    get('/metrics', 'other-token'),
    get('/status', 'other-token'),
    get('/status', 'reader-token'),
    get('/livez/../metrics'),
  ];
  assert.deepEqual(await say(stage, requests.join(''), requests.length), [200, 401, 403, 200, 403, 401]);
  // A body that looks like a request is a body.
  const hidden = get('/status', 'other-token');
  const smuggled = `POST /metrics HTTP/1.1\r\nhost: x\r\ncontent-length: ${hidden.length}\r\n\r\n${hidden}${get('/metrics')}`;
  assert.deepEqual(await say(stage, smuggled, 2), [401, 401]);
  const both = `POST /metrics HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`;
  assert.deepEqual(await say(stage, both, 2), [400]);
});

test('a client that pipelines too many requests is disconnected', async (t) => {
  const stage = await staged(t);
  const release = Promise.withResolvers<void>();
  stage.api.held = release.promise;
  const many = `GET /metrics HTTP/1.1\r\nhost: x\r\n${asReader}\r\n`.repeat(100);
  assert.deepEqual(await say(stage, many, 100), []);
  release.resolve();
  const actual = await say(stage, `GET /metrics HTTP/1.1\r\nhost: x\r\n${asReader}\r\n`.repeat(10), 10);
  assert.deepEqual(actual, Array(10).fill(200));
});

test('the list of pages is not shown to clients of always-allowed paths', async (t) => {
  const stage = await staged(t);
  const { status, body } = await stage.get('/healthz');
  assert.deepEqual([status, body], [404, 'not found\n']);
});

test('many requests, concurrent and sequential, cause one review until its TTL expires', async (t) => {
  const stage = await staged(t);
  const together = await Promise.all(
    Array.from({ length: 20 }, () => stage.get('/metrics', { token: 'reader-token' })),
  );
  assert.ok(together.every(({ status }) => status === 200));
  for (let i = 0; i < 5; i++) await stage.get('/metrics', { token: 'other-token' });
  await stage.clock.advance(9_000);
  await stage.get('/metrics', { token: 'reader-token' });
  assert.deepEqual(stage.api.tokensAsked, ['reader-token', 'other-token']);
  assert.deepEqual(stage.api.accessesAsked, ['reader get /metrics', 'other get /metrics']);
  await stage.clock.advance(2_000);
  stage.api.users.delete('reader-token');
  assert.equal((await stage.get('/metrics', { token: 'reader-token' })).status, 401, 'a revoked token');
  stage.api.add('other', 'other-token', 'get /metrics');
  assert.equal((await stage.get('/metrics', { token: 'other-token' })).status, 200, 'a granted permission');
});

test('while the API server is unavailable new tokens are rejected, and cached ones are allowed until their TTL expires', async (t) => {
  const stage = await staged(t);
  await stage.get('/metrics', { token: 'reader-token' });
  await stage.get('/status', { token: 'reader-token' });
  stage.api.refusing = 503;
  assert.equal((await stage.get('/metrics', { token: 'reader-token' })).status, 200);
  assert.equal((await stage.get('/metrics', { token: 'other-token' })).status, 401);
  const unknowable = await stage.get('/explain/nodes/x', { token: 'reader-token' });
  assert.equal(unknowable.status, 500);
  assert.doesNotMatch(unknowable.body, /refused|127\.0\.0\.1/, 'the response does not reveal the API server');
  await stage.clock.advance(11_000);
  assert.equal((await stage.get('/metrics', { token: 'reader-token' })).status, 401);
  const warnings = stage.logger.at('warn');
  const messages = warnings.map(({ message }) => message);
  assert.deepEqual(messages, ['TokenReview or SubjectAccessReview failed; denying requests']);
  stage.api.refusing = undefined;
  assert.equal((await stage.get('/metrics', { token: 'reader-token' })).status, 200, 'failures are not cached');
});

test('with a hanging API server new requests wait a limited time, and cached ones do not wait', async (t) => {
  const stage = await staged(t);
  await stage.get('/metrics', { token: 'reader-token' });
  const release = Promise.withResolvers<void>();
  stage.api.held = release.promise;
  const sinceMs = performance.now();
  const waiting = stage.get('/metrics', { token: 'other-token' });
  assert.equal((await stage.get('/metrics', { token: 'reader-token' })).status, 200);
  assert.ok(performance.now() - sinceMs < 1_900, 'before the other request ends');
  assert.equal((await waiting).status, 401);
  release.resolve();
});

test('a missing permission of the controller is named in the log', async (t) => {
  const stage = await staged(t);
  stage.api.refusing = 403;
  assert.equal((await stage.get('/metrics', { token: 'reader-token' })).status, 401);
  const { fields } = stage.logger.lines.find(({ level }) => level === 'warn') ?? assert.fail('no warning');
  assert.equal(fields['missingPermission'], 'create tokenreviews.authentication.k8s.io');
  assert.equal(stage.meter.series.get('apiserver_delegated_authn_request_total{code="403"}'), 1);
});

test('a connection that the API server has closed does not cause a rejection', async (t) => {
  const stage = await staged(t);
  stage.api.breaking = 1;
  assert.equal((await stage.get('/metrics', { token: 'reader-token' })).status, 200);
  assert.equal(stage.meter.series.get('apiserver_delegated_authn_request_total{code="<error>"}'), 1);
});

test('many invalid tokens cause few reviews, and do not affect cached users', async (t) => {
  const stage = await staged(t);
  await stage.get('/metrics', { token: 'reader-token' });
  await stage.clock.advance(11_000);
  const dispatcher = new Agent({ connections: 8, connect: { ca: stage.authority.cert } });
  const flood = await Promise.all(
    Array.from({ length: 300 }, (_, i) => ask(dispatcher, `${stage.url}/metrics`, { token: `stolen-${i}` })),
  );
  const busy = flood.filter(({ status }) => status === 429);
  assert.ok(busy.length >= 290, `${busy.length} of 300 were rejected`);
  assert.equal(busy[0]?.headers['retry-after'], '1');
  assert.ok(flood.every(({ status }) => status === 429 || status === 401));
  assert.ok(stage.api.tokensAsked.length <= 11, `${stage.api.tokensAsked.length} reviews`);
  assert.equal((await ask(dispatcher, `${stage.url}/metrics`, { token: 'reader-token' })).status, 200);
  assert.equal((await ask(dispatcher, `${stage.url}/metrics`, { token: 'other-token' })).status, 429);
  await stage.clock.advance(1_000);
  assert.equal((await ask(dispatcher, `${stage.url}/status`, { token: 'other-token' })).status, 200);
  await dispatcher.destroy();
});

test('probes stay plain on their own address, and need no token there; on a shared address they do', async (t) => {
  const apart = await staged(t);
  assert.equal((await fetch(`http://127.0.0.2:${apart.healthPort}/livez`)).status, 200);
  assert.equal((await fetch(`http://127.0.0.2:${apart.healthPort}/metrics`)).status, 404);
  await assert.rejects(fetch(`http://127.0.0.1:${apart.port}/metrics`), 'no plain HTTP on the secure port');
  const port = apart.port;
  await apart.close();
  const shared = await SecurePagesStage.open(
    `--metrics-bind-address=127.0.0.1:${port}`,
    `--health-probe-bind-address=127.0.0.1:${port}`,
  );
  assert.equal((await shared.get('/livez')).status, 200);
  assert.equal((await shared.get('/livez/ping')).status, 401, 'only the configured paths');
  assert.equal((await shared.get('/metrics')).status, 401);
  await shared.close();
});

test('always-allowed paths cause no review', async (t) => {
  const stage = await staged(t, '--authorization-always-allow-paths=/metrics,/explain/*');
  assert.equal((await stage.get('/metrics')).status, 200);
  assert.equal((await stage.get('/explain/nodes/a')).status, 200);
  assert.equal((await stage.get('/status')).status, 401);
  assert.deepEqual([stage.api.tokensAsked, stage.api.accessesAsked], [[], []]);
});

const serialOf = (stage: SecurePagesStage): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = tlsConnect({ host: '127.0.0.1', port: stage.port, ca: stage.authority.cert }, () => {
      resolve(socket.getPeerCertificate().serialNumber);
      socket.destroy();
    }).on('error', reject);
  });

test('a changed certificate is used for new connections; an invalid pair is ignored and logged once', async (t) => {
  const stage = await staged(t);
  const first = await serialOf(stage);
  const kept = new Agent({ connect: { ca: stage.authority.cert } });
  assert.equal((await ask(kept, `${stage.url}/metrics`, { token: 'reader-token' })).status, 200);
  const next = await stage.authority.sign({ subject: 'CN=pages', hosts: ['127.0.0.1'] });
  stage.write({ cert: next.cert });
  await stage.clock.advance(40_000);
  assert.equal(await serialOf(stage), first, 'only one file of the pair');
  const warnings = stage.logger.at('warn');
  const messages = warnings.map(({ message }) => message);
  assert.deepEqual(messages, ['failed to reload serving certificate; keeping the old one']);
  stage.write({ key: next.key });
  await stage.clock.advance(10_000);
  assert.notEqual(await serialOf(stage), first);
  const actual = (await ask(kept, `${stage.url}/metrics`, { token: 'reader-token' })).status;
  assert.equal(actual, 200, 'open connections continue');
  await kept.destroy();
});

test('client certificates of the client CA authenticate users', async (t) => {
  const stage = await staged(t, '--client-ca-file=FOLDER/ca.crt');
  stage.api.add('alice', 'not shown', 'get /metrics');
  const alice = await stage.authority.sign({ subject: 'CN=alice,O=ops' });
  assert.equal((await stage.get('/metrics', { client: alice })).status, 200);
  assert.match((await stage.get('/status', { client: alice })).body, /User \\"alice\\" cannot get path/);
  const masters = await stage.authority.sign({ subject: 'CN=root,O=system:masters' });
  assert.equal((await stage.get('/status', { client: masters })).status, 200);
  const foreign = await (await TestAuthority.make('another')).sign({ subject: 'CN=alice,O=system:masters' });
  assert.equal((await stage.get('/metrics', { client: foreign })).status, 401);
  assert.equal((await stage.get('/metrics', { client: foreign, token: 'reader-token' })).status, 200);
  const serving = await stage.authority.sign({ subject: 'CN=alice', hosts: ['x.example'] });
  assert.equal((await stage.get('/metrics', { client: serving })).status, 401, 'a server certificate');
  assert.deepEqual(stage.api.tokensAsked, ['reader-token']);
});

test('without --client-ca-file a client certificate does not authenticate', async (t) => {
  const stage = await staged(t);
  const alice = await stage.authority.sign({ subject: 'CN=alice,O=system:masters' });
  assert.equal((await stage.get('/metrics', { client: alice })).status, 401);
});

test('a client certificate counts only while it is valid and its CA is configured, on old connections too', async (t) => {
  const stage = await staged(t, '--client-ca-file=FOLDER/ca.crt');
  stage.api.add('alice', 'not shown', 'get /metrics');
  const brief = await stage.authority.sign({ subject: 'CN=alice', validForMs: 4_000 });
  const alice = await stage.authority.sign({ subject: 'CN=alice' });
  const connections = [brief, alice].map((pair) => new Agent({ connect: { ca: stage.authority.cert, ...pair } }));
  const get = async (): Promise<readonly number[]> =>
    Promise.all(connections.map(async (agent) => (await ask(agent, `${stage.url}/metrics`, {})).status));
  assert.deepEqual(await get(), [200, 200]);
  await new Promise((resolve) => setTimeout(resolve, 5_500));
  assert.deepEqual(await get(), [401, 200]);
  const { cert } = await TestAuthority.make('next');
  writeFileSync(stage.caFile, cert);
  await stage.clock.advance(10_000);
  assert.deepEqual(await get(), [401, 401]);
  await Promise.all(connections.map((agent) => agent.destroy()));
});

test('a TLS session is not resumed: it would keep its client certificate', async (t) => {
  const stage = await staged(t, '--client-ca-file=FOLDER/ca.crt');
  const client = await stage.authority.sign({ subject: 'CN=alice' });
  const open = (maxVersion: SecureVersion, session?: Buffer): Promise<TLSSocket> =>
    new Promise((resolve, reject) => {
      const options = {
        ...client,
        ca: stage.authority.cert,
        maxVersion,
        ...(session === undefined ? {} : { session }),
      };
      const socket = tlsConnect({ host: '127.0.0.1', port: stage.port, ...options }).on('error', reject);
      // In TLS 1.3 the session ticket comes after the handshake, with the response at the latest.
      socket.on('data', () => resolve(socket));
      socket.on('secureConnect', () => socket.write('GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n'));
    });
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    const first = await open(version);
    const second = await open(version, first.getSession());
    assert.equal(second.isSessionReused(), false, version);
    first.destroy();
    second.destroy();
  }
});

/** A renegotiation on a TLS 1.2 connection. Resolves with whether the server took part. */
function shakesHandsAgain(stage: SecurePagesStage, client: Pair): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const options = { ...client, ca: stage.authority.cert, maxVersion: 'TLSv1.2' } as const;
    const socket = tlsConnect({ host: '127.0.0.1', port: stage.port, ...options }, () => {
      socket.renegotiate({ rejectUnauthorized: true }, () => {
        resolve(true);
        socket.destroy();
      });
    });
    socket.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ERR_SSL_NO_RENEGOTIATION' ? resolve(false) : reject(error),
    );
  });
}

test('renegotiation is disabled: it could present a self-made certificate', async (t) => {
  const stage = await staged(t, '--client-ca-file=FOLDER/ca.crt');
  const client = await stage.authority.sign({ subject: 'CN=alice' });
  assert.equal(await shakesHandsAgain(stage, client), false);
  stage.write(await stage.authority.sign({ subject: 'CN=pages', hosts: ['127.0.0.1'] }));
  await stage.clock.advance(10_000);
  assert.equal(await shakesHandsAgain(stage, client), false, 'not with the next serving certificate either');
});

test('of several names in a certificate the last one counts, as for the API server', async (t) => {
  const stage = await staged(t, '--client-ca-file=FOLDER/ca.crt');
  stage.api.add('alice', 'not shown', 'get /metrics');
  const client = await stage.authority.sign({ subject: 'CN=alice,CN=mallory' });
  assert.match((await stage.get('/metrics', { client })).body, /User \\"mallory\\" cannot get path/);
});

test('old TLS versions are rejected, and the configured versions and suites are used', async (t) => {
  const stage = await staged(t, '--tls-min-version=VersionTLS13');
  assert.equal((await stage.get('/metrics', { token: 'reader-token' })).status, 200);
  await assert.rejects(stage.get('/metrics', { token: 'reader-token', maxVersion: 'TLSv1.2' }));
  const forgetful = await staged(t);
  const unsealed = { token: 'reader-token', maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-SHA256' } as const;
  await assert.rejects(forgetful.get('/metrics', unsealed), 'a suite that --tls-cipher-suites does not accept');
  const suites = await staged(t, '--tls-cipher-suites=TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384');
  const old = { token: 'reader-token', maxVersion: 'TLSv1.2' } as const;
  assert.equal((await suites.get('/metrics', { ...old, ciphers: 'ECDHE-ECDSA-AES256-GCM-SHA384' })).status, 200);
  await assert.rejects(suites.get('/metrics', { ...old, ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256' }));
  assert.equal((await suites.get('/metrics', { token: 'reader-token', maxVersion: 'TLSv1.3' })).status, 200);
});

test('a connection without a handshake does not delay shutdown', async (t) => {
  const stage = await staged(t);
  const idleSocket = connect(stage.port, '127.0.0.1');
  await new Promise((resolve) => idleSocket.once('connect', resolve));
  const gone = new Promise((resolve) => idleSocket.once('close', resolve));
  const sinceMs = performance.now();
  await stage.close();
  await gone;
  assert.ok(performance.now() - sinceMs < 8_000);
});

test('connections above the handshake rate are rejected until the next second', async (t) => {
  const stage = await staged(t);
  const sockets = Array.from({ length: 120 }, () => connect(stage.port, '127.0.0.1'));
  let closed = 0;
  for (const socket of sockets) socket.on('close', () => (closed += 1)).on('error', () => undefined);
  await until(() => closed >= 70);
  assert.ok(closed <= 120 - 40, `${closed} were rejected`);
  for (const socket of sockets) socket.destroy();
  let status = 0;
  const askAgain = (): void =>
    void stage.get('/metrics', { token: 'reader-token' }).then(
      (answer) => (status = answer.status),
      () => setTimeout(askAgain, 100),
    );
  askAgain();
  await until(() => status === 200);
});

test('a long token is accepted; headers above the limit are rejected', async (t) => {
  const stage = await staged(t);
  const long = 'x'.repeat(12_000);
  stage.api.add('long', long, 'get /metrics');
  assert.equal((await stage.get('/metrics', { token: long })).status, 200);
  assert.equal((await stage.get('/metrics', { token: 'x'.repeat(40_000) })).status, 431);
});

test('without a certificate a self-signed one is generated, and a warning is logged', async (t) => {
  const stage = await staged(t, '--tls-cert-file=', '--tls-private-key-file=');
  await assert.rejects(stage.get('/metrics', { token: 'reader-token' }));
  const agent = new Agent({ connect: { rejectUnauthorized: false } });
  assert.equal((await ask(agent, `${stage.url}/metrics`, { token: 'reader-token' })).status, 200);
  await agent.destroy();
  assert.ok(stage.logger.lines.some(({ message }) => message.startsWith('no --tls-cert-file')));
});

test('a missing or invalid certificate fails the start and names its flag', async () => {
  await assert.rejects(SecurePagesStage.open('--tls-cert-file=/no/such/file'), /--tls-cert-file \/no\/such\/file/);
  await assert.rejects(SecurePagesStage.open('--tls-private-key-file=FOLDER/ca.crt'), /and its private key/);
  await assert.rejects(
    SecurePagesStage.open('--client-ca-file=FOLDER/tls.crt'),
    /--client-ca-file .*not a CA certificate/,
  );
});

test('plain HTTP to the secure port gets no page', async (t) => {
  const stage = await staged(t);
  const outcome = await new Promise<string>((resolve) => {
    plainRequest({ host: '127.0.0.1', port: stage.port, path: '/metrics' }, (response) =>
      resolve(String(response.statusCode)),
    )
      .on('error', () => resolve('aborted'))
      .end();
  });
  assert.equal(outcome, 'aborted');
});

test('nlc status sends its token to the configured server, and reports missing credentials', async (t) => {
  const stage = await staged(t, '--client-ca-file=FOLDER/ca.crt');
  const at = [`--server=${stage.url}`, `--certificate-authority=${stage.caFile}`];
  const good = await nlc('status', ...at, '--token=other-token');
  assert.deepEqual([good.code, good.out, good.err], [0, 'page /status', '']);
  const withoutToken = await nlc('status', ...at);
  assert.match(
    withoutToken.err,
    /^nlc status: https:\S+ returned 401: Unauthorized; set --token, --token-file or --kubeconfig to authenticate\n$/,
  );
  const reader = await nlc('status', ...at, '--token=reader-token');
  assert.match(reader.err, /returned 403: forbidden: User "reader" cannot get path "\/status"\n$/);
  const unverified = await nlc('status', `--server=${stage.url}`, '--token=other-token');
  assert.match(unverified.err, /set --certificate-authority and --tls-server-name to verify the certificate/);
  const misnamed = await nlc('status', ...at, '--tls-server-name=elsewhere.example', '--token=other-token');
  assert.match(misnamed.err, /elsewhere\.example.*--tls-server-name/s);
  const named = await nlc('status', ...at, '--tls-server-name=pages.example', '--token=other-token');
  assert.equal(named.code, 0, named.err);
  const believing = await nlc('status', `--server=${stage.url}`, '--insecure-skip-tls-verify', '--token=other-token');
  assert.equal(believing.code, 0, believing.err);
  const plain = await nlc('status', `--server=${stage.url.replace('https', 'http')}`);
  assert.match(plain.err, /with https:\/\/ if it runs with --metrics-secure\n$/);
  const refused = await nlc('status', '--token=other-token');
  assert.deepEqual([refused.code, /--token: requires a --server that begins with https/.test(refused.err)], [2, true]);
});

test('nlc explain authenticates as the user of a kubeconfig: with a token, or a certificate', async (t) => {
  const stage = await staged(t, '--client-ca-file=FOLDER/ca.crt');
  stage.api.add('other', 'other-token', 'get /explain/nodes/a').add('alice', 'not shown', 'get /explain/nodes/a');
  const { cert, key } = await stage.authority.sign({ subject: 'CN=alice' });
  const data = (text: string): string => Buffer.from(text).toString('base64');
  const users = {
    token: { token: 'other-token' },
    certificate: { 'client-certificate-data': data(cert), 'client-key-data': data(key) },
  };
  const kubeconfig = join(stage.folder, 'kubeconfig');
  const contexts = Object.keys(users).map((name) => ({ name, context: { cluster: 'c', user: name } }));
  const clusters = [{ name: 'c', cluster: { server: 'https://unreachable.example' } }];
  const list = Object.entries(users).map(([name, user]) => ({ name, user }));
  writeFileSync(
    kubeconfig,
    JSON.stringify({ apiVersion: 'v1', kind: 'Config', 'current-context': 'token', contexts, clusters, users: list }),
  );
  const at = [`--server=${stage.url}`, `--certificate-authority=${stage.caFile}`, `--kubeconfig=${kubeconfig}`];
  for (const context of Object.keys(users)) {
    const { code, out, err } = await nlc('explain', ...at, `--context=${context}`, 'node/a');
    assert.deepEqual([code, out, err], [0, 'page /explain/nodes/a', ''], context);
  }
  const skipping = at.filter((flag) => !flag.startsWith('--certificate-authority'));
  const behind = await nlc('explain', ...skipping, '--insecure-skip-tls-verify', 'node/a');
  assert.equal(behind.code, 0, behind.err);
  const missing = await nlc('explain', ...at.slice(0, 2), '--kubeconfig=/no/such', 'node/a');
  assert.match(missing.err, /cannot load credentials: \/no\/such/);
});

test('the token is not sent to the target of a redirect', async (t) => {
  const stage = await staged(t);
  const { cert, key } = await stage.authority.sign({ subject: 'CN=liar', hosts: ['127.0.0.1'] });
  const liar = secureServer({ cert, key }, (_, response) => {
    response.writeHead(307, { location: `${stage.url}/status` }).end();
  });
  await new Promise<void>((resolve) => liar.listen(0, '127.0.0.1', resolve));
  t.after(() => liar.close());
  const address = liar.address();
  assert.ok(typeof address === 'object' && address !== null);
  const at = [`--server=https://127.0.0.1:${address.port}`, `--certificate-authority=${stage.caFile}`];
  const { code, err } = await nlc('status', ...at, '--token=other-token');
  assert.deepEqual([code, /returned 307/.test(err)], [1, true], err);
  assert.deepEqual(stage.api.tokensAsked, []);
});
