// The end state of every scenario: silent nodes are Unknown and tainted, all other nodes are Ready without health taints,
// and only pods that the scenario names were evicted. Pure, so that the rules are tested without a cluster.
import type { NodeJson, PodJson } from '../scripted-cluster.ts';
import type { ProxiedRequest } from './fault-proxy.ts';

/** The expected end state of a scenario. */
export interface Ending {
  /** Silent for longer than the grace period. */
  readonly silent?: readonly string[];
  /** Nodes that were silent or not ready, and are Ready again. */
  readonly recovered?: readonly string[];
  /** These pods must be deleted. All others must exist and not be terminating. */
  readonly evicted?: readonly string[];
  /** Each of these pods was marked Ready=False by exactly this many requests that reached the server. */
  readonly marks?: Readonly<Record<string, number>>;
}

export interface PodPlace {
  readonly name: string;
  readonly node: string;
}

export interface Observation {
  readonly nodes: readonly NodeJson[];
  readonly pods: readonly PodJson[];
  /** All pods that the scenario created. */
  readonly made: readonly PodPlace[];
  readonly requests: readonly Pick<ProxiedRequest, 'method' | 'path' | 'body' | 'forwardedAtMs'>[];
}

const unreachableTaints = ['unreachable:NoExecute', 'unreachable:NoSchedule'];

/** One sentence for each deviation from the expected end state. */
export function findDeviations(observation: Observation, ending: Ending): readonly string[] {
  return [
    ...nodeDeviations(observation, ending),
    ...podDeviations(observation, ending),
    ...markDeviations(observation, ending),
  ];
}

function nodeDeviations({ nodes, requests }: Observation, { silent = [], recovered = [] }: Ending): readonly string[] {
  return nodes.flatMap((node) => {
    const { name } = node.metadata;
    if (silent.includes(name)) return stateDeviations(node, 'Unknown', unreachableTaints);
    const state = stateDeviations(node, 'True', []);
    return recovered.includes(name) ? state : [...state, ...touched(name, requests)];
  });
}

function stateDeviations(node: NodeJson, ready: string, taints: readonly string[]): readonly string[] {
  const { name } = node.metadata;
  const condition = node.status.conditions?.find(({ type }) => type === 'Ready');
  const shown = healthTaints(node);
  return [
    ...(condition?.status === ready ? [] : [`node ${name} is Ready=${condition?.status}, not ${ready}`]),
    ...(shown.join() === taints.join()
      ? []
      : [`node ${name} has the taints [${shown.join()}], not [${taints.join()}]`]),
  ];
}

/** Only node.kubernetes.io taints: scenarios add other taints. */
function healthTaints(node: NodeJson): readonly string[] {
  return (node.spec.taints ?? [])
    .filter(({ key }) => key.startsWith('node.kubernetes.io/'))
    .map(({ key, effect }) => `${key.replace('node.kubernetes.io/', '')}:${effect}`)
    .sort();
}

/** A node that was always healthy must never have been marked or tainted. */
function touched(name: string, requests: Observation['requests']): readonly string[] {
  return requests
    .filter(({ method, path }) => method === 'PATCH' && nodePatched(path) === name)
    .filter(({ body }) => body.includes('"Unknown"') || body.includes('"NoExecute"'))
    .map(({ path, body }) => `healthy node ${name} was written to: ${path} ${body}`);
}

function podDeviations({ nodes, pods, made }: Observation, { silent = [], evicted = [] }: Ending): readonly string[] {
  const there = new Map(pods.map((pod) => [pod.metadata.name, pod]));
  const ready = new Set(nodes.map(({ metadata }) => metadata.name).filter((name) => !silent.includes(name)));
  return made.flatMap(({ name, node }) => {
    const pod = there.get(name);
    if (evicted.includes(name)) return pod === undefined ? [] : [`pod ${name} of node ${node} was not evicted`];
    if (pod === undefined) return [`pod ${name} of node ${node} was deleted`];
    if (pod.metadata.deletionTimestamp !== undefined) return [`pod ${name} of node ${node} is terminating`];
    const answer = readyOf(pod);
    return ready.has(node) || answer === 'False' ? [] : [`pod ${name} of silent node ${node} is Ready=${answer}`];
  });
}

function markDeviations({ requests }: Observation, { marks = {} }: Ending): readonly string[] {
  return Object.entries(marks).flatMap(([pod, wanted]) => {
    const count = requests.filter((request) => request.forwardedAtMs !== undefined && isMark(request, pod)).length;
    return count === wanted ? [] : [`pod ${pod} was marked Ready=False by ${count} requests, not ${wanted}`];
  });
}

/** A request that sets the pod's Ready condition to False. */
function isMark({ method, path, body }: Pick<ProxiedRequest, 'method' | 'path' | 'body'>, pod: string): boolean {
  if (method !== 'PATCH' || podPatched(path) !== pod) return false;
  const { status } = JSON.parse(body) as Partial<PodJson>;
  return status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'False') === true;
}

/** Whether the request adds or keeps this NoExecute taint. */
export function wantsNoExecute(
  { method, path, body }: Pick<ProxiedRequest, 'method' | 'path' | 'body'>,
  node: string,
  taintKey: string,
): boolean {
  if (method !== 'PATCH' || nodePatched(path) !== node) return false;
  const { spec } = JSON.parse(body) as Partial<NodeJson>;
  return spec?.taints?.some(({ key, effect }) => key === taintKey && effect === 'NoExecute') === true;
}

/** The node of a path to a node or its status; undefined for other paths. */
function nodePatched(path: string): string | undefined {
  return /^\/api\/v1\/nodes\/([^/?]+)(?:\/status)?(?:\?|$)/.exec(path)?.[1];
}

function podPatched(path: string): string | undefined {
  return /^\/api\/v1\/namespaces\/[^/]+\/pods\/([^/?]+)\/status(?:\?|$)/.exec(path)?.[1];
}

function readyOf(pod: PodJson): string | undefined {
  return pod.status.conditions?.find(({ type }) => type === 'Ready')?.status;
}
