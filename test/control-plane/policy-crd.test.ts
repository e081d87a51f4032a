// Policies as objects of a real kube-apiserver: the definition of the chart, what it refuses, and how fast a change is in force.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { parse } from 'yaml';
import { policyResource, resetAnnotation } from '../../src/machinery/api/node-lifecycle-policy.ts';
import { formatTime } from '../../src/machinery/api/timestamps.ts';
import { defaultParts, permissionsOf, permissionText } from '../../tools/manifests/permissions.ts';
import { NlcProcess } from '../support/nlc-process.ts';
import { AuditTrail } from './audit-trail.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import { ScriptedCluster } from './scripted-cluster.ts';
import { waitUntil } from './wait-until.ts';

const soon = { timeoutMs: 30_000 };
const root = join(import.meta.dirname, '..', '..');
const crdFile = join(root, 'charts', 'node-lifecycle-controller', 'crds', 'nodelifecyclepolicies.yaml');
const collection = `/apis/${policyResource.group}/${policyResource.version}/${policyResource.plural}`;
const merge = { contentType: 'application/merge-patch+json' } as const;
const graceMs = 4_000;
const inForceMsMax = 1_000;

interface PolicyJson {
  readonly metadata: { readonly name: string; readonly generation: number };
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status?: {
    readonly mode?: string;
    readonly breaker?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message: string }[];
  };
}

interface Refusal {
  readonly message: string;
  readonly details?: { readonly causes?: readonly { readonly field: string; readonly message: string }[] };
}

let plane: ControlPlane;
let cluster: ScriptedCluster;
let controller: NlcProcess;
let account = '';
const nodes = ['edge-0', 'edge-1', 'edge-2', 'core-0', 'core-1', 'core-2'];

before(async () => {
  plane = await startControlPlane({ auditLevel: 'Metadata' });
  cluster = new ScriptedCluster(plane.client());
  for (const [place, name] of nodes.entries())
    await cluster.addNode(name, `z${place % 2}`, { labels: { pool: name.slice(0, 4) } });
  await cluster.addPod('on-edge-0', 'edge-0', []);
  cluster.start();
  const token = await plane.addServiceAccount('kube-system', 'nlc');
  account = 'system:serviceaccount:kube-system:nlc';
  await grant();
  controller = NlcProcess.controller(
    plane.kubeconfigFor(token),
    '--policy-source=crd',
    '--node-monitor-period=1s',
    `--node-monitor-grace-period=${graceMs}ms`,
    '--node-eviction-rate=10',
    '--unhealthy-zone-threshold=1',
    '--control-plane-path-failure-hold=0s',
  );
});

after(async () => {
  await controller.kill();
  await cluster.stop();
  await plane.stop();
});

/** Exactly the permissions of the chart with `policies.source: crd`, in all namespaces. */
async function grant(): Promise<void> {
  const granted = permissionsOf({ ...defaultParts, policyObjects: true });
  const rules = granted.map(({ group, resource, verb }) => ({
    apiGroups: [group],
    resources: [resource],
    verbs: [verb],
  }));
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  const [apiGroup] = ['rbac.authorization.k8s.io'];
  await plane.client().must('POST', `${rbac}/clusterroles`, { metadata: { name: 'nlc' }, rules });
  await plane.client().must('POST', `${rbac}/clusterrolebindings`, {
    metadata: { name: 'nlc' },
    roleRef: { apiGroup, kind: 'ClusterRole', name: 'nlc' },
    subjects: [{ kind: 'ServiceAccount', name: 'nlc', namespace: 'kube-system' }],
  });
}

const selector = (pool: string): object => ({ nodeSelector: { matchLabels: { pool } } });

function aPolicy(name: string, spec: object): object {
  return {
    apiVersion: `${policyResource.group}/${policyResource.version}`,
    kind: policyResource.kind,
    metadata: { name },
    spec,
  };
}

async function create(name: string, spec: object): Promise<void> {
  await plane.client().must('POST', collection, aPolicy(name, spec));
}

async function patchSpec(name: string, spec: object): Promise<void> {
  await plane.client().must('PATCH', `${collection}/${name}`, { spec }, merge);
}

