// kube-scheduler and kube-controller-manager, unmodified, on the embedded API server, with hollow nodes and this controller.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { loadConnection } from '../../src/machinery/kubeconfig/connection.ts';
import { SystemClock } from '../../src/machinery/adapters/system-clock.ts';
import { protobufType } from '../../src/machinery/wire/wire-format.ts';
import type { Node } from '../../src/machinery/api/node.ts';
import type { Pod } from '../../src/machinery/api/pod.ts';
import { type RunningApiServer, startApiServer } from '../../src/hollow-cluster/apiserver/http/api-server.ts';
import { WorkloadPrograms } from '../../src/cli/simulation/programs/workload-programs.ts';
import { HollowFleet } from '../../src/hollow-cluster/kubelet/fleet/fleet.ts';
import { demandOf } from '../../src/hollow-cluster/scheduler/node-loads.ts';
import { selectNode } from '../../src/hollow-cluster/scheduler/select-node.ts';
import { type ControlPlaneBinaries, findControlPlane } from '../../tools/control-plane/binaries.ts';
import { SeededRandom, silentLogger } from '../support/fakes.ts';
import { makeKubeApi } from '../support/make-kube-api.ts';
import { RecordingProxy } from '../support/recording-proxy.ts';
import { NlcProcess } from '../support/nlc-process.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { RestClient } from './rest-client.ts';
import { waitUntil } from './wait-until.ts';

const nodeNames = ['n-0', 'n-1', 'n-2', 'n-3', 'n-4', 'n-5'];
const timeoutMs = 30_000;
const tolerationSeconds = 1;
const profile = {
  leaseDurationSeconds: 4,
  nodeStatusUpdateFrequencyMs: 1_000,
  podStartDelayMs: 100,
  podStopDelayMs: 100,
  podStatusPassMs: 1_000,
} as const;

interface Listed<T> {
  readonly items: readonly T[];
}

interface Workload {
  readonly metadata: { readonly name: string; readonly ownerReferences?: readonly { readonly name: string }[] };
  readonly status?: Readonly<Record<string, unknown>>;
}

