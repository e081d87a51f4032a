// Secure serving with a real kube-apiserver: TokenReviews and RBAC authenticate and authorize page requests.
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { connect } from 'node:tls';
import { Agent, request } from 'undici';
import { TestAuthority } from '../support/certificates.ts';
import { NlcProcess } from '../support/nlc-process.ts';
import { ask } from '../support/secure-pages.ts';
import { AuditTrail, type AuditedRequest } from './audit-trail.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import { waitUntil } from './wait-until.ts';

const soon = { timeoutMs: 30_000 };
const rbac = '/apis/rbac.authorization.k8s.io/v1';
const ttlMs = 2_000;
const scrapes = 40;

let plane: ControlPlane;
let authority: TestAuthority;
let agent: Agent;
let controller: NlcProcess;
let url: string;
let trail: AuditTrail;
const tokens: Record<string, string> = {};

async function grant(name: string, rules: readonly object[], accounts: readonly string[]): Promise<void> {
  await plane.client().must('POST', `${rbac}/clusterroles`, { metadata: { name }, rules });
  await plane.client().must('POST', `${rbac}/clusterrolebindings`, {
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: accounts.map((account) => ({ kind: 'ServiceAccount', namespace: 'default', name: account })),
  });
}

const create = (group: string, resource: string): object => ({
  apiGroups: [group],
  resources: [resource],
  verbs: ['create'],
});

/** The permissions of shadow mode, and create of the two reviews. */
const ownRules: readonly object[] = [
  { apiGroups: [''], resources: ['nodes', 'pods'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'list', 'watch'] },
  create('authentication.k8s.io', 'tokenreviews'),
  create('authorization.k8s.io', 'subjectaccessreviews'),
];

const pairFile = (name: 'crt' | 'key' | 'ca'): string => join(plane.folder, `pages.${name}`);

async function writePair(): Promise<void> {
  const { cert, key } = await authority.sign({ subject: 'CN=pages', hosts: ['127.0.0.1'] });
  writeFileSync(pairFile('crt'), cert);
  writeFileSync(pairFile('key'), key);
}

before(async () => {
  plane = await startControlPlane({ auditLevel: 'Metadata' });
  authority = await TestAuthority.make();
  agent = new Agent({ connect: { ca: authority.cert } });
  for (const name of ['pages', 'scraper', 'oncall', 'outsider', 'leaver'])
    tokens[name] = await plane.addServiceAccount('default', name);
  await grant('own', ownRules, ['pages']);
  await grant('metrics-reader', [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }], ['scraper', 'leaver']);
  await grant(
    'pages-reader',
    [{ nonResourceURLs: ['/status', '/explain/*', '/dashboard', '/dashboard/*'], verbs: ['get'] }],
    ['oncall'],
  );
  writeFileSync(pairFile('ca'), authority.cert);
  await writePair();
  controller = NlcProcess.controller(
    plane.kubeconfigFor(tokens['pages']!),
    '--leader-elect=false',
    '--metrics-secure',
    `--tls-cert-file=${pairFile('crt')}`,
    `--tls-private-key-file=${pairFile('key')}`,
    `--authentication-token-webhook-cache-ttl=${ttlMs}ms`,
    `--authorization-webhook-cache-authorized-ttl=${ttlMs}ms`,
  );
  await waitUntil('leading', soon, () => controller.said('serving /metrics') && controller.said('leading'));
  url = `https://${controller.address()}`;
  trail = new AuditTrail(plane.auditLogFile ?? '', 'system:serviceaccount:default:pages');
});

after(async () => {
  if (controller.hasEnded) console.log(controller.stderr);
  await controller.kill();
  await agent.destroy();
  await plane.stop();
});

async function statusOf(path: string, account?: string): Promise<number> {
  return (await ask(agent, `${url}${path}`, { token: account === undefined ? undefined : tokens[account] })).status;
}

test('a service account with the role may read, one without is forbidden, no token is unauthenticated', async () => {
  const page = await ask(agent, `${url}/metrics`, { token: tokens['scraper'] });
  assert.equal(page.status, 200);
  assert.match(page.body, /^node_lifecycle_controller_build_info/m);
  const refused = await ask(agent, `${url}/metrics`, { token: tokens['outsider'] });
  assert.equal(refused.status, 403);
  assert.match(refused.body, /User \\"system:serviceaccount:default:outsider\\" cannot get path \\"\/metrics\\"/);
  assert.equal(await statusOf('/metrics'), 401);
  assert.equal((await ask(agent, `${url}/metrics`, { token: 'made-up' })).status, 401);
  assert.equal(await statusOf('/status', 'scraper'), 403);
  assert.equal(await statusOf('/explain/zones', 'oncall'), 200);
  assert.equal((await ask(agent, `${url}/status`, { token: plane.adminToken })).status, 200, 'system:masters');
});

