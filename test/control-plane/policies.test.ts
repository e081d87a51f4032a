// Policies on a real kube-apiserver: pools with settings of their own side by side, under one controller.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import {
  fencedAnnotation,
  flappingAnnotation,
  outOfServiceAnnotation,
  pauseAnnotation,
} from '../../src/machinery/api/node.ts';
import { formatTime } from '../../src/machinery/api/timestamps.ts';
import { outOfServiceLabel } from '../../src/machinery/api/topology.ts';
import type { WhatifReport } from '../../src/cli/whatif/compare-previews.ts';
import { ConfigMapFolder } from '../support/config-map-folder.ts';
import { NlcProcess } from '../support/nlc-process.ts';
import { AuditTrail } from './audit-trail.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import { ScriptedCluster } from './scripted-cluster.ts';
import { waitUntil } from './wait-until.ts';

const soon = { timeoutMs: 30_000 };
const graceMs = 8_000;
const rackedGraceMs = 5_000;
const zonedGraceMs = 10_000;
const merge = { contentType: 'application/merge-patch+json' } as const;
const strategic = { contentType: 'application/strategic-merge-patch+json' } as const;
const wanted = ['unreachable:NoExecute', 'unreachable:NoSchedule'];

/** Pool to its nodes, two zones. */
const pools = {
  base: ['base-0', 'base-1', 'base-2', 'base-3', 'base-4', 'base-5'],
  patient: ['patient-0', 'patient-1', 'patient-2'],
  watched: ['watched-0', 'watched-1', 'watched-2'],
  limited: ['limited-0', 'limited-1', 'limited-2', 'limited-3', 'limited-4'],
  kept: ['kept-0', 'kept-1', 'kept-2'],
  fenced: ['fenced-0', 'fenced-1', 'fenced-2'],
  flapping: ['flapping-0', 'flapping-1', 'flapping-2'],
  careful: ['careful-0', 'careful-1', 'careful-2'],
  racked: ['racked-0', 'racked-1', 'racked-2', 'racked-3', 'racked-4', 'racked-5'],
  zoned: ['zoned-0', 'zoned-1', 'zoned-2', 'zoned-3', 'zoned-4', 'zoned-5'],
} as const;

const rackLabel = 'topology.example.com/rack';

function labelsOf(pool: string, place: number): Readonly<Record<string, string>> {
  return pool === 'racked' ? { pool, [rackLabel]: place < 4 ? 'r1' : 'r2' } : { pool };
}

/** Instead of those for 300 s that the API server adds. */
const atOnce = [{ key: 'node.kubernetes.io/not-ready' }, { key: 'node.kubernetes.io/unreachable' }].map(({ key }) => {
  return { key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 1 };
});

const configOf = (cooldown: string): string => `apiVersion: nodelifecycle/v1alpha1
kind: ControllerConfiguration
nodeMonitorPeriod: 1s
nodeMonitorGracePeriod: ${graceMs}ms
nodeEvictionRate: 10
secondaryNodeEvictionRate: 10
largeClusterSizeThreshold: 0
unhealthyZoneThreshold: 1
controlPlanePathFailureHold: 0s
policies:
  - { name: patient, nodeSelector: { matchLabels: { pool: patient } }, nodeMonitorGracePeriod: 25s }
  - { name: watched, nodeSelector: { matchLabels: { pool: watched } }, mode: Observe }
  - name: limited
    nodeSelector: { matchLabels: { pool: limited } }
    limits: { maxUnhealthy: { percent: 20, count: 1 }, cooldown: ${cooldown} }
  - name: kept
    nodeSelector: { matchLabels: { pool: kept } }
    maintenance: { conditions: [MaintenanceInProgress], maxDuration: 30s }
  - name: fenced
    nodeSelector: { matchLabels: { pool: fenced } }
    outOfService: {}
  - name: flapping
    nodeSelector: { matchLabels: { pool: flapping } }
    flapping: { recoveries: 2, within: 10m }
  - name: careful
    nodeSelector: { matchLabels: { pool: careful } }
    evictReachable: { timeout: 5m }
  - name: racked
    nodeSelector: { matchLabels: { pool: racked } }
    nodeMonitorGracePeriod: ${rackedGraceMs}ms
    failureDomain: [${rackLabel}]
    unhealthyZoneThreshold: 0.6
    largeClusterSizeThreshold: 50
  - name: zoned
    nodeSelector: { matchLabels: { pool: zoned } }
    nodeMonitorGracePeriod: ${zonedGraceMs}ms
    failureDomain: [topology.kubernetes.io/zone]
    nodeEvictionRate: 0.5
`;

