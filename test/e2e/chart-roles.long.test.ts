// The roles of the chart on the embedded API server with RBAC: in each mode the controller runs as the user of its account,
// and nothing that it asks for is forbidden; without any one verb of its roles, something would be.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { SystemClock } from '../../src/machinery/adapters/system-clock.ts';
import { type RunningApiServer, startApiServer } from '../../src/hollow-cluster/apiserver/http/api-server.ts';
import {
  parseAttributes,
  type ResourceAttributes,
} from '../../src/hollow-cluster/apiserver/authorization/parse-attributes.ts';
import { servedPolicies } from '../../src/cli/simulation/policy-resource.ts';
import { policyApiVersion, policyResource } from '../../src/machinery/api/node-lifecycle-policy.ts';
import { RestClient } from '../control-plane/rest-client.ts';
import { ScriptedCluster } from '../control-plane/scripted-cluster.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { AuditingProxy, type ProxiedExchange } from '../support/auditing-proxy.ts';
import { type Manifest, readManifests } from '../support/chart-manifests.ts';
import { SeededRandom, silentLogger } from '../support/fakes.ts';
import { NlcProcess } from '../support/nlc-process.ts';
import { tempFolder } from '../support/temp-folder.ts';

const soon = { timeoutMs: 45_000 };
const account = 'node-lifecycle-controller';
const namespace = 'node-lifecycle-controller';
const user = `system:serviceaccount:${namespace}:${account}`;
const controllerUser = {
  token: 'controller-token',
  user,
  groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
};
const quick = ['--node-monitor-period=1s', '--node-monitor-grace-period=4s', '--node-eviction-rate=10'];
const atWork = /^leading$|^running in shadow mode/;
/** What only a standby asks for, after a gap of 15 s in which it did not read the lease. */
const historyOfLease: ProxiedExchange = {
  method: 'GET',
  url: `/apis/coordination.k8s.io/v1/namespaces/kube-system/leases?fieldSelector=metadata.name%3D${account}`,
  code: 200,
};
const unreachable = { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' } as const;

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

interface Role extends Manifest {
  readonly rules: readonly Rule[];
}

interface World {
  readonly client: RestClient;
  readonly cluster: ScriptedCluster;
}

/** Twice, because repeated Events are patches. */
async function becomeSilentTwice({ cluster }: World, evicts: boolean): Promise<void> {
  await cluster.addPod('patient', 'n1', [{ ...unreachable, operator: 'Exists', tolerationSeconds: 600 }]);
  for (const round of [1, 2]) {
    await cluster.addPod(`impatient-${round}`, 'n1', [{ ...unreachable, operator: 'Exists', tolerationSeconds: 0 }]);
    cluster.stopHeartbeats('n1');
    await waitUntil('the taints', soon, async () => (await cluster.taints('n1')).length === 2);
    if (evicts) await waitUntil('no pod', soon, async () => (await cluster.pod(`impatient-${round}`)) === undefined);
    await waitUntil('the mark', soon, async () => (await cluster.podReady('patient')) === 'False');
    await cluster.resumeHeartbeats('n1');
    await cluster.postPod('patient');
    await waitUntil('no taints', soon, async () => (await cluster.taints('n1')).length === 0);
  }
}

/** Taints come from elsewhere. */
async function taintTwice({ client, cluster }: World): Promise<void> {
  await cluster.addPod('patient', 'n1', [{ ...unreachable, operator: 'Exists', tolerationSeconds: 600 }]);
  for (const round of [1, 2]) {
    await cluster.addPod(`impatient-${round}`, 'n1', [{ ...unreachable, operator: 'Exists', tolerationSeconds: 0 }]);
    await taint(client, [{ ...unreachable, timeAdded: new Date().toISOString().replace(/\.\d+/, '') }]);
    await waitUntil('no pod', soon, async () => (await cluster.pod(`impatient-${round}`)) === undefined);
    await taint(client, []);
    await waitUntil('the cancelled eviction', soon, async () => {
      const cancelled = (await cluster.events()).filter(({ message }) =>
        message.startsWith('Cancelling deletion of Pod'),
      );
      return cancelled.reduce((sum, event) => sum + countOf(event), 0) === round;
    });
  }
}

function countOf(event: object): number {
  return 'count' in event && typeof event.count === 'number' ? event.count : 1;
}

async function taint(client: RestClient, taints: readonly object[]): Promise<void> {
  await client.must('PATCH', '/api/v1/nodes/n1', { spec: { taints } }, { contentType: 'application/merge-patch+json' });
}

async function becomeSilent({ cluster }: World): Promise<void> {
  cluster.stopHeartbeats('n1');
}

async function followPolicy(world: World): Promise<void> {
  const { client, cluster } = world;
  await client.must('POST', `/apis/${policyApiVersion}/${policyResource.plural}`, {
    apiVersion: policyApiVersion,
    kind: policyResource.kind,
    metadata: { name: 'careful' },
    spec: { nodeSelector: { matchLabels: { 'kubernetes.io/hostname': 'n0' } }, evictReachable: { timeout: '5m' } },
  });
  const toleration = { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' } as const;
  await waitUntil('the policy is accepted', soon, async () => {
    const path = `/apis/${policyApiVersion}/${policyResource.plural}/careful`;
    return (await client.must('GET', path))['status'] !== undefined;
  });
  await cluster.addPod('reachable', 'n0', [{ ...toleration, tolerationSeconds: 0 }]);
  await cluster.post('n0', { Ready: 'False' });
  await waitUntil('an evicted pod', soon, async () => (await cluster.pod('reachable')) === undefined);
  await cluster.post('n0', { Ready: 'True' });
  await becomeSilentTwice(world, true);
}

interface Mode {
  readonly name: string;
  readonly overlay?: string;
  /** Runs without leader election. */
  readonly isAlone?: true;
  readonly happens: (world: World) => Promise<void>;
}

const modes: readonly Mode[] = [
  { name: 'replace', happens: (world) => becomeSilentTwice(world, true) },
  { name: 'detector-only', overlay: 'detector-only', happens: (world) => becomeSilentTwice(world, false) },
  { name: 'evictor-only', overlay: 'evictor-only', happens: taintTwice },
  { name: 'shadow', overlay: 'shadow', isAlone: true, happens: becomeSilent },
  { name: 'policies as objects', overlay: 'policy-objects', happens: followPolicy },
];

describe('the roles of the chart', { concurrency: 2 }, () => {
  for (const mode of modes) {
    it(`${mode.name}: nothing is forbidden, and no verb is unneeded`, { timeout: 180_000 }, async () => {
      await tryRoles(mode);
    });
  }
});

async function tryRoles({ name, overlay, isAlone, happens }: Mode): Promise<void> {
  const manifests = readManifests(overlay);
  const options = { clock: new SystemClock(), random: new SeededRandom(1), logger: silentLogger, tls: false };
  const server = await startApiServer({
    ...options,
    authorizationMode: 'RBAC',
    users: [controllerUser],
    customResources: [servedPolicies()],
  });
  const client = new RestClient({ url: server.url, ca: '', token: server.adminToken });
  const cluster = new ScriptedCluster(client);
  await using proxy = await AuditingProxy.start(server.url, refusing());
  await install(client, manifests);
  for (const node of ['n0', 'n1', 'n2']) await cluster.addNode(node, 'z');
  cluster.start();
  const controller = startController({ server, proxyUrl: proxy.url, manifests });
  try {
    await waitUntil(`${name} works`, soon, () => controller.logs().find(({ msg }) => atWork.test(String(msg))));
    await happens({ client, cluster });
    const roles = manifests.filter(isRole).filter((role) => isBound(role, manifests));
    const asked = (): readonly ProxiedExchange[] => [...proxy.exchanges, ...(isAlone ? [] : [historyOfLease])];
    await waitUntil('every verb is used', soon, () => unused(roles, asked()).length === 0).catch(() =>
      assert.deepEqual(unused(roles, asked()), [], 'granted and never used'),
    );
    await controller.terminate();
    const forbidden = proxy.exchanges.filter(({ code }) => code === 403);
    assert.deepEqual(forbidden, []);
    assert.equal(isAlone !== true && (await anyForbidden(client, attributesOf([historyOfLease]))), false);
    assert.deepEqual(await unneeded(client, roles, asked()), []);
    assert.ok(roles.length >= 2);
  } finally {
    await controller.kill();
    await cluster.stop();
    await client.close();
    await server.close();
  }
}

/** As a server without streaming lists, so that lists are needed; and the first write of each kind is a conflict. */
function refusing(): (method: string, url: string) => { code: number; reason: string } | undefined {
  const refused = new Set<string>();
  return (method, url) => {
    const { pathname, searchParams } = new URL(url, 'http://localhost');
    if (searchParams.has('sendInitialEvents')) return { code: 422, reason: 'Invalid' };
    const [, kind] = /^\/api\/v1\/(?:namespaces\/[^/]+\/)?(nodes|pods)\/[^/]+(\/status)?$/.exec(pathname) ?? [];
    const write = `${method} ${kind}`;
    if (kind === undefined || method === 'GET' || refused.has(write)) return undefined;
    refused.add(write);
    return { code: 409, reason: 'Conflict' };
  };
}

async function install(client: RestClient, manifests: readonly Manifest[]): Promise<void> {
  const installed = ['Namespace', 'ServiceAccount', 'ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'];
  for (const object of manifests.filter(({ kind }) => installed.includes(kind))) {
    await client.must('POST', collectionOf(object), object);
  }
}

function collectionOf({ apiVersion, kind, metadata }: Manifest): string {
  const root = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`;
  const within = metadata.namespace === undefined ? '' : `/namespaces/${metadata.namespace}`;
  return `${root}${within}/${kind.toLowerCase()}s`;
}

function startController(about: {
  readonly server: RunningApiServer;
  readonly proxyUrl: string;
  readonly manifests: readonly Manifest[];
}): NlcProcess {
  const { server, proxyUrl, manifests } = about;
  const folder = tempFolder();
  const kubeconfig = join(folder, 'kubeconfig');
  const { token } = controllerUser;
  const access = server.kubeconfig().replaceAll(server.adminToken, token).replaceAll(server.url, proxyUrl);
  writeFileSync(kubeconfig, access);
  const config = join(folder, 'config.yaml');
  const settings = manifests.find(({ kind }) => kind === 'ConfigMap')?.['data'] as Readonly<Record<string, string>>;
  writeFileSync(config, settings['config.yaml'] ?? '');
  return NlcProcess.controller(kubeconfig, `--config=${config}`, ...quick);
}

function isRole(object: Manifest): object is Role {
  return object.kind === 'ClusterRole' || object.kind === 'Role';
}

function isBound({ kind, metadata: { name } }: Manifest, manifests: readonly Manifest[]): boolean {
  return manifests.some(({ roleRef }) => {
    const { kind: wanted, name: wantedName } = (roleRef ?? {}) as Readonly<Record<string, string>>;
    return wanted === kind && wantedName === name;
  });
}

/** The verbs of the roles that no request had. */
function unused(roles: readonly Role[], exchanges: readonly ProxiedExchange[]): readonly string[] {
  const asked = attributesOf(exchanges);
  return roles
    .flatMap(({ rules }) => rules.flatMap((rule) => rule.verbs.map((verb) => ({ rule, verb }))))
    .filter(({ rule, verb }) => !asked.some((attributes) => uses(attributes, rule, verb)))
    .map(({ rule, verb }) => `${verb} ${rule.resources.join()}`);
}

function uses({ verb, group, resource, subresource, name }: ResourceAttributes, rule: Rule, wanted: string): boolean {
  const asked = subresource === '' ? resource : `${resource}/${subresource}`;
  const named = rule.resourceNames === undefined || rule.resourceNames.includes(name);
  return verb === wanted && rule.apiGroups.includes(group) && rule.resources.includes(asked) && named;
}

/** The verbs of the roles without which each of the requests would still be permitted. */
async function unneeded(
  client: RestClient,
  roles: readonly Role[],
  exchanges: readonly ProxiedExchange[],
): Promise<readonly string[]> {
  const asked = attributesOf(exchanges);
  const found: string[] = [];
  for (const role of roles) {
    for (const { rules, taken } of withoutOneVerb(role)) {
      await put(client, { ...role, rules });
      const verb = taken.split(' ')[0];
      const affected = asked.filter((attributes) => attributes.verb === verb);
      if (!(await anyForbidden(client, affected))) found.push(`${role.metadata.name}: ${taken}`);
    }
    await put(client, role);
  }
  return found;
}

function attributesOf(exchanges: readonly ProxiedExchange[]): readonly ResourceAttributes[] {
  const unique = new Map<string, ResourceAttributes>();
  for (const { method, url } of exchanges) {
    const { pathname, searchParams } = new URL(url, 'http://localhost');
    const attributes = parseAttributes({ method, path: pathname, query: searchParams });
    if (attributes.kind === 'resource') unique.set(JSON.stringify(attributes), attributes);
  }
  return [...unique.values()];
}

function withoutOneVerb({ rules }: Role): readonly { readonly rules: readonly Rule[]; readonly taken: string }[] {
  return rules.flatMap((rule, index) =>
    rule.verbs.map((verb) => ({
      taken: `${verb} ${rule.resources.join()}${rule.resourceNames === undefined ? '' : ` ${rule.resourceNames.join()}`}`,
      rules: rules.flatMap((other, place) => {
        if (place !== index) return [other];
        const verbs = rule.verbs.filter((kept) => kept !== verb);
        return verbs.length === 0 ? [] : [{ ...rule, verbs }];
      }),
    })),
  );
}

async function put(client: RestClient, role: Role): Promise<void> {
  await client.must('PUT', `${collectionOf(role)}/${role.metadata.name}`, role);
}

async function anyForbidden(client: RestClient, asked: readonly ResourceAttributes[]): Promise<boolean> {
  const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
  for (const { kind: _kind, ...resourceAttributes } of asked) {
    const spec = { user, groups: ['system:authenticated', 'system:serviceaccounts'], resourceAttributes };
    const { status } = await client.must<{ readonly status: { readonly allowed: boolean } }>('POST', path, { spec });
    if (!status.allowed) return true;
  }
  return false;
}
