// The objects of a vector as they would be on the API server. Ages count back from the vector's time at that step.
import type { Condition } from '../../src/machinery/api/conditions.ts';
import type { Lease } from '../../src/machinery/api/lease.ts';
import type { ObjectMeta } from '../../src/machinery/api/meta.ts';
import type { Node } from '../../src/machinery/api/node.ts';
import type { Pod } from '../../src/machinery/api/pod.ts';
import type { Taint } from '../../src/machinery/api/taints.ts';
import { formatMicroTime, formatTime } from '../../src/machinery/api/timestamps.ts';
import type { Generate, Given, GivenCondition, GivenLease, GivenNode, GivenPod, GivenTaint } from './format.ts';
import { modernTaintKey } from './taint-names.ts';

/** Heartbeats may be less than a second apart; a timestamp with whole seconds would hide that. */
function stamp(ms: number): string {
  return ms % 1_000 === 0 ? formatTime(ms) : new Date(ms).toISOString();
}

export function conditionOf(given: GivenCondition, nowMs: number): Condition {
  const { type, status, reason, heartbeatAge = 0, transitionAge = 0 } = given;
  return {
    type,
    status,
    ...(reason === undefined ? {} : { reason }),
    lastHeartbeatTime: stamp(nowMs - heartbeatAge * 1_000),
    lastTransitionTime: stamp(nowMs - transitionAge * 1_000),
  };
}

export function taintOf(given: GivenTaint, nowMs: number): Taint {
  const { timeAddedAge, ...spelled } = given;
  const taint = { ...spelled, key: modernTaintKey(spelled.key) };
  return timeAddedAge === undefined ? taint : { ...taint, timeAdded: formatTime(nowMs - timeAddedAge * 1_000) };
}

function conditionsOf({ conditions, ready }: GivenNode, nowMs: number): readonly Condition[] {
  const short = ready === undefined ? [] : [{ type: 'Ready', status: ready }];
  return [...(conditions ?? []), ...short].map((condition) => conditionOf(condition, nowMs));
}

export function nodeOf(given: GivenNode, nowMs: number): Node {
  const { name, uid = `uid-${name}`, createdAge = 0, labels = {}, taints = [], unschedulable, kubeletVersion } = given;
  return {
    metadata: { name, uid, creationTimestamp: formatTime(nowMs - createdAge * 1_000), labels },
    spec: {
      taints: taints.map((taint) => taintOf(taint, nowMs)),
      ...(unschedulable === undefined ? {} : { unschedulable }),
    },
    status: {
      conditions: conditionsOf(given, nowMs),
      ...(kubeletVersion === undefined ? {} : { nodeInfo: { kubeletVersion } }),
    },
  };
}

export function podOf(given: GivenPod, clock: { readonly nowMs: number; readonly t0Ms: number }): Pod {
  const { nodeName = '', tolerations = [], ready, phase, reason } = given;
  const conditions = ready === undefined ? [] : [conditionOf({ type: 'Ready', status: ready }, clock.nowMs)];
  return {
    metadata: podMetadata(given, clock),
    spec: { nodeName, tolerations },
    status: {
      conditions,
      ...(phase === undefined ? {} : { phase }),
      ...(reason === undefined ? {} : { reason }),
    },
  };
}

function podMetadata(given: GivenPod, clock: { readonly nowMs: number; readonly t0Ms: number }): ObjectMeta {
  const { namespace = 'default', name = 'pod', uid = `uid-${name}`, labels, annotations, owner, createdAt = 0 } = given;
  return {
    namespace,
    name,
    uid,
    creationTimestamp: formatTime(clock.t0Ms + createdAt * 1_000),
    ...deletionOf(given, clock.nowMs),
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations }),
    ...(owner === undefined ? {} : { ownerReferences: [ownerOf(owner)] }),
  };
}

/** An API server sets deletionTimestamp and grace period together, so either marks the pod as terminating. */
function deletionOf(given: GivenPod, nowMs: number): Partial<ObjectMeta> {
  const { terminating = false, deletionAge, deletionGracePeriodSeconds } = given;
  if (!terminating && deletionAge === undefined && deletionGracePeriodSeconds === undefined) return {};
  return {
    deletionTimestamp: formatTime(nowMs - (deletionAge ?? 0) * 1_000),
    deletionGracePeriodSeconds: deletionGracePeriodSeconds ?? 30,
  };
}

function ownerOf(kind: string): NonNullable<ObjectMeta['ownerReferences']>[number] {
  const apiVersion = kind === 'Node' || kind === 'Pod' ? 'v1' : 'apps/v1';
  return { apiVersion, kind, name: 'owner', uid: 'uid-owner', controller: true };
}

export function leaseOf({ name, renewAge }: GivenLease, nowMs: number): Lease {
  const spec = typeof renewAge === 'number' ? { renewTime: formatMicroTime(nowMs - renewAge * 1_000) } : {};
  return { metadata: { namespace: 'kube-node-lease', name, uid: `uid-lease-${name}` }, spec };
}

/** The nodes and pods of a vector, including those that it only describes. */
export function populationOf(given: Given): {
  readonly nodes: readonly GivenNode[];
  readonly pods: readonly GivenPod[];
} {
  const { nodes = [], pods = [], generate } = given;
  if (generate === undefined) return { nodes, pods };
  return { nodes: [...nodes, ...generatedNodes(generate)], pods: [...pods, ...generatedPods(generate)] };
}

function generatedNodes(generate: Generate): readonly GivenNode[] {
  const { createdAge = 0, conditions = [], labels = {} } = generate;
  return numbers(generate.nodes).map((i) => {
    return { name: fillIn(generate.nodeNames, { i }), createdAge, conditions, labels };
  });
}

function generatedPods(generate: Generate): readonly GivenPod[] {
  return numbers(generate.nodes * generate.podsPerNode).map((j) => {
    const values = { j, i: j % generate.nodes };
    return { name: fillIn(generate.podNames, values), nodeName: fillIn(generate.podNode, values), ready: 'True' };
  });
}

function numbers(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index);
}

/** `{i}`, `{j}` and `{j mod 50}` become numbers; other text in braces is an error. */
function fillIn(template: string, values: Readonly<Record<string, number>>): string {
  return template.replaceAll(/\{([^}]*)\}/gu, (whole, expression: string) => {
    const [, name = '', modulus] = /^(\w+)(?: mod (\d+))?$/u.exec(expression.trim()) ?? [];
    const value = values[name];
    if (value === undefined) throw new Error(`unknown placeholder ${whole} in ${template}`);
    return String(modulus === undefined ? value : value % Number(modulus));
  });
}
