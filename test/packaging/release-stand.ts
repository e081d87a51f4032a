// A real control plane with scripted nodes. Releases of the chart are applied to it, and their controllers run with the
// config file and the service account of the release, as in a pod.
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
import { namespaceObjects } from '../../tools/manifests/manifest-pages.ts';
import { defaultParts, type Parts, usedPermissionsOf } from '../../tools/manifests/permissions.ts';
import { type KubeManifest, namespace, pick, renderChart } from '../../tools/manifests/render.ts';

/** Long, because the machine may be loaded. */
export const soon = { timeoutMs: 60_000 };

/** Settings with which a silent node is detected within seconds. */
export const quick = `
  nodeMonitorPeriod: 1s
  nodeMonitorGracePeriod: 6s
  nodeEvictionRate: 10
  logFormat: json`;
const quickFlags = ['--node-monitor-period=1s', '--node-monitor-grace-period=6s', '--node-eviction-rate=10'];

/** The service accounts of the two controllers in kube-controller-manager. */
const inTreeAccount = 'system:serviceaccount:kube-system:node-controller';

/** Without WatchList the controller lists and then watches, as on servers before 1.35: both verbs are granted. */
const withoutWatchList = ['--feature-gates=WatchList=false'];

/** The part that names the account of the pods. */
interface Deployment {
  readonly spec: { readonly template: { readonly spec: { readonly serviceAccountName: string } } };
}

interface Release {
  readonly name: string;
  readonly values: string;
  readonly parts: Partial<Parts>;
}

/** The requests of a user to kube-apiserver so far. */
export type Trail = Pick<AuditTrail, 'requests'>;

export interface RunningRelease extends Trail {
  readonly controller: NlcProcess;
  readonly parts: Parts;
}

const atWork = /^leading$|^running in shadow mode/;

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

  /** Starts with six healthy nodes in two zones, and the namespace of the releases. */
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

  /** Stops everything that a test started. Prints the output of controllers that still run, because the test failed. */
  async clear(): Promise<void> {
    for (const controller of this.#controllers) {
      if (!controller.hasEnded) console.log(controller.stderr);
      await controller.kill();
    }
    for (const manager of this.#managers) await manager.stop();
    this.#controllers.clear();
    this.#managers.clear();
    // The lease is deleted, so that the next controller leads at once.
    const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
    await this.plane.client().send('DELETE', `${leases}/node-lifecycle-controller`);
  }

  async apply(objects: readonly object[], ...options: readonly string[]): Promise<void> {
    const args = ['apply', '--server-side', '--validate=strict', ...options, '--filename=-'];
    const { code, stderr } = await this.plane.kubectl(args, yamlOf(objects));
    assert.equal(code, 0, stderr);
    assert.equal(stderr, '', 'no warnings');
  }

  /** Applies a release and runs its controller; resolves when it leads, or runs in shadow mode. */
  async install({ name, values, parts }: Release): Promise<RunningRelease> {
    const objects = renderChart({ release: name, values });
    await this.apply(objects);
    const deployment = pick(objects, 'Deployment') as unknown as Deployment;
    const account = deployment.spec.template.spec.serviceAccountName;
    const controller = NlcProcess.controller(
      this.plane.kubeconfigFor(await this.#tokenOf(account)),
      `--config=${this.#configFile(name, objects)}`,
    );
    this.#controllers.add(controller);
    const trail = this.#trailOf(`system:serviceaccount:${namespace}:${account}`);
    await waitUntil(`${name} works`, soon, () => controller.logs().find(({ msg }) => atWork.test(String(msg))));
    return { controller, requests: () => trail.requests(), parts: { ...defaultParts, ...parts } };
  }

  /**
   * Starts a kube-controller-manager with only these controllers, each with its own service account and its default role.
   */
  async startInTree(...controllers: readonly string[]): Promise<void> {
    const flags = [`--controllers=${controllers.join(',')}`, '--use-service-account-credentials', ...quickFlags];
    this.#managers.add(await this.plane.startControllerManager(flags));
  }

  /** The requests of the controllers of {@link startInTree} from now on. */
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

/** Asserts that no request was rejected and that every granted permission was used. */
export async function expectExact({ controller, requests, parts }: RunningRelease): Promise<void> {
  const granted = usedPermissionsOf(parts);
  await waitUntil('every permission used', soon, () => unusedOf(granted, requests()).length === 0).catch(() =>
    assert.deepEqual(unusedOf(granted, requests()), [], 'granted but never used'),
  );
  assert.deepEqual(await controller.terminate(), { code: 0, signal: null });
  assert.deepEqual(refusedOf(requests()), [], 'refused');
}
