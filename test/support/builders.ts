// One builder for each kind of object, with overrides: as the API server serves it, and as the controller caches it.
import { type DaemonSetView, transformDaemonSet } from '../../src/machinery/api/daemonset.ts';
import type { Node, NodeView } from '../../src/machinery/api/node.ts';
import type { Pod, PodView } from '../../src/machinery/api/pod.ts';
import type { NodePolicy } from '../../src/controller/model/policy.ts';

/** A pod of the namespace `default` whose uid is its name. */
export function aPod(name: string, { metadata, ...rest }: Partial<Pod> = {}): Pod {
  return { metadata: { name, namespace: 'default', uid: name, ...metadata }, spec: { nodeName: 'n' }, ...rest };
}

/** A running, ready pod on node `n`. */
export function aPodView(over: Partial<PodView> = {}): PodView {
  const name = over.name ?? 'p';
  return {
    namespace: 'default',
    name,
    uid: `uid-${name}`,
    resourceVersion: '1',
    generation: 1,
    labels: {},
    nodeName: 'n',
    phase: 'Running',
    reason: '',
    terminating: false,
    deletionGraceSeconds: undefined,
    tolerations: [],
    ready: 'True',
    disruptionReason: undefined,
    createdAtSeconds: 0,
    boundAtSeconds: undefined,
    ...over,
  };
}

/** A node without taints and conditions. */
export function aNode(name: string, { metadata, ...rest }: Partial<Node> = {}): Node {
  return { metadata: { name, uid: `uid-${name}`, resourceVersion: '1', ...metadata }, ...rest };
}

/** A node without taints and conditions. */
export function aNodeView(over: Partial<NodeView> = {}): NodeView {
  return {
    name: 'n',
    uid: 'u',
    resourceVersion: '1',
    createdAtMs: 0,
    labels: {},
    unschedulable: false,
    taints: [],
    conditions: [],
    bootID: '',
    ...over,
  };
}

export function aDaemonSetView(namespace: string, name: string, matchLabels: Record<string, string>): DaemonSetView {
  return transformDaemonSet({ metadata: { namespace, name, uid: `u-${name}` }, spec: { selector: { matchLabels } } });
}

/** A policy for the nodes of zone `a`, in mode Enforce, that sets nothing. */
export function aPolicy(over: Partial<NodePolicy> = {}): NodePolicy {
  return {
    name: 'zone-a',
    priority: 0,
    selector: inZone('a'),
    mode: 'Enforce',
    nodeMonitorGracePeriodMs: undefined,
    nodeStartupGracePeriodMs: undefined,
    maintenance: undefined,
    limits: undefined,
    outOfService: undefined,
    evictReachable: undefined,
    podDeletionsPerSecond: undefined,
    maxConcurrentEvictions: undefined,
    keepCompletedPods: false,
    zones: undefined,
    flapping: undefined,
    ...over,
  };
}

/** A selector of the nodes of these zones. */
export function inZone(...zones: readonly string[]): NodePolicy['selector'] {
  return [{ key: 'topology.kubernetes.io/zone', operator: 'In', values: zones }];
}
