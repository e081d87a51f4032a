// kubectl drains nodes of hollow kubelets while a PodDisruptionBudget holds evictions: the same steps on any API server that
// has the disruption controller.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConnection } from '../../../src/machinery/kubeconfig/connection.ts';
import { SystemClock } from '../../../src/machinery/adapters/system-clock.ts';
import { HollowFleet } from '../../../src/hollow-cluster/kubelet/fleet/fleet.ts';
import { SeededRandom, silentLogger } from '../../support/fakes.ts';
import { makeKubeApi } from '../../support/make-kube-api.ts';
import { type KubectlAnswer, toAnswer } from './kubectl-answer.ts';
import { Kubectl, type KubectlOutcome } from './kubectl-run.ts';

/** One command of the scenario and what it printed. Evictions run concurrently: the lines are sorted, each is there once. */
export interface DrainStep extends KubectlAnswer {
  readonly command: string;
}

type Target = ConstructorParameters<typeof Kubectl>[1];

export const drainRecordFile = join(import.meta.dirname, 'kubectl-drain.json');

const profile = {
  nodeStatusUpdateFrequencyMs: 1_000,
  podStartDelayMs: 50,
  podStopDelayMs: 50,
  podStatusPassMs: 500,
} as const;

/** What a real kube-apiserver with kube-controller-manager answered. */
export function readDrainRecord(): readonly DrainStep[] {
  return JSON.parse(readFileSync(drainRecordFile, 'utf8')) as readonly DrainStep[];
}

/** Runs the scenario on an empty cluster, with the nodes drain-a and drain-b. */
export async function runDrainScenario(binary: string, target: Target): Promise<readonly DrainStep[]> {
  const kubectl = new Kubectl(binary, target);
  const ending = new AbortController();
  const api = makeKubeApi(await loadConnection({ kubeconfig: kubectl.kubeconfig }));
  const nodes = ['drain-a', 'drain-b'].map((name) => ({ name, labels: {} }));
  const fleet = new HollowFleet({
    nodes,
    api,
    clock: new SystemClock(),
    random: new SeededRandom(1),
    logger: silentLogger,
    profile,
  });
  const running = fleet.run(ending.signal);
  try {
    return await new DrainScenario(kubectl, target.url).run();
  } finally {
    ending.abort();
    await running;
    await api.close();
    kubectl.forget();
  }
}

class DrainScenario {
  readonly #kubectl: Kubectl;
  readonly #url: string;
  readonly #steps: DrainStep[] = [];

  constructor(kubectl: Kubectl, url: string) {
    this.#kubectl = kubectl;
    this.#url = url;
  }

  async run(): Promise<readonly DrainStep[]> {
    await this.#prepare();
    await this.#step('drain drain-a --force --timeout=20s');
    await this.#step('drain drain-a --ignore-daemonsets --timeout=20s');
    await this.#step('get pods -o custom-columns=NAME:.metadata.name,NODE:.spec.nodeName');
    await this.#drainWithReplacement('drain drain-a --ignore-daemonsets --force --timeout=60s');
    await this.#step('get pods -o custom-columns=NAME:.metadata.name,NODE:.spec.nodeName');
    await this.#step('get nodes');
    await this.#step('drain drain-a --ignore-daemonsets --timeout=20s');
    await this.#step('drain drain-b --timeout=3s');
    await this.#step('drain drain-b --disable-eviction --timeout=20s');
    await this.#step('uncordon drain-a drain-b');
    await this.#step('get pods -o custom-columns=NAME:.metadata.name,NODE:.spec.nodeName');
    return this.#steps;
  }

  /** On drain-a: a pod with a budget, a pod of a DaemonSet, and one without controller. */
  async #prepare(): Promise<void> {
    for (const name of ['drain-a', 'drain-b']) await this.#must(`wait node/${name} --for=create --timeout=20s`);
    await this.#must('wait node/drain-a node/drain-b --for=condition=Ready --timeout=20s');
    const web = await this.#create(workload('ReplicaSet', 'web'));
    const agent = await this.#create(workload('DaemonSet', 'agent'));
    await this.#create(pod('web-1', 'drain-a', web));
    await this.#create(pod('agent-1', 'drain-a', agent));
    await this.#create(pod('alone', 'drain-a'));
    await this.#must('wait pods --all --for=condition=Ready --timeout=20s');
    await this.#must('create pdb web --selector=app=web --min-available=1');
    await this.#must('wait pdb/web --for=jsonpath={.status.currentHealthy}=1 --timeout=20s');
  }

  /** The budget holds the eviction of web-1 until web-2 is ready; kubectl tries again after 5 s. */
  async #drainWithReplacement(command: string): Promise<void> {
    const drain = this.#kubectl.start(command.split(' '));
    await drain.until(/"web-1".*will retry after 5s.*disruption budget/, 'stderr');
    await this.#create(pod('web-2', 'drain-b', await this.#owner('ReplicaSet', 'web')));
    this.#keep(command, await drain.ended());
  }

  async #step(command: string): Promise<void> {
    this.#keep(command, await this.#kubectl.run(command.split(' ')));
  }

  #keep(command: string, outcome: KubectlOutcome): void {
    const { code, stdout, stderr } = toAnswer(outcome, this.#url, true);
    this.#steps.push({ command, code, stdout: withoutRepeats(stdout), stderr: withoutRepeats(stderr) });
  }

  async #create(body: object): Promise<Owner> {
    const text = await this.#must('create -f - -o json', JSON.stringify(body));
    return ownerOf(JSON.parse(text) as Created);
  }

  async #owner(kind: string, name: string): Promise<Owner> {
    return ownerOf(JSON.parse(await this.#must(`get ${kind} ${name} -o json`)) as Created);
  }

  async #must(command: string, stdin = ''): Promise<string> {
    const { code, stdout, stderr } = await this.#kubectl.run(command.split(' '), stdin);
    if (code !== 0) throw new Error(`kubectl ${command}: ${stdout}${stderr}`);
    return stdout;
  }
}

/** How often kubectl tries again depends on how fast the machine is. */
function withoutRepeats(lines: readonly string[]): readonly string[] {
  return [...new Set(lines)];
}

interface Created {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly uid: string };
}

type Owner = Pick<Created, 'apiVersion' | 'kind'> & Created['metadata'];

function ownerOf({ apiVersion, kind, metadata: { name, uid } }: Created): Owner {
  return { apiVersion, kind, name, uid };
}

const containers = [{ name: 'main', image: 'example.com/app:1' }];

function workload(kind: string, app: string): object {
  const metadata = { name: app, namespace: 'default' };
  const template = { metadata: { labels: { app } }, spec: { containers } };
  return { apiVersion: 'apps/v1', kind, metadata, spec: { selector: { matchLabels: { app } }, template } };
}

function pod(name: string, nodeName: string, owner?: Owner): object {
  const ownerReferences = owner === undefined ? [] : [{ ...owner, controller: true }];
  const metadata = { name, namespace: 'default', labels: { app: owner?.name ?? name }, ownerReferences };
  const spec = { nodeName, containers, terminationGracePeriodSeconds: 1, tolerations: [{ operator: 'Exists' }] };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec };
}