test('without the right to read the dashboard its page and its events are refused', async () => {
  const path = '/dashboard/events';
  assert.deepEqual([await statusOf(path), await statusOf(path, 'scraper')], [401, 403]);
  assert.deepEqual([await statusOf('/dashboard'), await statusOf('/dashboard', 'outsider')], [401, 403]);
  const headers = { authorization: `Bearer ${tokens['oncall']}` };
  const answer = await request(`${url}${path}`, { dispatcher: agent, headers });
  assert.equal(answer.statusCode, 200);
  let received = '';
  for await (const chunk of answer.body.setEncoding('utf8')) {
    received += String(chunk);
    if (received.includes('event: snapshot')) break;
  }
  assert.match(received, /event: snapshot\nid: \d+\ndata: \{"server":/);
});

const reviews = (resource: string): readonly AuditedRequest[] =>
  trail.requests().filter((request) => request.resource === resource);

test('scrapes use cached reviews', async () => {
  await new Promise((resolve) => setTimeout(resolve, ttlMs));
  const before = [reviews('tokenreviews').length, reviews('subjectaccessreviews').length];
  const sinceMs = performance.now();
  for (let i = 0; i < scrapes; i++) assert.equal(await statusOf('/metrics', 'scraper'), 200);
  const roundsMax = Math.ceil((performance.now() - sinceMs) / ttlMs) + 1;
  const asked = await waitUntil('the audit log', soon, () => {
    const now = [reviews('tokenreviews').length - before[0]!, reviews('subjectaccessreviews').length - before[1]!];
    return now.every((count) => count > 0) ? now : undefined;
  });
  for (const count of asked) assert.ok(count <= roundsMax, `${count} reviews for ${scrapes} scrapes`);
  assert.ok(
    trail.requests().every(({ code }) => code < 400),
    'no request was rejected',
  );
});

test('nlc status and nlc explain with the permissions of a page reader', async () => {
  const nlc = async (...args: readonly string[]): Promise<NlcProcess> => {
    const command = new NlcProcess([...args, `--server=${url}`]);
    await command.exited;
    return command;
  };
  const tokenFile = join(plane.folder, 'oncall.token');
  writeFileSync(tokenFile, `${tokens['oncall']}\n`);
  const ca = `--certificate-authority=${pairFile('ca')}`;
  const [status, explain, refused, unverified] = await Promise.all([
    nlc('status', ca, `--token-file=${tokenFile}`),
    nlc('explain', '--insecure-skip-tls-verify', 'node/none', `--kubeconfig=${plane.kubeconfigFor(tokens['oncall']!)}`),
    nlc('status', ca, `--token=${tokens['outsider']}`),
    nlc('status', `--token-file=${tokenFile}`),
  ]);
  assert.match(status.stdout, /^leading;/, status.stderr);
  assert.match(explain.stderr, /returned 404: node "none" is not in this controller's cache/);
  assert.match(
    refused.stderr,
    /returned 403: forbidden: User "system:serviceaccount:default:outsider" cannot get path/,
  );
  assert.match(unverified.stderr, /no response from .*; set --certificate-authority and --tls-server-name/);
});

test('the token of a deleted service account is rejected when the cached review expires', async () => {
  assert.equal(await statusOf('/metrics', 'leaver'), 200);
  await plane.client().must('DELETE', '/api/v1/namespaces/default/serviceaccounts/leaver');
  await waitUntil('unauthorized', soon, async () => (await statusOf('/metrics', 'leaver')) === 401);
});

test('a renewed certificate is served without a restart', async () => {
  const shown = (): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', ca: authority.cert }, () => {
        resolve(socket.getPeerCertificate().fingerprint256);
        socket.destroy();
      }).on('error', reject);
    });
  const inFile = (): string => new X509Certificate(readFileSync(pairFile('crt'))).fingerprint256;
  assert.equal(await shown(), inFile());
  await writePair();
  await waitUntil('shown', soon, async () => (await shown()) === inFile());
  assert.equal(await statusOf('/metrics', 'scraper'), 200);
});

test('during an outage of the API server cached reviews expire; afterwards requests are authorized again', async () => {
  assert.equal(await statusOf('/metrics', 'scraper'), 200);
  await plane.killApiServer();
  await waitUntil('unauthorized', soon, async () => (await statusOf('/metrics', 'scraper')) === 401);
  await plane.restartApiServer();
  await waitUntil('authorized', soon, async () => (await statusOf('/metrics', 'scraper')) === 200);
  const said = controller.stderr + controller.stdout;
  for (const token of Object.values(tokens)) assert.ok(!said.includes(token), 'a token is in the log');
});
