// What the plugin needs of a pod of the controller. Fields of the wrong type are read as empty.
import { type JsonMap, listOf, mapOf, mapsOf, ownValue, textOf } from '../../machinery/api/json-map.ts';

/** The port of the pages, and how they are served. */
export interface PagePort {
  readonly port: number;
  readonly secure: boolean;
}

export interface ControllerPod {
  readonly namespace: string;
  readonly name: string;
  /** Host names in the identity of leader election: the pod's name, or that of its node on the host network. */
  readonly hostnames: readonly string[];
  /** Running, and not being deleted. */
  readonly isRunning: boolean;
  readonly phase: string;
  /** The name that the chart gives to the objects of this release. */
  readonly fullname: string;
  /** Undefined: the pages are off, or their port is not known. */
  readonly pages: PagePort | undefined;
}

const portNames: Readonly<Record<string, boolean>> = { metrics: false, 'https-metrics': true };

export function parseControllerPod(object: JsonMap): ControllerPod {
  const metadata = mapOf(object['metadata']);
  const spec = mapOf(object['spec']);
  const status = mapOf(object['status']);
  const name = textOf(metadata['name']);
  const phase = textOf(status['phase']);
  const isDeleted = textOf(metadata['deletionTimestamp']) !== '';
  const node = textOf(spec['nodeName']);
  return {
    namespace: textOf(metadata['namespace']),
    name,
    hostnames: spec['hostNetwork'] === true && node !== '' ? [name, node] : [name],
    isRunning: phase === 'Running' && !isDeleted,
    phase: isDeleted ? 'Terminating' : phase,
    fullname: parseFullname(metadata),
    pages: parsePagePort(spec),
  };
}

/** The name of the DaemonSet or Deployment, which is its ReplicaSet's without the hash. Without one, as the chart derives it from the release. */
function parseFullname(metadata: JsonMap): string {
  const labels = mapOf(metadata['labels']);
  const owners = mapsOf(metadata['ownerReferences']);
  const nameOf = (wanted: string): string => textOf(owners.find(({ kind }) => kind === wanted)?.['name']);
  const daemonSet = nameOf('DaemonSet');
  if (daemonSet !== '') return daemonSet;
  const suffix = `-${textOf(labels['pod-template-hash'])}`;
  const replicaSet = nameOf('ReplicaSet');
  if (suffix !== '-' && replicaSet.endsWith(suffix)) return replicaSet.slice(0, -suffix.length);
  const chart = textOf(labels['app.kubernetes.io/name']);
  const release = textOf(labels['app.kubernetes.io/instance']);
  if (release === '') return chart;
  return release.includes(chart) ? release : `${release}-${chart}`;
}

/** By the name of a container port, as in the chart, or by the flags of the container, as in the static pod. */
function parsePagePort(spec: JsonMap): PagePort | undefined {
  const containers = mapsOf(spec['containers']);
  const ports = containers.flatMap((container) => mapsOf(container['ports']));
  const named = ports.find(({ name }) => Object.hasOwn(portNames, textOf(name)));
  if (named !== undefined) {
    const port = Number(named['containerPort']);
    return isPort(port) ? { port, secure: ownValue(portNames, textOf(named['name'])) === true } : undefined;
  }
  return parsePortFlag(containers.flatMap((container) => listOf(container['args']).map(textOf)));
}

function parsePortFlag(args: readonly string[]): PagePort | undefined {
  const address = args.findLast((arg) => arg.startsWith('--metrics-bind-address='));
  const port = Number(/:(\d+)$/.exec(address ?? '')?.[1]);
  const secure = args.findLast((arg) => /^--metrics-secure(?:=|$)/.test(arg));
  return isPort(port) ? { port, secure: secure !== undefined && !/=(?:0|f|false)$/i.test(secure) } : undefined;
}

function isPort(port: number): boolean {
  return Number.isInteger(port) && port > 0 && port <= 65_535;
}
