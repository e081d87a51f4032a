// The state of a control plane after a step, in a comparable form: timestamps are replaced by the component that wrote
// them, and things without a fixed order are sets.
import type { Taint } from '../../../src/machinery/api/taints.ts';
import type { Sighting, Watched } from './witness.ts';

export interface Observation {
  readonly nodes: Readonly<Record<string, NodeFace>>;
  readonly pods: Readonly<Record<string, PodFace>>;
  /** Events created or repeated in this step, one line each. */
  readonly events: Readonly<Record<string, true>>;
  /** For each kind of Event so far, the fields of involvedObject that are set. */
  readonly subjects: Readonly<Record<string, readonly string[]>>;
}

export interface NodeFace {
  readonly labels: Readonly<Record<string, string>>;
  /** `key:effect`, and `stamped` if it has timeAdded. */
  readonly taints: readonly string[];
  /** NoExecute taints that any version of the node had in this step. */
  readonly carried: readonly string[];
  readonly conditions: Readonly<Record<string, ConditionFace>>;
}

interface PodFace {
  readonly presence: 'there' | 'being deleted' | 'gone';
  readonly phase: string;
  readonly conditions: Readonly<Record<string, ConditionFace>>;
}

type ConditionFace = Readonly<Record<string, string | number>>;

/** The component that wrote a timestamp. The clocks of the nodes are an hour behind, so their timestamps are distinct. */
type Author = 'kubelet' | 'controller';

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly lastHeartbeatTime?: string | null;
  readonly lastTransitionTime?: string | null;
  readonly lastProbeTime?: string | null;
  readonly [field: string]: unknown;
}

interface Seen {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly creationTimestamp: string;
    readonly deletionTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly spec: { readonly taints?: readonly Taint[] };
  readonly status: { readonly phase?: string; readonly conditions?: readonly Condition[] };
}

interface SeenEvent {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly source: { readonly component?: string; readonly host?: string };
  readonly reportingComponent?: string;
  readonly involvedObject: Readonly<Record<string, string>> & { readonly kind: string; readonly name: string };
}

const nodeClockBehindMs = 3_600_000;
/** The clock offset for the test's writes on behalf of the nodes. */
export const nodeClockOffsetMs = -nodeClockBehindMs;

/** The state that follows from all watch events; `from` is the index of the first one of the step. */
export function observe(sightings: readonly Sighting[], from: number): Observation {
  const step = sightings.slice(from);
  const nodes = [...latest(sightings, 'nodes')].filter(([, { isGone }]) => !isGone);
  const pods = [...latest(sightings, 'pods')];
  return {
    nodes: Object.fromEntries(nodes.map(([name, { object }]) => [name, nodeFace(object, step)])),
    pods: Object.fromEntries(pods.map(([name, { object, isGone }]) => [name, podFace(object, isGone)])),
    events: Object.fromEntries(eventsIn(step).map((event) => [eventLine(event), true])),
    subjects: subjects(eventsIn(sightings), identitiesIn(sightings)),
  };
}

/** `key:effect` of the taints of one version of a node. */
export function taintsOf(node: unknown): readonly string[] {
  return ((node as Seen).spec.taints ?? []).map(({ key, effect }) => `${short(key)}:${effect}`).sort();
}

/** The status of a condition of one version of an object. */
export function conditionOf(object: unknown, type: string): string | undefined {
  return (object as Seen).status.conditions?.find((condition) => condition.type === type)?.status;
}

interface Latest {
  readonly object: Seen;
  readonly isGone: boolean;
}

