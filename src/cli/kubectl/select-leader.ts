import { ApiError, messageOf } from '../../machinery/api/api-error.ts';
import type { ControllerPod } from './parse-controller-pod.ts';

/** Choice of the replica to read. */
export type LeaderChoice =
  | { readonly kind: 'pod'; readonly pod: ControllerPod }
  /** The lease names none of them: each is asked whether it leads. */
  | { readonly kind: 'ask'; readonly pods: readonly ControllerPod[] }
  | { readonly kind: 'problem'; readonly problem: string };

interface LeaderInput {
  /** All pods that the selector found. */
  readonly pods: readonly ControllerPod[];
  /** The holder identity in the lease; undefined: there is no lease, or it cannot be read. */
  readonly holder: string | undefined;
  /** The value of --pod. */
  readonly wanted: string | undefined;
}

const namesShownMax = 10;

/** A pod of another namespace than the others could impersonate the controller, so they are never mixed. */
export function selectLeader({ pods, holder, wanted }: LeaderInput): LeaderChoice {
  const namespaces = [...new Set(pods.map(({ namespace }) => namespace))];
  if (namespaces.length > 1) {
    const problem = `pods in several namespaces match (${listed(namespaces)}); set --namespace to that of the controller`;
    return { kind: 'problem', problem };
  }
  if (wanted !== undefined) return selectWanted(pods, wanted);
  const running = pods.filter(({ isRunning }) => isRunning);
  if (running.length === 0) return { kind: 'problem', problem: `no replica is running: ${describePods(pods)}` };
  const readable = running.filter(({ pages }) => pages !== undefined);
  if (readable.length === 0) return { kind: 'problem', problem: describePagesOff(running) };
  const holders = readable.filter((pod) => holder !== undefined && isHolder(pod, holder));
  const [only] = holders.length === 1 ? holders : readable.length === 1 ? readable : [];
  return only === undefined ? { kind: 'ask', pods: readable } : { kind: 'pod', pod: only };
}

function selectWanted(pods: readonly ControllerPod[], wanted: string): LeaderChoice {
  const pod = pods.find(({ name }) => name === wanted);
  if (pod === undefined)
    return {
      kind: 'problem',
      problem: `--pod: must be one of ${listed(pods.map(({ name }) => name))} (got ${JSON.stringify(wanted)})`,
    };
  return pod.pages === undefined ? { kind: 'problem', problem: describePagesOff([pod]) } : { kind: 'pod', pod };
}

/** The identity is the host name of the replica and a UUID: `HOST_UUID`. */
function isHolder({ hostnames }: ControllerPod, holder: string): boolean {
  const host = holder.replace(/_[^_]*$/, '');
  return hostnames.includes(host);
}

export function describePods(pods: readonly ControllerPod[]): string {
  return listed(pods.map(({ namespace, name, phase }) => `${namespace}/${name} (${phase === '' ? 'unknown' : phase})`));
}

function describePagesOff(pods: readonly ControllerPod[]): string {
  return `no port with the name metrics or https-metrics in ${describePods(pods)}: the pages are off (chart value metrics.enabled)`;
}

function listed(names: readonly string[]): string {
  const more = names.length > namesShownMax ? `, and ${names.length - namesShownMax} more` : '';
  return names.length === 0 ? 'none' : `${names.slice(0, namesShownMax).join(', ')}${more}`;
}

/** Request that was tried, and the permission that it needs. */
interface AccessAttempt {
  readonly what: string;
  readonly verbs: string;
  readonly resource: string;
  readonly namespace: string;
}

const role = 'node-lifecycle-controller-kubectl';

/** For a forbidden request: the permission and the chart's role that has it. Otherwise the error. */
export function describeAccessError({ what, verbs, resource, namespace }: AccessAttempt, error: unknown): string {
  if (!(error instanceof ApiError) || error.reason !== 'forbidden') return `cannot ${what}: ${messageOf(error)}`;
  const where = namespace === '' ? 'all namespaces' : `namespace ${namespace}`;
  const bind = `kubectl create rolebinding NAME --clusterrole=${role} --user=USER --namespace=${namespace === '' ? 'NAMESPACE' : namespace}`;
  return `cannot ${what}: forbidden; needed: ${verbs} on ${resource} in ${where}, as in the chart's cluster role ${role} (${bind})`;
}

export function describeNotFound(selector: string, places: readonly string[]): string {
  return `no controller found: no pod with the labels ${selector} in ${places.join(', ')}; set --namespace, or --selector if the chart has another nameOverride`;
}
