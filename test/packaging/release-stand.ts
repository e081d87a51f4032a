// A real control plane with scripted nodes, on which releases of the chart are applied and their controllers run with what
// a pod would have: the config file and the service account of the release.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { AuditTrail } from '../control-plane/audit-trail.ts';
import { type ControlPlane, type ControllerManager, startControlPlane } from '../control-plane/control-plane.ts';
import { ScriptedCluster } from '../control-plane/scripted-cluster.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { NlcProcess } from '../support/nlc-process.ts';
import { refusedOf, unusedOf } from './granted-use.ts';
import { namespaceObjects } from './manifest-pages.ts';
import { defaultParts, type Parts, permissionsOf } from './permissions.ts';
import { type KubeManifest, namespace, pick, renderChart } from './render.ts';

/** Generous: a loaded machine is no fault. */
export const soon = { timeoutMs: 60_000 };

/** Settings under which a silent node is noticed within seconds. */
export const quick = `
  nodeMonitorPeriod: 1s
  nodeMonitorGracePeriod: 6s
  nodeEvictionRate: 10
  logFormat: json`;
const quickFlags = ['--node-monitor-period=1s', '--node-monitor-grace-period=6s', '--node-eviction-rate=10'];

/** As whom kube-controller-manager does what the two controllers do. */
const inTreeAccount = 'system:serviceaccount:kube-system:node-controller';

/** Without WatchList the controller lists and then watches, as it does on servers before 1.35: both verbs are granted. */
const withoutWatchList = ['--feature-gates=WatchList=false'];

export interface Release {
  readonly name: string;
  readonly values: string;
  readonly parts: Partial<Parts>;
}

/** What somebody has asked of kube-apiserver so far. */
export type Trail = Pick<AuditTrail, 'requests'>;

export interface RunningRelease extends Trail {
  readonly controller: NlcProcess;
  readonly parts: Parts;
}

const atWork = /^leading$|^in shadow/;

export const yamlOf = (objects: readonly object[]): string => objects.map((object) => stringify(object)).join('---\n');

export class ReleaseStand {
  readonly plane: ControlPlane;
  readonly cluster: ScriptedCluster;
  readonly #controllers = new Set<NlcProcess>();
  readonly #managers = new Set<ControllerManager>();

  private constructor(plane: ControlPlane) {
    this.plane = plane;
    this.cluster = new ScriptedCluster(plane.client());
  }

  /** Six nodes in two zones, alive, and the namespace of the releases. */
  static async start(apiServerArgs: readonly string[] = withoutWatchList): Promise<ReleaseStand> {
    const stand = new ReleaseStand(await startControlPlane({ auditLevel: 'Metadata', apiServerArgs }));
    const { cluster } = stand;
    await cluster.addNode('n0', 'z0', { labels: { 'kubernetes.io/os': 'linux' } });
    for (let i = 1; i < 6; i++) await cluster.addNode(`n${i}`, `z${i % 2}`);
    cluster.start();
    await stand.apply(namespaceObjects());
    return stand;
  }

  async stop(): Promise<void> {
    await this.clear();
    await this.cluster.stop();
    await this.plane.stop();
  }

  /** Ends what a test has started. Prints what a controller said that it left running: the test failed. */
  async clear(): Promise<void> {
    for (const controller of this.#controllers) {
      if (!controller.hasEnded) console.log(controller.stderr);
      await controller.kill();
    }
    for (const manager of this.#managers) await manager.stop();
    this.#controllers.clear();
    this.#managers.clear();
    // The next one leads at once.
    const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
    await this.plane.client().send('DELETE', `${leases}/node-lifecycle-controller`);
  }

  async apply(objects: readonly object[], ...options: readonly string[]): Promise<void> {
    const args = ['apply', '--server-side', '--validate=strict', ...options, '--filename=-'];
    const { code, stderr } = await this.plane.kubectl(args, yamlOf(objects));
    assert.equal(code, 0, stderr);
    assert.equal(stderr, '', 'no warning');
  }

  /** Applies a release and runs its controller; resolves when it is at work. */
  async install({ name, values, parts }: Release): Promise<RunningRelease> {
    const objects = renderChart({ release: name, values });
    await this.apply(objects);
    const account = pick(objects, 'ServiceAccount').metadata.name;
    const controller = new NlcProcess([
      'controller',
      `--config=${this.#configFile(name, objects)}`,
      `--kubeconfig=${this.plane.kubeconfigFor(await this.#tokenOf(account))}`,
      '--metrics-bind-address=127.0.0.1:0',
      '--health-probe-bind-address=127.0.0.1:0',
    ]);
    this.#controllers.add(controller);
    const trail = this.#trailOf(`system:serviceaccount:${namespace}:${account}`);
    await waitUntil(`${name} works`, soon, () => controller.logs().find(({ msg }) => atWork.test(String(msg))));
    return { controller, requests: () => trail.requests(), parts: { ...defaultParts, ...parts } };
  }

  /**
   * A kube-controller-manager that runs these controllers and no others, each as its own service account with the role
   * that every cluster has for it.
   */
  async startInTree(...controllers: readonly string[]): Promise<void> {
    const flags = [`--controllers=${controllers.join(',')}`, '--use-service-account-credentials', ...quickFlags];
    this.#managers.add(await this.plane.startControllerManager(flags));
  }

  /** What the controllers of {@link startInTree} ask for from now on. */
  inTreeTrail(): Trail {
    const fromMs = Date.now();
    const trail = this.#trailOf(inTreeAccount);
    return { requests: () => trail.requests().filter(({ atMs }) => atMs >= fromMs) };
  }

  #trailOf(user: string): Trail {
    return new AuditTrail(this.plane.auditLogFile ?? '', user);
  }

  #configFile(name: string, objects: readonly KubeManifest[]): string {
    const { data } = pick(objects, 'ConfigMap') as KubeManifest & { data: Record<string, string> };
    const file = join(this.plane.folder, `${name}.config.yaml`);
    writeFileSync(file, data['config.yaml'] ?? '');
    return file;
  }

  async #tokenOf(account: string): Promise<string> {
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`;
    const request = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: 3_600 },
    };
    const { status } = await this.plane.client().must<{ status: { token: string } }>('POST', path, request);
    return status.token;
  }
}

/** No less: nothing was refused, up to its end, which is in order. No more: every verb was needed. */
export async function expectExact({ controller, requests, parts }: RunningRelease): Promise<void> {
  const granted = permissionsOf(parts);
  await waitUntil('every permission used', soon, () =>
    unusedOf(granted, requests()).length === 0 ? true : undefined,
  ).catch(() => assert.deepEqual(unusedOf(granted, requests()), [], 'granted and never used'));
  assert.deepEqual(await controller.terminate(), { code: 0, signal: null });
  assert.deepEqual(refusedOf(requests()), [], 'refused');
}
