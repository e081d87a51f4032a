/** Eviction of lifecycle.k8s.io: a pod that is to leave with the help of responders, such as the operator of a database. */
import { FieldReader } from './field-reader.ts';
import type { JsonMap } from './json-map.ts';
import type { KubeObject } from './meta.ts';
import { objectKey, type ObjectKey } from './object-key.ts';

/** The responder of the API itself, which only calls the Eviction API of pods. */
export const imperativeResponder = 'imperative-eviction.k8s.io/evictor';

/** Names of requesters that are kept of one object, which the API allows 100 of. */
const requestersMax = 3;

/** The responder whose turn it is. */
interface ActiveResponder {
  readonly name: string;
  /** Wall time of the API server's clock; undefined: it has sent none. */
  readonly heartbeatAtMs: number | undefined;
  /** It has ended its work, and another one is not active yet. */
  readonly isCompleted: boolean;
}

/** The fields of an Eviction that the controller caches. */
export interface EvictionView {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** Empty where the target is no pod. */
  readonly podName: string;
  readonly podUid: string;
  /** The first names of those that request it. */
  readonly requesters: readonly string[];
  /** Number of all requesters. */
  readonly requesterCount: number;
  /** Undefined: none is active. */
  readonly responder: ActiveResponder | undefined;
  /** Validation problems found while decoding. */
  readonly problems?: readonly string[];
}

/** Transforms an Eviction while it is decoded, in time linear in its size. Never throws. */
export function transformEviction(raw: KubeObject): EvictionView {
  const fields = new FieldReader();
  const { metadata, spec: rawSpec, status: rawStatus }: JsonMap = { ...raw };
  const meta = fields.part('metadata', metadata);
  const pod = fields.part('spec.target.pod', fields.part('spec.target', fields.part('spec', rawSpec)['target'])['pod']);
  const status = fields.part('status', rawStatus);
  // Those that have withdrawn stay in the list.
  const requesters = fields
    .items<Requester>('status.requesters', status['requesters'], ['name', 'intent'])
    .filter(({ intent }) => intent !== 'Withdrawn');
  const view = {
    namespace: fields.text('metadata.namespace', meta['namespace']),
    name: fields.requiredText('metadata.name', meta['name']),
    uid: fields.text('metadata.uid', meta['uid']),
    resourceVersion: fields.text('metadata.resourceVersion', meta['resourceVersion']),
    podName: fields.text('spec.target.pod.name', pod['name']),
    podUid: fields.text('spec.target.pod.uid', pod['uid']),
    requesters: requesters.slice(0, requestersMax).map(({ name }) => fields.shownText('status.requesters.name', name)),
    requesterCount: requesters.length,
    responder: readActiveResponder(status, fields),
  };
  return fields.problems === undefined ? view : { ...view, problems: fields.problems };
}

/** `namespace/name` of an Eviction. */
export function evictionKey({ namespace, name }: Pick<EvictionView, 'namespace' | 'name'>): ObjectKey {
  return objectKey(namespace, name);
}

/** The pod that it is about, for an index: a pod of another namespace, or another pod of the name, is not meant. */
export function targetOf({ namespace, podName, podUid }: EvictionView): string {
  return targetKey(objectKey(namespace, podName), podUid);
}

/** A pod by its key and uid, as {@link targetOf} names it. */
export function targetKey(pod: ObjectKey, uid: string): string {
  return `${pod}/${uid}`;
}

interface Named {
  readonly name?: unknown;
}

interface Requester extends Named {
  readonly intent?: unknown;
}

interface TargetResponder extends Named {
  readonly state?: unknown;
}

interface ResponderStatus extends Named {
  readonly heartbeatTime?: unknown;
  readonly completionTime?: unknown;
}

/** At most one responder is active. What it reports is in another list, by its name. */
function readActiveResponder(status: JsonMap, fields: FieldReader): ActiveResponder | undefined {
  const targets = fields.items<TargetResponder>('status.targetResponders', status['targetResponders'], [
    'name',
    'state',
  ]);
  const active = targets.find(({ state }) => state === 'Active');
  if (active === undefined) return undefined;
  const statuses = fields.items<ResponderStatus>('status.responders', status['responders'], ['name']);
  const own = statuses.find(({ name }) => name === active.name);
  return {
    name: fields.shownText('status.targetResponders.name', active.name),
    heartbeatAtMs: fields.time('status.responders.heartbeatTime', own?.heartbeatTime),
    isCompleted: fields.time('status.responders.completionTime', own?.completionTime) !== undefined,
  };
}
