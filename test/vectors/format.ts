// The format of a vector, key by key. A key that is not in these tables is an error of the vector or a gap in the runner:
// both are reported, never skipped.
import type { Taint } from '../../src/machinery/api/taints.ts';
import type { Toleration } from '../../src/machinery/api/tolerations.ts';

export interface GivenCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly heartbeatAge?: number;
  readonly transitionAge?: number;
}

export interface GivenTaint extends Omit<Taint, 'timeAdded'> {
  readonly timeAddedAge?: number;
}

export interface GivenNode {
  readonly name: string;
  readonly uid?: string;
  readonly createdAge?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly conditions?: readonly GivenCondition[];
  readonly taints?: readonly GivenTaint[];
  readonly unschedulable?: boolean;
  readonly kubeletVersion?: string;
  readonly ready?: string;
}

export interface GivenPod {
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly nodeName?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly ready?: string;
  readonly phase?: string;
  readonly reason?: string;
  readonly terminating?: boolean;
  readonly createdAt?: number;
  readonly tolerations?: readonly Toleration[];
  readonly annotations?: Readonly<Record<string, string>>;
  readonly owner?: string;
  readonly deletionAge?: number;
  readonly deletionGracePeriodSeconds?: number;
}

export interface GivenLease {
  readonly name: string;
  readonly renewAge?: number | null;
}

export interface Fault {
  readonly verb: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly times?: number;
  readonly error?: string;
}

export interface Generate {
  readonly nodes: number;
  readonly podsPerNode: number;
  readonly nodeNames: string;
  readonly podNames: string;
  readonly podNode: string;
  readonly createdAge?: number;
  readonly conditions?: readonly GivenCondition[];
  readonly labels?: Readonly<Record<string, string>>;
}

export interface Flags {
  readonly nodeMonitorPeriodS?: number;
  readonly nodeMonitorGracePeriodS?: number;
  readonly nodeStartupGracePeriodS?: number;
  readonly nodeEvictionRate?: number;
  readonly secondaryNodeEvictionRate?: number;
  readonly largeClusterSizeThreshold?: number;
  readonly unhealthyZoneThreshold?: number;
  readonly podEvictionTimeoutS?: number;
  readonly enableTaintManager?: boolean;
  readonly taintBasedEvictions?: boolean;
  readonly taintNodesByCondition?: boolean;
  readonly nodeUpdateWorkers?: number;
  readonly enterPartialDisruptionQPS?: number;
  readonly enterFullDisruptionQPS?: number;
}

/** The monitor's record of a node: the status of its saved Ready condition, or the timestamps of its record. */
export type RememberedHealth =
  | string
  | { readonly probeAge?: number; readonly readyTransitionAge?: number; readonly statusFromNode?: boolean };

export interface DaemonSetGiven {
  readonly namespace: string;
  readonly name: string;
  readonly selector: Readonly<Record<string, unknown>> | null;
}

export interface Given {
  readonly t0?: string;
  readonly flags?: Flags;
  readonly nodes?: readonly GivenNode[];
  readonly pods?: readonly GivenPod[];
  readonly pod?: GivenPod;
  readonly leases?: readonly GivenLease[];
  readonly daemonSets?: readonly DaemonSetGiven[];
  readonly generate?: Generate;
  readonly cloud?: Readonly<Record<string, boolean | 'error'>>;
  readonly faults?: readonly Fault[];
  readonly nodeHealth?: Readonly<Record<string, RememberedHealth>> | null;
  readonly nodeEvictionStatus?: Readonly<Record<string, string>>;
  readonly taintedNodes?: Readonly<Record<string, readonly GivenTaint[]>>;
  readonly taintKeys?: unknown;
  readonly nodeName?: string;
  readonly queueItem?: string;
  readonly concurrentWrite?: ConcurrentWrite;
  readonly quarantineS?: number;
  readonly informerNodes?: readonly string[];
  readonly apiNodes?: readonly string[];
  readonly threshold?: number;
  readonly limiter?: 'always' | { readonly qps: number; readonly burst: number };
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly GivenTaint[];
  readonly desired?: readonly Taint[];
  readonly existing?: readonly Taint[];
  readonly kubeletVersion?: string;
  readonly readyConditions?: readonly (string | null)[];
  readonly unhealthyZoneThreshold?: number;
  readonly usedTolerationSeconds?: readonly (number | null)[];
}