async function remove(name: string): Promise<void> {
  await plane.client().must('DELETE', `${collection}/${name}`);
}

/** The condition Accepted of an object. */
async function accepted(name: string): Promise<readonly [status: string, message: string, mode: string]> {
  const { status } = await plane.client().must<PolicyJson>('GET', `${collection}/${name}`);
  const condition = status?.conditions?.find(({ type }) => type === 'Accepted');
  return [condition?.status ?? '', condition?.message ?? '', status?.mode ?? ''];
}

/** The policy line of a node. */
async function policyOf(node: string): Promise<string> {
  return /^ {2}policy +(.*)$/m.exec(await controller.page(`/explain/nodes/${node}?output=text`))?.[1] ?? 'none';
}

/** Waits for the result of a change that was just made, and fails if it takes longer than a second. */
async function inForce(what: string, condition: () => Promise<boolean>): Promise<void> {
  const sinceMs = performance.now();
  await waitUntil(what, { timeoutMs: 10_000, pollMs: 20 }, condition);
  const tookMs = performance.now() - sinceMs;
  assert.ok(tookMs <= inForceMsMax, `${what}: ${Math.round(tookMs)} ms`);
}

async function kubectl(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await plane.kubectl(args);
  assert.equal(code, 0, stderr);
  return stdout;
}

async function isUnknown(node: string): Promise<boolean> {
  return (await cluster.ready(node)) === 'Unknown';
}

test('without the definition the controller says so, is not ready and does not lead, and continues when it is installed', {
  timeout: 60_000,
}, async () => {
  await waitUntil('the missing definition in the log', soon, () => {
    return controller.logs().some(({ detail }) => String(detail).includes('is not installed'));
  });
  const ready = await fetch(`http://${controller.address('health')}/readyz?verbose`);
  assert.equal(ready.status, 503);
  assert.match(await ready.text(), /informer-sync-nodelifecyclepolicies/);
  assert.equal(controller.said('leading'), false);
  await kubectl('apply', '--server-side', `--filename=${crdFile}`);
  await waitUntil('leading', soon, () => controller.said('leading'));
  await cluster.untilClean(...nodes);
});

test('kubectl explains the fields, and prints the columns', async () => {
  await waitUntil(
    'the schema is published',
    soon,
    async () => (await plane.kubectl(['explain', 'nlp.spec'])).code === 0,
  );
  assert.match(await kubectl('explain', 'nlp.spec'), /nodeSelector\s+<Object> -required-\s+The nodes of the policy/);
  assert.match(await kubectl('explain', 'nlp.spec.limits.cooldown'), /5m if\s+not set/);
  assert.match(await kubectl('explain', 'nlp.spec.mode'), /ENUM:\s+Enforce\s+Detect\s+Observe\s+Paused/);
  await create('edge', { ...selector('edge'), priority: 5, mode: 'Observe', limits: { maxUnhealthy: { count: 1 } } });
  await waitUntil('the status', soon, async () =>
    /edge .*Observe .*5 .*3 .*0 .*0 .*Closed .*True/.test(await kubectl('get', 'nlp')),
  );
  assert.match(
    await kubectl('get', 'nlp'),
    /^NAME +MODE +PRIORITY +NODES +UNHEALTHY +HELD +BREAKER +ACCEPTED +AGE\nedge +Observe +5 +3 +0 +0 +Closed +True +\d+s\n$/,
  );
  await remove('edge');
});