let plane: ControlPlane;
let cluster: ScriptedCluster;
let controller: NlcProcess | undefined;
const mount = new ConfigMapFolder(configOf('5s'));

before(async () => {
  const nodeWrites = {
    level: 'Request',
    verbs: ['patch'],
    resources: [{ group: '', resources: ['nodes', 'nodes/status'] }],
  } as const;
  plane = await startControlPlane({ auditLevel: 'Metadata', auditRules: [nodeWrites, { level: 'Metadata' }] });
  cluster = new ScriptedCluster(plane.client());
  for (const [pool, names] of Object.entries(pools))
    for (const [place, name] of names.entries())
      await cluster.addNode(name, `z${place % 2}`, { labels: labelsOf(pool, place) });
  for (const [pool, names] of Object.entries(pools))
    for (const name of names) await cluster.addPod(`on-${name}`, name, pool === 'careful' ? atOnce : []);
  cluster.start();
});

after(async () => {
  await controller?.kill();
  await cluster.stop();
  await plane.stop();
  mount.remove();
});

/** Names of objects that the controller wrote: nodes and pods, not Events and leases. */
function writtenNames(): readonly string[] {
  return readFileSync(plane.auditLogFile ?? '', 'utf8')
    .split('\n')
    .filter((line) => line.includes('"userAgent":"node-lifecycle-controller/'))
    .filter((line) => /"verb":"(create|update|patch|delete)"/.test(line))
    .flatMap((line) => /"resource":"(?:nodes|pods)"[^}]*"name":"([^"]+)"/.exec(line)?.[1] ?? []);
}

/** When a write of the node with this text in it was received, by the audit log: wall time; NaN: none was. */
function writtenAtMs(node: string, text: string): number {
  const write = new AuditTrail(plane.auditLogFile ?? '').requests().find(({ verb, resource, name, code, body }) => {
    const isOfNode = verb === 'patch' && resource === 'nodes' && name === node && code === 200;
    return isOfNode && JSON.stringify(body ?? {}).includes(text);
  });
  return write?.atMs ?? NaN;
}

/** Wall time of the last renewal of its lease. */
function renewedAtMs(node: string): number {
  return performance.timeOrigin + (cluster.renewedAtMs(node) ?? NaN);
}

async function annotate(name: string, annotations: Readonly<Record<string, string | null>>): Promise<void> {
  await plane.client().must('PATCH', `/api/v1/nodes/${name}`, { metadata: { annotations } }, merge);
}

async function untilTainted(...names: readonly string[]): Promise<void> {
  for (const name of names) {
    await waitUntil(`${name} has both taints`, soon, async () => {
      const taints = await cluster.taints(name);
      return wanted.every((taint) => taints.includes(taint));
    });
  }
}

async function isTainted(name: string): Promise<boolean> {
  return (await cluster.taints(name)).includes('unreachable:NoExecute');
}

/** What `nlc whatif` needs. */
async function grantReading(account: string): Promise<void> {
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  const verbs = ['get', 'list', 'watch'];
  const rules = [
    { apiGroups: [''], resources: ['nodes', 'pods'], verbs },
    { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs },
  ];
  await plane.client().must('POST', `${rbac}/clusterroles`, { metadata: { name: account }, rules });
  await plane.client().must('POST', `${rbac}/clusterrolebindings`, {
    metadata: { name: account },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: account },
    subjects: [{ kind: 'ServiceAccount', name: account, namespace: 'kube-system' }],
  });
}

async function start(): Promise<NlcProcess> {
  const running = NlcProcess.controller(plane.kubeconfigFile, `--config=${mount.file}`);
  controller = running;
  await waitUntil('leading', soon, () => running.said('leading'));
  await cluster.untilClean(
    ...Object.values(pools)
      .flat()
      .filter((name) => !name.startsWith('watched')),
  );
  return running;
}