export interface ConcurrentWrite {
  readonly node?: string;
  readonly taints?: readonly GivenTaint[];
  readonly resourceVersion?: string | number;
}

/** One operation with its arguments. The arguments of each operation are in {@link operations}. */
export interface Step {
  readonly op: string;
  readonly [argument: string]: unknown;
}

export interface Vector {
  readonly id: string;
  readonly area: string;
  readonly name: string;
  readonly source?: string;
  readonly derived?: boolean;
  readonly verified?: boolean;
  readonly mode: string;
  readonly controller: string;
  readonly given: Given;
  readonly when: Readonly<Record<string, unknown>>;
  readonly then: Readonly<Record<string, unknown>>;
  readonly text?: unknown;
}

/** Returns the problems of a value, each with its path. */
type Shape = (value: unknown, path: string) => readonly string[];

const fine: Shape = () => [];
const text: Shape = (value, path) => (typeof value === 'string' ? [] : [`${path} is not a string`]);
const number: Shape = (value, path) => (typeof value === 'number' ? [] : [`${path} is not a number`]);
const flag: Shape = (value, path) => (typeof value === 'boolean' ? [] : [`${path} is not a boolean`]);

function oneOf(...words: readonly unknown[]): Shape {
  return (value, path) => (words.includes(value) ? [] : [`${path}: unknown value ${JSON.stringify(value)}`]);
}

function nullOr(shape: Shape): Shape {
  return (value, path) => (value === null ? [] : shape(value, path));
}

function either(...shapes: readonly Shape[]): Shape {
  return (value, path) => {
    const answers = shapes.map((shape) => shape(value, path));
    return answers.some((answer) => answer.length === 0) ? [] : (answers[0] ?? []);
  };
}

function listOf(shape: Shape): Shape {
  return (value, path) =>
    Array.isArray(value) ? value.flatMap((item, place) => shape(item, `${path}[${place}]`)) : [`${path} is not a list`];
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function mapOf(shape: Shape): Shape {
  return (value, path) =>
    isObject(value)
      ? Object.entries(value).flatMap(([key, item]) => shape(item, `${path}.${key}`))
      : [`${path} is not a map`];
}

function without(map: Readonly<Record<string, unknown>>, key: string): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(map).filter(([name]) => name !== key));
}

function record(fields: Readonly<Record<string, Shape>>, required: readonly string[] = []): Shape {
  return (value, path) => {
    if (!isObject(value)) return [`${path} is not an object`];
    const missing = required.filter((key) => !(key in value)).map((key) => `${path}.${key} is missing`);
    const problems = Object.entries(value).flatMap(([key, item]) => {
      const shape = Object.hasOwn(fields, key) ? fields[key] : undefined;
      return shape === undefined ? [`${path}.${key}: unknown key`] : shape(item, `${path}.${key}`);
    });
    return [...missing, ...problems];
  };
}

const labels = mapOf(text);
const taint = record({ key: text, value: text, effect: text, timeAddedAge: number }, ['key', 'effect']);
const toleration = record({ key: text, operator: text, value: text, effect: text, tolerationSeconds: nullOr(number) });
const condition = record({ type: text, status: text, reason: text, heartbeatAge: number, transitionAge: number }, [
  'type',
  'status',
]);
const node = record(
  {
    name: text,
    uid: text,
    createdAge: number,
    labels,
    conditions: listOf(condition),
    taints: listOf(taint),
    unschedulable: flag,
    kubeletVersion: text,
    ready: text,
  },
  ['name'],
);
const pod = record({
  namespace: text,
  name: text,
  uid: text,
  nodeName: text,
  labels,
  ready: text,
  phase: text,
  reason: text,
  terminating: flag,
  createdAt: number,
  tolerations: listOf(toleration),
  annotations: labels,
  owner: text,
  deletionAge: number,
  deletionGracePeriodSeconds: number,
});
const lease = record({ name: text, renewAge: nullOr(number) }, ['name']);
const faultFields = {
  verb: oneOf('get', 'list', 'create', 'update', 'patch', 'delete'),
  resource: oneOf('nodes', 'pods', 'leases'),
  subresource: oneOf('status'),
  times: number,
  error: oneOf('Conflict', 'InternalError', 'NotFound', 'Timeout'),
};
const flags = record({
  nodeMonitorPeriodS: number,
  nodeMonitorGracePeriodS: number,
  nodeStartupGracePeriodS: number,
  nodeEvictionRate: number,
  secondaryNodeEvictionRate: number,
  largeClusterSizeThreshold: number,
  unhealthyZoneThreshold: number,
  podEvictionTimeoutS: number,
  enableTaintManager: flag,
  taintBasedEvictions: flag,
  taintNodesByCondition: flag,
  nodeUpdateWorkers: number,
  enterPartialDisruptionQPS: number,
  enterFullDisruptionQPS: number,
});
const remembered = either(
  record({ probeAge: number, readyTransitionAge: number, statusFromNode: flag }),
  oneOf('True', 'False', 'Unknown'),
);