test('a policy that is created, changed and deleted is in force within a second', { timeout: 60_000 }, async () => {
  await create('edge', { ...selector('edge'), mode: 'Paused' });
  await inForce('created', async () => (await policyOf('edge-0')) === 'edge, mode Paused (nodelifecyclepolicy/edge)');
  cluster.stopHeartbeats('edge-0');
  await waitUntil('held', soon, async () => {
    const page = await controller.page('/explain/nodes/edge-0?output=text');
    return page.includes('silent for') && page.includes('spec.mode of nodelifecyclepolicy/edge set to Enforce');
  });
  const manifest = join(plane.folder, 'edge.json');
  writeFileSync(manifest, JSON.stringify(aPolicy('edge', { ...selector('edge'), mode: 'Paused' })));
  // Deletes the object and creates it again.
  await kubectl('replace', '--force', `--filename=${manifest}`);
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  assert.deepEqual([await cluster.ready('edge-0'), await cluster.taints('edge-0')], ['True', []]);
  await patchSpec('edge', { mode: 'Enforce' });
  await inForce('changed', () => isUnknown('edge-0'));
  await patchSpec('edge', { nodeMonitorGracePeriod: '1h' });
  await inForce('a longer grace period', async () =>
    /grace 3600s/.test(await controller.page('/explain/nodes/edge-1?output=text')),
  );
  cluster.stopHeartbeats('edge-1');
  await new Promise((resolve) => setTimeout(resolve, graceMs + 2_000));
  assert.equal(await cluster.ready('edge-1'), 'True');
  await remove('edge');
  await inForce('deleted', () => isUnknown('edge-1'));
  for (const name of ['edge-0', 'edge-1']) await cluster.resumeHeartbeats(name);
});

test('a breaker is reset by the annotation of its object within a second; a malformed one is reported and resets nothing', {
  timeout: 90_000,
}, async () => {
  const statusOf = async (): Promise<NonNullable<PolicyJson['status']>> =>
    (await plane.client().must<PolicyJson>('GET', `${collection}/edge`)).status ?? {};
  const annotate = (value: string): Promise<unknown> =>
    plane
      .client()
      .must('PATCH', `${collection}/edge`, { metadata: { annotations: { [resetAnnotation]: value } } }, merge);
  const isTainted = async (name: string): Promise<boolean> =>
    (await cluster.taints(name)).includes('unreachable:NoExecute');
  const silent = ['edge-0', 'edge-1'];
  await cluster.untilClean(...silent);
  await create('edge', { ...selector('edge'), limits: { maxUnhealthy: { count: 1 } } });
  for (const name of silent) cluster.stopHeartbeats(name);
  await waitUntil('the breaker is open', soon, async () => (await statusOf()).breaker === 'Open');
  for (const name of silent) await waitUntil(`${name} is Unknown`, soon, () => isUnknown(name));
  await annotate('now');
  await waitUntil('the problem in the status', soon, async () => {
    const degraded = (await statusOf()).conditions?.find(({ type }) => type === 'Degraded');
    return degraded?.message.includes('[nodelifecycle/reset-breaker]: must be an RFC 3339 time') === true;
  });
  assert.equal((await Promise.all(silent.map(isTainted))).filter(Boolean).length <= 1, true);
  assert.match(
    await controller.page('/status?output=text'),
    /^ {2}invalid +nodelifecyclepolicy\/edge: metadata\.annotations\[nodelifecycle\/reset-breaker\]: must be .* \(got "now"\)$/m,
  );
  await waitUntil('the Event', soon, async () =>
    (await cluster.events()).some(({ reason, involvedObject }) => {
      return reason === 'InvalidResetAnnotation' && involvedObject.name === 'edge';
    }),
  );
  await annotate(formatTime(Date.now()));
  await inForce('reset', async () =>
    /edge: .*breaker closed, reset at/.test(await controller.page('/status?output=text')),
  );
  for (const name of silent) await waitUntil(`${name} is tainted`, soon, () => isTainted(name));
  await remove('edge');
  for (const name of silent) await cluster.resumeHeartbeats(name);
  await cluster.untilClean(...silent);
});