test('each pool behaves by its own policy', { timeout: 300_000 }, async (t) => {
  const running = await start();

  await t.test('a longer grace period, Observe, and a pause of one node', async () => {
    await annotate('base-1', { [pauseAnnotation]: 'true' });
    const silentAtMs = Date.now();
    for (const name of ['base-0', 'base-1', 'patient-0', 'watched-0']) cluster.stopHeartbeats(name);
    await untilTainted('base-0');
    assert.equal(await cluster.ready('patient-0'), 'True');
    assert.ok(Date.now() - silentAtMs < 20_000);
    await untilTainted('patient-0');
    assert.ok(Date.now() - silentAtMs >= 24_000, `after ${Date.now() - silentAtMs} ms`);
    assert.deepEqual([await cluster.ready('base-1'), await cluster.taints('base-1')], ['True', []]);
    assert.ok((await cluster.pod('on-base-1')) !== undefined);
    assert.deepEqual(
      writtenNames().filter((name) => name.includes('watched')),
      [],
      'by the audit log',
    );
    assert.match(await running.page('/metrics'), /withheld_acts_total\{policy="watched",act="mark-unknown"\} 1\n/);
    await annotate('base-1', { [pauseAnnotation]: null });
    await untilTainted('base-1');
  });

  await t.test(
    'a pool of racks and a pool of zones: each by its own disruption state, rate and grace period',
    async () => {
      const failed = pools.racked.slice(0, 3);
      const silent = ['zoned-0', 'zoned-2'];
      for (const name of [...failed, ...silent]) cluster.stopHeartbeats(name);
      await untilTainted(...silent);
      for (const name of failed) {
        const afterMs = writtenAtMs(name, 'NodeStatusUnknown') - renewedAtMs(name);
        assert.ok(afterMs >= rackedGraceMs && afterMs < zonedGraceMs, `${name}: Unknown after ${afterMs} ms`);
      }
      const [firstMs = NaN, secondMs = NaN] = silent
        .map((name) => writtenAtMs(name, 'NoExecute'))
        .sort((a, b) => a - b);
      const afterMs = firstMs - Math.max(...silent.map(renewedAtMs));
      assert.ok(afterMs >= zonedGraceMs - 100 && afterMs < zonedGraceMs + 5_000, `tainted after ${afterMs} ms`);
      assert.ok(
        secondMs - firstMs >= 1_900 && secondMs - firstMs < 6_000,
        `the next one ${secondMs - firstMs} ms later`,
      );

      const waiting: string[] = [];
      for (const name of failed) if (!(await isTainted(name))) waiting.push(name);
      assert.ok(waiting.length >= 2, 'at most the one that was due before the others');
      assert.match(
        await running.page(`/explain/nodes/${waiting[0]}?output=text`),
        /zone +racked:r1: 3\/4 not ready = 0\.75 >= 0\.6 -> partially-disrupted, zone size 4 <= 50 -> rate 0$/m,
      );
      assert.match(
        await running.page('/explain/nodes/zoned-0?output=text'),
        /zone +zoned:z0: 2\/3 not ready = 0\.67 < 1 -> normal -> rate 0\.5$/m,
      );
      const [back = '', ...others] = waiting;
      const backAtMs = Date.now();
      await cluster.resumeHeartbeats(back);
      await untilTainted(...others);
      for (const name of others) assert.ok(writtenAtMs(name, 'NoExecute') >= backAtMs, 'when the rack is normal again');
    },
  );

  await t.test('nlc whatif with another file says what would be done, and only reads', async () => {
    const token = await plane.addServiceAccount('kube-system', 'reader');
    await grantReading('reader');
    const candidate = join(plane.folder, 'candidate.yaml');
    writeFileSync(candidate, configOf('5s').replace('mode: Observe', 'mode: Enforce'));
    const files = [`--policies=${candidate}`, `--config=${mount.file}`];
    await using whatif = new NlcProcess([
      'whatif',
      `--kubeconfig=${plane.kubeconfigFor(token)}`,
      ...files,
      '-o',
      'json',
    ]);
    assert.deepEqual(await whatif.exited, { code: 0, signal: null }, whatif.stderr);
    const { effects, nodes } = JSON.parse(whatif.stdout) as WhatifReport;
    assert.deepEqual([effects.markedUnknown, effects.taintsAdded], [['watched-0'], ['watched-0']]);
    assert.deepEqual(
      nodes.map(({ name, before, after }) => [name, before?.mode, after?.mode]),
      pools.watched.map((name) => [name, 'Observe', 'Enforce']),
    );
    const requests = new AuditTrail(plane.auditLogFile ?? '', 'system:serviceaccount:kube-system:reader').requests();
    const verbs = new Set(requests.map(({ verb, resource }) => `${verb} ${resource}`));
    const reads = ['nodes', 'pods', 'leases'].flatMap((resource) =>
      ['list', 'watch'].map((verb) => `${verb} ${resource}`),
    );
    assert.ok(requests.length > 0);
    assert.deepEqual(
      [...verbs].filter((verb) => !reads.includes(verb)),
      [],
    );
    assert.deepEqual(
      requests.filter(({ code }) => code >= 400).map(({ uri }) => uri),
      [],
    );
    assert.equal(await cluster.ready('watched-0'), 'True');
  });

  await t.test('a breaker opens above its limit, holds, and closes after its cooldown', async () => {
    for (const name of pools.limited.slice(0, 3)) cluster.stopHeartbeats(name);
    for (const name of pools.limited.slice(0, 3))
      await waitUntil(`${name} is Unknown`, soon, async () => (await cluster.ready(name)) === 'Unknown');
    await waitUntil('the breaker is open', soon, async () => {
      return /policy_breaker_open\{policy="limited"\} 1\n/.test(await running.page('/metrics'));
    });
    const tainted = await Promise.all(pools.limited.map(isTainted));
    assert.ok(tainted.filter(Boolean).length <= 1, 'at most the one within the limit');
    await cluster.resumeHeartbeats('limited-1');
    await cluster.resumeHeartbeats('limited-2');
    await untilTainted('limited-0');
    assert.match(await running.page('/metrics'), /policy_breaker_open\{policy="limited"\} 0\n/);
  });

  await t.test('a node in maintenance is Unknown and keeps its pods until the maximum', async () => {
    const at = formatTime(Date.now());
    const condition = { type: 'MaintenanceInProgress', status: 'True', reason: 'Planned', message: 'reboot' };
    const conditions = [{ ...condition, lastHeartbeatTime: at, lastTransitionTime: at }];
    await plane.client().must('PATCH', '/api/v1/nodes/kept-0/status', { status: { conditions } }, strategic);
    const begunAtMs = Date.now();
    cluster.stopHeartbeats('kept-0');
    await waitUntil('Unknown', soon, async () => (await cluster.ready('kept-0')) === 'Unknown');
    assert.match(await running.page('/explain/nodes/kept-0?output=text'), /in planned maintenance \(policy kept\)/);
    assert.equal(await isTainted('kept-0'), false);
    await untilTainted('kept-0');
    assert.ok(Date.now() - begunAtMs >= 29_000, `after ${Date.now() - begunAtMs} ms`);
  });

  await t.test('out-of-service with evidence that the boot was fenced, and never without', async () => {
    for (const name of ['fenced-0', 'fenced-1']) {
      const labels = { [outOfServiceLabel]: 'allowed' };
      await plane.client().must('PATCH', `/api/v1/nodes/${name}`, { metadata: { labels } }, merge);
      cluster.stopHeartbeats(name);
    }
    await untilTainted('fenced-0', 'fenced-1');
    await annotate('fenced-1', { [fencedAnnotation]: 'boot-of-another-node' });
    await annotate('fenced-0', { [fencedAnnotation]: 'boot-of-fenced-0' });
    await waitUntil('out of service', soon, async () => {
      return (await cluster.taints('fenced-0')).includes('out-of-service:NoExecute');
    });
    const { metadata } = await plane
      .client()
      .must<{ readonly metadata: { readonly annotations: Readonly<Record<string, string>> } }>(
        'GET',
        '/api/v1/nodes/fenced-0',
      );
    assert.match(metadata.annotations[outOfServiceAnnotation] ?? '', /"bootID":"boot-of-fenced-0"/);
    const explained = await running.page('/explain/nodes/fenced-0?output=text');
    assert.match(explained, /fencing +out of service since .*annotation nodelifecycle\/fenced/);
    assert.match(
      await running.page('/explain/nodes/fenced-1?output=text'),
      /fencing +nothing proves that it was fenced/,
    );
    assert.deepEqual(await cluster.taints('fenced-1'), wanted);

    const status = { nodeInfo: { bootID: 'another-boot' } };
    await plane.client().must('PATCH', '/api/v1/nodes/fenced-0/status', { status }, merge);
    await cluster.resumeHeartbeats('fenced-0');
    await cluster.untilClean('fenced-0');
    for (const reason of ['NodeOutOfService', 'NodeBackInService'])
      await waitUntil(`Event ${reason}`, soon, async () =>
        (await cluster.events()).some((event) => event.involvedObject.name === 'fenced-0' && event.reason === reason),
      );
  });

  await t.test('a node that recovered twice is kept from new pods, until the annotation is removed', async () => {
    const name = 'flapping-0';
    for (let left = 2; left > 0; left -= 1) {
      cluster.stopHeartbeats(name);
      await untilTainted(name);
      await cluster.resumeHeartbeats(name);
      await waitUntil('recovered', soon, async () =>
        (await cluster.taints(name)).every((taint) => !wanted.includes(taint)),
      );
    }
    assert.deepEqual(await cluster.taints(name), [`${flappingAnnotation}:NoSchedule`]);
    assert.match(
      await running.page(`/explain/nodes/${name}?output=text`),
      /flapping +no new pods until .* \(level 1\)/,
    );
    await annotate(name, { [flappingAnnotation]: null });
    await cluster.untilClean(name);
    assert.match(await running.page('/metrics'), /flapping_recoveries_total\{policy="flapping",result="kept"\} 1\n/);
  });

  await t.test(
    'a budget holds the pod of a reachable node until it allows it, and not that of an unreachable one',
    async () => {
      const client = plane.client();
      const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
      const labels = { app: 'careful' };
      for (const name of ['on-careful-0', 'on-careful-1'])
        await client.must('PATCH', `/api/v1/namespaces/default/pods/${name}`, { metadata: { labels } }, merge);
      const spec = { minAvailable: 1, selector: { matchLabels: labels } };
      await client.must('POST', budgets, { metadata: { name: 'careful' }, spec });
      // No disruption controller runs here that would set it.
      const allow = (disruptionsAllowed: number): Promise<unknown> => {
        const status = {
          disruptionsAllowed,
          observedGeneration: 1,
          currentHealthy: 2,
          desiredHealthy: 2 - disruptionsAllowed,
          expectedPods: 2,
        };
        return client.must('PATCH', `${budgets}/careful/status`, { status }, merge);
      };
      await allow(0);
      await cluster.post('careful-0', { Ready: 'False' });
      cluster.stopHeartbeats('careful-1');
      await waitUntil('the pod of the unreachable node is gone', soon, async () => {
        return (await cluster.pod('on-careful-1')) === undefined;
      });
      assert.match(await running.page('/metrics'), /evictions_refused_total\{reason="budget"\} [1-9]/);
      assert.match(
        await running.page('/explain/pods/default/on-careful-0?output=text'),
        /waits for a PodDisruptionBudget since .*: The disruption budget careful needs 2 healthy pods and has 2 currently/,
      );
      assert.ok((await cluster.pod('on-careful-0')) !== undefined);
      await allow(1);
      await waitUntil('the budget allows the eviction', { timeoutMs: 40_000 }, async () => {
        return (await cluster.pod('on-careful-0')) === undefined;
      });
      const evictions = readFileSync(plane.auditLogFile ?? '', 'utf8')
        .split('\n')
        .filter((line) => line.includes('/pods/on-careful-0/eviction') && line.includes('"verb":"create"'));
      assert.ok(evictions.length >= 2, 'asked by the Eviction API');
    },
  );
});