const given: Readonly<Record<string, Shape>> = {
  t0: text,
  flags,
  nodes: listOf(node),
  pods: listOf(pod),
  pod,
  leases: listOf(lease),
  daemonSets: listOf(record({ namespace: text, name: text, selector: fine }, ['namespace', 'name'])),
  generate: record({
    nodes: number,
    podsPerNode: number,
    nodeNames: text,
    podNames: text,
    podNode: text,
    createdAge: number,
    conditions: listOf(condition),
    labels,
  }),
  cloud: mapOf(oneOf(true, false, 'error')),
  faults: listOf(record(faultFields, ['verb', 'resource'])),
  nodeHealth: nullOr(mapOf(remembered)),
  nodeEvictionStatus: mapOf(oneOf('unmarked', 'toBeEvicted', 'evicted')),
  taintedNodes: mapOf(listOf(taint)),
  taintKeys: fine,
  nodeName: text,
  queueItem: text,
  concurrentWrite: record({ node: text, taints: listOf(taint), resourceVersion: either(text, number) }),
  quarantineS: number,
  informerNodes: listOf(text),
  apiNodes: listOf(text),
  threshold: number,
  limiter: either(record({ qps: number, burst: number }, ['qps', 'burst']), oneOf('always')),
  labels,
  taints: listOf(taint),
  desired: listOf(taint),
  existing: listOf(taint),
  kubeletVersion: text,
  readyConditions: listOf(nullOr(text)),
  unhealthyZoneThreshold: number,
  usedTolerationSeconds: listOf(nullOr(number)),
};

const ofNode = { node: text };
const noArguments = {};

/** Every operation and its allowed arguments. */
const operations: Readonly<Record<string, Readonly<Record<string, Shape>>>> = {
  monitor: noArguments,
  advance: { seconds: number },
  setNodeStatus: { nodes: listOf(record({ name: text, conditions: listOf(condition) }, ['name'])), syncCache: flag },
  setLabels: { nodes: listOf(text), labels },
  setLease: { name: text, renewAge: nullOr(number) },
  addNodes: { nodes: listOf(node) },
  deleteNode: { name: text },
  addTaint: { node: text, taint },
  freezeCache: noArguments,
  syncCache: noArguments,
  noExecutePass: noArguments,
  noSchedulePass: ofNode,
  evictionPass: noArguments,
  evictionPassUntil: { maxSeconds: number },
  deletePods: ofNode,
  drainQueueWithDeletePods: ofNode,
  processPod: { namespace: text, name: text },
  podEvent: { old: nullOr(pod), new: nullOr(pod) },
  nodeEvent: { node: text, old: nullOr(node), new: nullOr(node) },
  drainNodeWorkers: noArguments,
  syncNode: { node: text, taints: listOf(taint) },
  waitScheduled: { pod: text },
  restart: noArguments,
  failNext: faultFields,
  reconcileLabels: ofNode,
  tryUpdateNodeHealth: ofNode,
  markPodsNotReady: ofNode,
  maybeDeleteTerminatingPod: ofNode,
  emitPodDeletionEvent: noArguments,
  emitCancelPodDeletionEvent: noArguments,
  isExcludedFromDisruption: ofNode,
  nodeRunningOutdatedKubelet: ofNode,
  getZoneKey: ofNode,
  computeZoneState: ofNode,
  minTolerationTime: ofNode,
  filterNoExecute: { node: text, taints: listOf(taint) },
  addTaints: { node: text, taints: listOf(taint) },
  removeTaints: { node: text, taints: listOf(taint) },
  taintSetDiff: ofNode,
  add: { value: text },
  remove: { value: text },
  clear: noArguments,
  try: {
    results: mapOf(listOf(record({ ok: flag, waitMs: number }, ['ok']))),
    clock: text,
    removeDuring: either(text, listOf(text)),
    result: oneOf('ok'),
  },
  swapLimiter: { qps: number },
  assertQPS: { equals: either(number, text) },
  addWork: { key: text, delayS: number, block: flag, expect: flag },
  startWork: { key: text, delayS: number, block: flag, expect: flag },
  cancelWork: { key: text, expect: flag },
  unblock: { key: text },
  gc: noArguments,
  gcUnscheduledTerminating: noArguments,
  change: {
    apiAdd: listOf(text),
    apiDelete: listOf(text),
    informerAdd: listOf(text),
    informerDelete: listOf(text),
  },
};