test('an object that only the controller can refuse is not accepted, and its last valid version stays in force', async () => {
  await create('core', { ...selector('core'), mode: 'Observe' });
  await waitUntil('accepted', soon, async () => (await accepted('core'))[0] === 'True');
  const refused: readonly (readonly [spec: object, problem: RegExp])[] = [
    [
      { nodeMonitorGracePeriod: '1s' },
      /spec\.nodeMonitorGracePeriod: must be > --node-monitor-period \(got 1s and 1s\)/,
    ],
    [
      { nodeMonitorGracePeriod: null, limits: { maxUnhealthy: { count: 1 }, resetAt: '2026-11-23T25:00:00Z' } },
      /spec\.limits\.resetAt: must be an RFC 3339 time.*25:00:00Z.*generation 1 of the spec stays in force/,
    ],
  ];
  for (const [spec, problem] of refused) {
    await patchSpec('core', { ...spec, mode: 'Paused' });
    await waitUntil(`refused: ${String(problem)}`, soon, async () => problem.test((await accepted('core'))[1]));
    const [status, , mode] = await accepted('core');
    assert.deepEqual(
      [status, mode, await policyOf('core-0')],
      ['False', 'Observe', 'core, mode Observe (nodelifecyclepolicy/core)'],
    );
  }
  const events = await cluster.events();
  assert.ok(
    events.some(({ reason, involvedObject }) => reason === 'PolicyNotAccepted' && involvedObject.name === 'core'),
  );
  assert.match(
    await controller.page('/status?output=text'),
    /^ {2}invalid +nodelifecyclepolicy\/core: spec\.limits\.resetAt/m,
  );
  await patchSpec('core', { limits: null });
  await waitUntil('accepted again', soon, async () => (await accepted('core'))[2] === 'Paused');
  await remove('core');
});