describe('kube-scheduler and kube-controller-manager on the embedded API server', { timeout: 180_000 }, () => {
  const folder = tempFolder();
  const kubeconfig = join(folder, 'kubeconfig');
  const clock = new SystemClock();
  const ending = new AbortController();
  const running: Promise<unknown>[] = [];
  let binaries: ControlPlaneBinaries;
  let server: RunningApiServer;
  let fleet: HollowFleet;
  let controller: NlcProcess;
  let programs: WorkloadPrograms;
  let proxy: RecordingProxy;
  let client: RestClient;
  let close = async (): Promise<void> => {};

  before(async () => {
    const found = findControlPlane();
    if ('missing' in found) throw new Error(found.missing);
    binaries = found;
    const random = new SeededRandom(1);
    const defaultTolerationSeconds = tolerationSeconds;
    server = await startApiServer({ clock, random, logger: silentLogger, defaultTolerationSeconds });
    writeFileSync(kubeconfig, server.kubeconfig());
    client = new RestClient({ url: server.url, ca: server.caPem ?? '', token: server.adminToken });
    const api = makeKubeApi(await loadConnection({ kubeconfig }), { qps: 1_000, burst: 2_000 });
    close = () => api.close();
    const nodes = nodeNames.map((name) => ({ name, labels: {} }));
    fleet = new HollowFleet({ nodes, api, clock, random, logger: silentLogger, profile });
    running.push(fleet.run(ending.signal));
    const times = ['--node-monitor-period=1s', '--node-monitor-grace-period=5s', '--node-eviction-rate=10'];
    controller = NlcProcess.controller(kubeconfig, ...times, '--leader-elect=false', '--unhealthy-zone-threshold=0.9');
    const files = new Map([
      ['kube-scheduler', binaries.kubeScheduler],
      ['kube-controller-manager', binaries.kubeControllerManager],
    ] as const);
    proxy = await RecordingProxy.start({ url: server.url, ca: server.caPem, token: server.adminToken });
    const recorded = join(folder, 'recorded.kubeconfig');
    writeFileSync(
      recorded,
      server
        .kubeconfig()
        .replace(server.url, proxy.url)
        .replace(/^.*certificate-authority-data.*\n/m, ''),
    );
    const about = { files, kubeconfigFile: recorded, folder: join(folder, 'programs'), clock };
    programs = await WorkloadPrograms.start({ ...about, leaderElect: true });
    await waitUntil('ready nodes without taints', { timeoutMs }, async () => {
      const nodes = await list<Node>('/api/v1/nodes');
      return nodes.length === nodeNames.length && nodes.every(({ spec }) => (spec?.taints ?? []).length === 0);
    });
  });

  after(async () => {
    await programs?.stop();
    await proxy?.stop();
    await controller?.kill();
    ending.abort();
    await Promise.all(running);
    await client?.close();
    await close();
    await server?.close();
  });

  /** Runs kubectl and returns what it printed; fails with its error. */
  async function kubectl(...args: readonly string[]): Promise<string> {
    const env = { HOME: folder, PATH: process.env['PATH'], KUBECONFIG: kubeconfig };
    const child = spawn(binaries.kubectl, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const output = { out: '', error: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output.out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output.error += text));
    const code = await new Promise((resolve) => child.once('close', resolve));
    assert.equal(code, 0, `kubectl ${args.join(' ')}: ${output.error}`);
    return output.out;
  }

  function file(body: unknown): string {
    const path = join(folder, 'body.json');
    writeFileSync(path, JSON.stringify(body));
    return path;
  }

  async function list<T = Workload>(path: string): Promise<readonly T[]> {
    return (await client.must<Listed<T>>('GET', path)).items;
  }

  const podsOf = (app: string, namespace = 'default'): Promise<readonly Pod[]> =>
    list<Pod>(`/api/v1/namespaces/${namespace}/pods?labelSelector=app%3D${app}`);

  function isReady({ metadata, status }: Pod): boolean {
    const ready = status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';
    return ready && status?.phase === 'Running' && metadata.deletionTimestamp === undefined;
  }

  /** Waits until exactly so many pods are ready, of a state that `check` accepts, and returns them. */
  async function readyPods(
    app: string,
    count: number,
    check: (pod: Pod) => boolean = () => true,
  ): Promise<readonly Pod[]> {
    let found: readonly Pod[] = [];
    await waitUntil(`${count} ready pods of ${app}`, { timeoutMs }, async () => {
      assert.equal(programs.failure(), undefined);
      found = (await podsOf(app)).filter((pod) => isReady(pod) && check(pod));
      return found.length === count;
    });
    return found;
  }

  it('kubectl create deployment --replicas=3 ends in three running pods on different nodes', async () => {
    await kubectl('create', 'deployment', 'web', '--image=registry.example/web:1', '--replicas=3');
    const pods = await readyPods('web', 3);
    assert.equal(new Set(pods.map(({ spec }) => spec?.nodeName)).size, 3);
    await kubectl('rollout', 'status', 'deployment/web', '--timeout=20s');
  });

  it('scaling and a new image are rolled out', async () => {
    await kubectl('scale', 'deployment/web', '--replicas=5');
    await readyPods('web', 5);
    await kubectl('set', 'image', 'deployment/web', '*=registry.example/web:2');
    await kubectl('rollout', 'status', 'deployment/web', '--timeout=30s');
    await readyPods('web', 5, ({ spec }) => spec?.containers?.[0]?.image === 'registry.example/web:2');
    assert.equal((await list('/apis/apps/v1/namespaces/default/replicasets')).length, 2);
  });

  it('a budget, the endpoints of a Service and the default service account follow', async () => {
    await kubectl('expose', 'deployment', 'web', '--port=80');
    await kubectl('create', 'poddisruptionbudget', 'web', '--selector=app=web', '--min-available=4');
    await waitUntil('endpoints and budget', { timeoutMs }, async () => {
      // One slice for each address family: a Service without rules of its own names none.
      const slices = await list<{ readonly endpoints?: readonly unknown[] }>(
        '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3Dweb',
      );
      const [budget] = await list('/apis/policy/v1/namespaces/default/poddisruptionbudgets');
      return (
        slices.flatMap(({ endpoints }) => endpoints ?? []).length === 5 && budget?.status?.['disruptionsAllowed'] === 1
      );
    });
    const accounts = await list('/api/v1/namespaces/default/serviceaccounts');
    assert.deepEqual(
      accounts.map(({ metadata }) => metadata.name),
      ['default'],
    );
  });

  it('a DaemonSet has a pod on each node, a StatefulSet makes its pods in order', async () => {
    const labels = { app: 'agent' };
    const spec = { containers: [{ name: 'main', image: 'registry.example/agent:1' }] };
    const template = { metadata: { labels }, spec };
    const daemons = {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name: 'agent' },
      spec: { selector: { matchLabels: labels }, template },
    };
    await kubectl('create', '-f', file(daemons));
    const own = { app: 'ordered' };
    const ordered = {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'ordered' },
      spec: {
        serviceName: 'ordered',
        replicas: 2,
        selector: { matchLabels: own },
        template: { metadata: { labels: own }, spec },
      },
    };
    await kubectl('create', '-f', file(ordered));
    const agents = await readyPods('agent', nodeNames.length);
    assert.deepEqual(new Set(agents.map((pod) => pod.spec?.nodeName)), new Set(nodeNames));
    const names = (await readyPods('ordered', 2)).map(({ metadata }) => metadata.name);
    assert.deepEqual(new Set(names), new Set(['ordered-0', 'ordered-1']));
  });

  it('the scheduler stand-in gives the same reasons as kube-scheduler', async () => {
    await kubectl('cordon', 'n-0');
    await kubectl('taint', 'nodes', 'n-1', 'n-2', 'dedicated=other:NoSchedule');
    const container = {
      name: 'main',
      image: 'registry.example/web:1',
      resources: { requests: { cpu: '900', memory: '4Ti' } },
    };
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'large' }, spec: { containers: [container] } };
    await kubectl('create', '-f', file(pod));
    let stored: Pod | undefined;
    let message: string | undefined;
    await waitUntil('the condition of kube-scheduler', { timeoutMs }, async () => {
      stored = await client.must<Pod>('GET', '/api/v1/namespaces/default/pods/large');
      message = stored.status?.conditions?.find(({ type }) => type === 'PodScheduled')?.message;
      return message !== undefined;
    });
    const nodes = await list<Node>('/api/v1/nodes');
    const pods = await list<Pod>('/api/v1/pods');
    const loads = nodes.map((node) => {
      const name = node.metadata.name ?? '';
      return { name, node, pods: pods.filter(({ spec }) => spec?.nodeName === name).map(demandOf) };
    });
    assert.ok(stored !== undefined);
    const placement = selectNode(stored, demandOf(stored), loads, 0);
    assert.equal(placement.kind === 'unschedulable' && placement.message, message?.replace(/\. .*$/, '.'));
    await kubectl('delete', 'pod', 'large');
    await kubectl('taint', 'nodes', 'n-1', 'n-2', 'dedicated-');
    await kubectl('uncordon', 'n-0');
  });

  it('an outage of nodes moves the pods to other nodes', async () => {
    const lost = [...new Set((await podsOf('web')).map(({ spec }) => spec?.nodeName ?? ''))].slice(0, 2);
    fleet.cutOff(lost);
    await readyPods('web', 5, ({ spec }) => !lost.includes(spec?.nodeName ?? ''));
    fleet.reconnect(lost);
    await waitUntil('the end of the pods on the lost nodes', { timeoutMs }, async () => {
      const pods = await podsOf('web');
      return pods.length === 5 && pods.every(isReady);
    });
    await readyPods('agent', nodeNames.length);
  });

  it('the deletion of an owner deletes what it owns, and --cascade=orphan keeps it', async () => {
    await readyPods('ordered', 2);
    await kubectl('delete', 'statefulset', 'ordered', '--cascade=orphan');
    await kubectl('delete', 'deployment', 'web', '--cascade=foreground');
    await waitUntil('garbage collection', { timeoutMs }, async () => {
      const owned = await list('/apis/apps/v1/namespaces/default/replicasets');
      return owned.length === 0 && (await podsOf('web')).length === 0;
    });
    const orphans = await podsOf('ordered');
    assert.deepEqual(
      [orphans.length, orphans.filter(({ metadata }) => metadata.ownerReferences !== undefined)],
      [2, []],
    );
  });

  it('the deletion of a namespace deletes its content', async () => {
    await kubectl('create', 'namespace', 'short');
    await kubectl('create', 'deployment', 'web', '--image=registry.example/web:1', '--replicas=2', '-n', 'short');
    await kubectl('create', 'configmap', 'settings', '--from-literal=a=b', '-n', 'short');
    await waitUntil('pods', { timeoutMs }, async () => (await podsOf('web', 'short')).filter(isReady).length === 2);
    await kubectl('delete', 'namespace', 'short', '--timeout=30s');
    const left = (await list('/api/v1/namespaces')).map(({ metadata }) => metadata.name);
    assert.ok(!left.includes('short'), left.join(' '));
  });

  it('both programs are answered in protobuf, also on watches', () => {
    for (const name of ['kube-scheduler', 'kube-controller-manager']) {
      const read = proxy.requests.filter(({ method, path, userAgent }) => {
        return (
          method === 'GET' && userAgent.startsWith(`${name}/`) && /^\/apis?\/.*\/(pods|nodes|replicasets)\?/.test(path)
        );
      });
      const types = new Set(read.filter(({ status }) => status === 200).map(({ contentType }) => contentType));
      assert.ok(read.length >= 2, name);
      assert.deepEqual([...types], [`${protobufType};stream=watch`], name);
    }
    const writes = proxy.writes.filter(
      ({ userAgent, path }) => userAgent.startsWith('kube-') && path.includes('/pods'),
    );
    assert.deepEqual([...new Set(writes.map(({ contentType }) => contentType))], [protobufType]);
  });

  it('no program failed to read or write anything', () => {
    assert.equal(programs.failure(), undefined);
    for (const name of ['kube-scheduler', 'kube-controller-manager']) {
      const lines = readFileSync(join(programs.folder, `${name}.log`), 'utf8').split('\n');
      const failures = lines.filter((line) =>
        /could not find the requested|Failed to watch|not supported|forbidden/.test(line),
      );
      assert.deepEqual(
        failures.slice(0, 3).map((line) => line.slice(0, 200)),
        [],
        name,
      );
    }
  });
});