function latest(sightings: readonly Sighting[], of: Watched): ReadonlyMap<string, Latest> {
  const found = new Map<string, Latest>();
  for (const { frame, of: what } of sightings) {
    const object = frame.object as unknown as Seen;
    if (what === of) found.set(object.metadata.name, { object, isGone: frame.type === 'DELETED' });
  }
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function nodeFace(node: Seen, step: readonly Sighting[]): NodeFace {
  const versions = step.filter(({ of, frame }) => of === 'nodes' && frame.object.metadata?.uid === node.metadata.uid);
  const carried = [node, ...versions.map(({ frame }) => frame.object)].flatMap((version) =>
    taintsOf(version).filter((taint) => taint.endsWith(':NoExecute')),
  );
  return {
    labels: node.metadata.labels ?? {},
    taints: (node.spec.taints ?? []).map(taintLine).sort(),
    carried: [...new Set(carried)].sort(),
    conditions: conditionFaces(node),
  };
}

function podFace(pod: Seen, isGone: boolean): PodFace {
  const isLeaving = pod.metadata.deletionTimestamp !== undefined;
  return {
    presence: isGone ? 'gone' : isLeaving ? 'being deleted' : 'there',
    phase: pod.status.phase ?? '',
    conditions: conditionFaces(pod),
  };
}

function conditionFaces({ metadata, status }: Seen): Readonly<Record<string, ConditionFace>> {
  const faces = (status.conditions ?? []).map(({ type, ...rest }) => {
    const { lastHeartbeatTime, lastTransitionTime, lastProbeTime: _probe, ...words } = rest;
    const isBirth = lastHeartbeatTime === metadata.creationTimestamp;
    const times = {
      ...(lastHeartbeatTime ? { heartbeat: isBirth ? 'creation' : authorOf(lastHeartbeatTime) } : {}),
      ...(lastTransitionTime ? { transition: authorOf(lastTransitionTime) } : {}),
    };
    return [type, { ...(words as ConditionFace), ...times }] as const;
  });
  return Object.fromEntries(faces.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function authorOf(time: string): Author {
  return Date.parse(time) < Date.now() - nodeClockBehindMs / 2 ? 'kubelet' : 'controller';
}

function taintLine({ key, value, effect, timeAdded }: Taint): string {
  const identity = `${short(key)}${value === undefined ? '' : `=${value}`}:${effect}`;
  return timeAdded === undefined ? identity : `${identity} stamped`;
}

function short(key: string): string {
  return key.replace('node.kubernetes.io/', '');
}

const subjectsOfControllers: ReadonlySet<string> = new Set(['Node', 'Pod', 'Namespace']);

/** Events of controllers; the repair loops of kube-apiserver record others, about Services, on any control plane. */
function eventsIn(sightings: readonly Sighting[]): readonly SeenEvent[] {
  const events = sightings.filter(({ of }) => of === 'events').map(({ frame }) => frame.object as unknown as SeenEvent);
  return events.filter(({ involvedObject: { kind } }) => subjectsOfControllers.has(kind));
}

/** Reporting component, type, reason, object and message. */
function eventLine(event: SeenEvent): string {
  return `${speaker(event)} ${event.type} ${event.reason} ${event.involvedObject.name}: ${event.message}`;
}

function speaker({ source: { component = '', host = '' }, reportingComponent = '' }: SeenEvent): string {
  return [component, host, reportingComponent]
    .filter((part, place, all) => part !== '' && all.indexOf(part) === place)
    .join(' ');
}

function subjects(recorded: readonly SeenEvent[], known: ReadonlySet<string>): Observation['subjects'] {
  const faces = recorded.map(({ reason, involvedObject: { kind, name, uid, ...identity } }) => {
    const uidFace = uid === undefined ? [] : [known.has(`${kind} ${name} ${uid}`) ? 'own uid' : 'unknown uid'];
    return [`${reason} ${kind}`, [...Object.keys(identity).sort(), ...uidFace].join(', ')] as const;
  });
  const kinds = [...new Set(faces.map(([kind]) => kind))];
  return Object.fromEntries(
    kinds.map((kind) => [kind, [...new Set(faces.flatMap(([of, face]) => (of === kind ? [face] : [])))].sort()]),
  );
}

/** Every `Kind name uid` that ever existed. */
function identitiesIn(sightings: readonly Sighting[]): ReadonlySet<string> {
  const kinds = { nodes: 'Node', pods: 'Pod' } as const;
  return new Set(
    sightings.flatMap(({ of, frame }) => {
      const { name, uid } = (frame.object as unknown as Seen).metadata;
      return of === 'events' ? [] : [`${kinds[of]} ${name} ${uid}`];
    }),
  );
}