const long = 'x'.repeat(64);
const malformed: readonly (readonly [spec: object, field: string, message: RegExp])[] = [
  [{}, 'spec.nodeSelector', /Required value/],
  [{ nodeSelector: {} }, 'spec.nodeSelector', /at least one requirement/],
  [{ nodeSelector: { matchLabels: {} } }, 'spec.nodeSelector', /at least one requirement/],
  [{ nodeSelector: { matchLabels: { 'a b': 'c' } } }, 'spec.nodeSelector.matchLabels', /each key must match/],
  [{ nodeSelector: { matchLabels: { a: long } } }, 'spec.nodeSelector.matchLabels.a', /should match/],
  [{ nodeSelector: { matchExpressions: [] } }, 'spec.nodeSelector.matchExpressions', /at least 1 items/],
  [
    { nodeSelector: { matchExpressions: [{ key: 'a', operator: 'Inn', values: ['b'] }] } },
    'spec.nodeSelector.matchExpressions[0].operator',
    /"In", "NotIn", "Exists", "DoesNotExist"/,
  ],
  [
    { nodeSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } },
    'spec.nodeSelector.matchExpressions[0].values',
    /must be set with operator In or NotIn/,
  ],
  [
    { nodeSelector: { matchExpressions: [{ key: 'a', operator: 'Exists', values: ['b'] }] } },
    'spec.nodeSelector.matchExpressions[0].values',
    /absent with Exists or DoesNotExist/,
  ],
  [{ ...selector('a'), mode: 'observe' }, 'spec.mode', /"Enforce", "Detect", "Observe", "Paused"/],
  [{ ...selector('a'), priority: 'high' }, 'spec.priority', /must be of type integer/],
  [{ ...selector('a'), priority: 2 ** 31 }, 'spec.priority', /less than or equal to 2147483647/],
  [{ ...selector('a'), nodeMonitorGracePeriod: '40' }, 'spec.nodeMonitorGracePeriod', /should match/],
  [{ ...selector('a'), nodeMonitorGracePeriod: '-1m' }, 'spec.nodeMonitorGracePeriod', /should match/],
  [{ ...selector('a'), nodeStartupGracePeriod: '0s' }, 'spec.nodeStartupGracePeriod', /should match/],
  [{ ...selector('a'), nodeStartupGracePeriod: '9999999h' }, 'spec.nodeStartupGracePeriod', /duration/],
  [{ ...selector('a'), nodeStartupGracePeriod: '0.1ns' }, 'spec.nodeStartupGracePeriod', /> 0 and below 292 years/],
  [{ ...selector('a'), failureDomain: [] }, 'spec.failureDomain', /at least 1 items/],
  [{ ...selector('a'), nodeEvictionRate: -1 }, 'spec.nodeEvictionRate', /greater than or equal to 0/],
  [{ ...selector('a'), unhealthyZoneThreshold: 1.5 }, 'spec.unhealthyZoneThreshold', /less than or equal to 1/],
  [{ ...selector('a'), maintenance: {} }, 'spec.maintenance.maxDuration', /Required value/],
  [
    { ...selector('a'), maintenance: { conditions: [], maxDuration: '1h' } },
    'spec.maintenance',
    /at least one condition or taint/,
  ],
  [
    { ...selector('a'), maintenance: { holdsWhileSilent: ['Drained'], maxDuration: '1h' } },
    'spec.maintenance.holdsWhileSilent',
    /some of the conditions/,
  ],
  [
    { ...selector('a'), maintenance: { conditions: ['Other'], holdsWhileSilent: ['Drained'], maxDuration: '1h' } },
    'spec.maintenance.holdsWhileSilent',
    /some of the conditions/,
  ],
  [
    { ...selector('a'), maintenance: { conditions: ['Ready'], maxDuration: '1h' } },
    'spec.maintenance.conditions[0]',
    /none of Ready, MemoryPressure/,
  ],
  [
    { ...selector('a'), maintenance: { taints: ['node.kubernetes.io/unreachable'], maxDuration: '1h' } },
    'spec.maintenance.taints[0]',
    /none of node\.kubernetes\.io\/unreachable/,
  ],
  [{ ...selector('a'), outOfService: { conditions: ['DiskPressure'] } }, 'spec.outOfService.conditions[0]', /none of/],
  [
    { ...selector('a'), outOfService: { taints: ['node.kubernetes.io/out-of-service'] } },
    'spec.outOfService.taints[0]',
    /none of/,
  ],
  [{ ...selector('a'), limits: {} }, 'spec.limits', /at least one limit/],
  [
    { ...selector('a'), limits: { maxConcurrentEvictions: 1, cooldown: '1m' } },
    'spec.limits.cooldown',
    /absent without maxUnhealthy/,
  ],
  [
    { ...selector('a'), limits: { podDeletionsPerSecond: 1, resetAt: '2026-11-23T18:00:00Z' } },
    'spec.limits.resetAt',
    /absent without maxUnhealthy/,
  ],
  [
    { ...selector('a'), limits: { podDeletionsPerSecond: 0 } },
    'spec.limits.podDeletionsPerSecond',
    /must be a number >= 0\.001/,
  ],
  [{ ...selector('a'), podMarkingRate: 0 }, 'spec.podMarkingRate', /must be a number >= 0\.001/],
  [{ ...selector('a'), limits: { maxUnhealthy: {} } }, 'spec.limits.maxUnhealthy', /percent, count or both/],
  [
    { ...selector('a'), limits: { maxUnhealthy: { percent: 0 } } },
    'spec.limits.maxUnhealthy.percent',
    /greater than or equal to 1/,
  ],
  [
    { ...selector('a'), limits: { maxUnhealthy: { count: 1 }, resetAt: 'yesterday' } },
    'spec.limits.resetAt',
    /should match/,
  ],
  [{ ...selector('a'), outerFailureDomain: ['zone'] }, 'spec.outerFailureDomain', /absent without failureDomain/],
  [
    { ...selector('a'), failureDomain: ['rack', 'zone'], outerFailureDomain: ['zone'] },
    'spec.outerFailureDomain',
    /none of its keys/,
  ],
  [
    { ...selector('a'), flapping: { recoveries: 1, within: '1h' } },
    'spec.flapping.recoveries',
    /greater than or equal to 2/,
  ],
  [
    { ...selector('a'), flapping: { recoveries: 3, within: '1h', initial: '2h' } },
    'spec.flapping.initial',
    /at most max, which is 1h if not set/,
  ],
  [
    { ...selector('a'), flapping: { recoveries: 3, within: '1h', budget: {} } },
    'spec.flapping.budget',
    /percent, count or both/,
  ],
];

test('malformed policies are refused with the field and the reason', async () => {
  assert.ok(malformed.length >= 20);
  for (const [spec, field, message] of malformed) {
    const { status, body } = await plane.client().send<Refusal>('POST', collection, aPolicy('malformed', spec));
    assert.equal(status, 422, `${JSON.stringify(spec)}: ${JSON.stringify(body)}`);
    const causes = body.details?.causes ?? [];
    assert.ok(
      causes.some((cause) => cause.field === field && message.test(cause.message)),
      `${JSON.stringify(spec)}: ${JSON.stringify(causes)}`,
    );
  }
  const unknown = aPolicy('malformed', { ...selector('a'), maxUnhealthy: '40%' });
  const strict = await plane.client().send<Refusal>('POST', `${collection}?fieldValidation=Strict`, unknown);
  assert.equal(strict.status, 400);
  assert.match(strict.body.message, /unknown field "spec\.maxUnhealthy"/);
});