/** Every expectation. Each world defines which of them it can check. */
const expectations: ReadonlySet<string> = new Set(
  `zoneStates exactZoneSet zoneLimiterQPS taints taintTimeAddedAt taintedCount conditions readyStatus conditionUnchanged
  labels nodeStatusWrites nodeStatusWriteAttempts nodeGets nodePatches patches podStatusWrites podStatusWriteAttempts
  podStatusPatched podStatusReason podDeleted deleted neverDeleted deletedAt podDeletedAt deletedCount podDeleteCalls
  deletedUID forceDeleteCalls deleteOptions scheduled patched patchedStatus requests queue queueOrder set processed calls
  addedAtMs processedAtS qps runs events event eventList eventMessage eventReasons eventUID nodeHealth returnedReady
  savedReadyEqualsReturned metricDelta nodeQueueLength podEnqueued requeued remaining nodeDeleted readyNodesInQuarantine
  error noCrash panic retrySpacingMs result key state unhealthy seconds outdated keys toAdd toRemove taintedNodes`.split(
    /\s+/u,
  ),
);

const step: Shape = (value, path) => {
  if (!isObject(value) || typeof value['op'] !== 'string') return [`${path} has no op`];
  const { op } = value;
  const fields = Object.hasOwn(operations, op) ? operations[op] : undefined;
  if (fields === undefined) return [`${path}: unknown op ${op}`];
  return record(fields)(without(value, 'op'), `${path} ${op}`);
};

const when: Shape = (value, path) => {
  if (!isObject(value) || !('steps' in value)) return step(value, path);
  return record({ steps: listOf(step) })(value, path);
};

const knownExpectations: Shape = (value, path) => {
  if (!isObject(value)) return [`${path} is not an object`];
  return Object.keys(value)
    .filter((key) => !expectations.has(key))
    .map((key) => `${path}.${key}: unknown key`);
};

const expectation: Shape = (value, path) => {
  if (!isObject(value)) return [`${path} is not an object`];
  const checkAfter: Shape = (item, itemPath) => {
    if (!isObject(item) || typeof item['step'] !== 'number') return [`${itemPath} has no step`];
    return knownExpectations(without(item, 'step'), itemPath);
  };
  return [
    ...knownExpectations(without(value, 'after'), path),
    ...listOf(checkAfter)(value['after'] ?? [], `${path}.after`),
  ];
};

const vector = record(
  {
    id: text,
    area: text,
    name: text,
    source: fine,
    derived: flag,
    verified: flag,
    mode: oneOf('taint', 'both', 'eviction-1.8', 'taint-1.8', 'eviction-1.18'),
    controller: oneOf('node-lifecycle', 'node-controller-1.8', 'taint-eviction', 'pod-gc', 'unit'),
    given: record(given),
    when,
    // oxlint-disable-next-line unicorn/no-thenable -- a key of the format, not a function
    then: expectation,
    text: fine,
  },
  ['id', 'area', 'name', 'mode', 'controller', 'given', 'when', 'then'],
);

/** All unknown keys and invalid values; empty for a valid vector. */
export function describeStrangeness(value: unknown): readonly string[] {
  return vector(value, 'vector').map((problem) => problem.replace(/^vector\./u, ''));
}

/** The fault of a `failNext`. */
export function faultOf(step: Step): Fault {
  return without(step, 'op') as unknown as Fault;
}

/** The operations, in order. */
export function stepsOf({ when }: Vector): readonly Step[] {
  return 'steps' in when ? (when['steps'] as readonly Step[]) : [when as Step];
}

/** The expectations right after the step at this index. */
export function expectedAfter({ then }: Vector, place: number): readonly Readonly<Record<string, unknown>>[] {
  const after = (then['after'] ?? []) as readonly Readonly<Record<string, unknown>>[];
  return after.filter((entry) => entry['step'] === place).map((entry) => without(entry, 'step'));
}

/** The expectations at the end. */
export function expectedAtEnd({ then }: Vector): Readonly<Record<string, unknown>> {
  return without(then, 'after');
}