const fullConfig = `apiVersion: nodelifecycle/v1alpha1
kind: ControllerConfiguration
policies:
  - name: everything
    priority: -3
    nodeSelector:
      matchLabels: { pool.example.com/name: gpu, empty: '' }
      matchExpressions:
        - { key: a, operator: In, values: [b, c] }
        - { key: d, operator: DoesNotExist }
    mode: Observe
    nodeMonitorGracePeriod: 1m30s
    nodeStartupGracePeriod: 500ms
    failureDomain: [topology.example.com/rack]
    outerFailureDomain: [topology.kubernetes.io/zone]
    nodeEvictionRate: 0.25
    secondaryNodeEvictionRate: 0
    fullDisruptionEvictionRate: 1e-3
    largeClusterSizeThreshold: 7
    unhealthyZoneThreshold: 0.55
    podMarkingRate: 12.5
    maintenance: { conditions: [Rebooting], taints: [], maxDuration: 2h }
    limits: { maxUnhealthy: { percent: 40, count: 3 }, cooldown: 10m, resetAt: '2026-11-23T12:05:00.25+01:00', podDeletionsPerSecond: 0.5, maxConcurrentEvictions: 2 }
    outOfService: { conditions: [Fenced], taints: [example.com/off] }
    evictReachable: { timeout: 15m }
    flapping: { recoveries: 3, within: 30m, initial: 1m, max: 2h, budget: { percent: 5, count: 2 } }
  - { name: small.one, nodeSelector: { matchExpressions: [{ key: e, operator: Exists }] } }
`;

async function nlc(...args: readonly string[]): Promise<string> {
  const run = new NlcProcess(args);
  assert.deepEqual(await run.exited, { code: 0, signal: null }, run.stderr);
  return run.stdout;
}

test('config file to objects to config file is lossless', async () => {
  const [config, manifests, objects] = ['config', 'manifests', 'objects'].map((name) =>
    join(plane.folder, `${name}.yaml`),
  );
  assert.ok(config !== undefined && manifests !== undefined && objects !== undefined);
  writeFileSync(config, fullConfig);
  writeFileSync(manifests, await nlc('validate', config, '--output=crd'));
  await kubectl('apply', '--server-side', `--filename=${manifests}`);
  const { items } = await plane.client().must<{ readonly items: readonly PolicyJson[] }>('GET', collection);
  const texts = items.map(({ metadata: { name }, spec }) => JSON.stringify(aPolicy(name, spec)));
  writeFileSync(objects, texts.join('\n---\n'));
  const back = parse(await nlc('validate', objects, '--output=config')) as { readonly policies: readonly unknown[] };
  const { policies } = parse(fullConfig) as { readonly policies: readonly unknown[] };
  assert.deepEqual(back.policies, policies);
  await kubectl('delete', '--all', 'nlp');
});

test('by the audit log the controller used the permissions of the chart, no other, and was refused nothing', async () => {
  await controller.terminate();
  const requests = new AuditTrail(plane.auditLogFile ?? '', account).requests();
  const used = requests
    .filter(({ uri }) => uri.includes(policyResource.group))
    .map(
      ({ verb, resource, subresource }) =>
        `${verb} ${resource}${subresource === '' ? '' : `/${subresource}`}.${policyResource.group}`,
    );
  const granted = permissionsOf({ ...defaultParts, policyObjects: true }).map(permissionText);
  const wanted = granted.filter((text) => text.includes(policyResource.group));
  assert.deepEqual([...new Set(used)].sort(), [...wanted].sort());
  assert.deepEqual(
    requests.filter(({ code }) => code === 403).map(({ verb, uri }) => `${verb} ${uri}`),
    [],
  );
});
