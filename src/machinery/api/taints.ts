/** Taints: keys and pure functions on lists of taints. Identity is key and effect, as in kube-controller-manager. */

export interface Taint {
  readonly key: string;
  readonly value?: string;
  /** One of `NoSchedule`, `PreferNoSchedule` and `NoExecute`; an unknown effect is preserved and has no meaning. */
  readonly effect: string;
  /** RFC 3339; when a NoExecute taint was added. A pod's tolerationSeconds count from here. */
  readonly timeAdded?: string;
}

/** String fields that are not times. */
export const taintTexts = ['key', 'value', 'effect'] as const satisfies readonly (keyof Taint)[];
export const taintTimes = ['timeAdded'] as const satisfies readonly (keyof Taint)[];

export const taintKeys = {
  notReady: 'node.kubernetes.io/not-ready',
  unreachable: 'node.kubernetes.io/unreachable',
  memoryPressure: 'node.kubernetes.io/memory-pressure',
  diskPressure: 'node.kubernetes.io/disk-pressure',
  networkUnavailable: 'node.kubernetes.io/network-unavailable',
  pidPressure: 'node.kubernetes.io/pid-pressure',
  unschedulable: 'node.kubernetes.io/unschedulable',
} as const;

/**
 * The node is down for certain: pods that are being deleted there are deleted by force, and their volumes detached. Added by
 * an administrator, or by this controller where a policy says so.
 */
export const outOfServiceTaintKey = 'node.kubernetes.io/out-of-service';
/** The value with which this controller adds that taint, so that one of an administrator is never removed. */
export const ownOutOfServiceValue = 'node-lifecycle-controller';

/** With NoSchedule: the node recovered so often that it gets no new pods for a while. Of this controller only. */
export const flappingTaintKey = 'nodelifecycle/flapping';

/** Set by the node controller of a cloud while the machine is shut down. */
export const fencingTaints: readonly string[] = ['node.cloudprovider.kubernetes.io/shutdown'];

/** The keys of the taints that the controller adds, or acts on by default. */
export const ownTaintKeys: readonly string[] = [
  ...Object.values(taintKeys),
  outOfServiceTaintKey,
  flappingTaintKey,
  ...fencingTaints,
];

/** The two NoExecute keys for a node's health. A node never has both. */
export type HealthTaintKey = typeof taintKeys.notReady | typeof taintKeys.unreachable;

export const healthTaintKeys: readonly HealthTaintKey[] = [taintKeys.unreachable, taintKeys.notReady];

/** True if the key is not-ready or unreachable, whatever the effect. */
export function isHealthTaint({ key }: Pick<Taint, 'key'>): boolean {
  return healthTaintKeys.some((known) => known === key);
}

/** Whether a taint evicts for the health of the node: a health taint, or the taint out-of-service that this controller adds. */
export function isForHealth({ key, value }: Pick<Taint, 'key' | 'value'>): boolean {
  return isHealthTaint({ key }) || (key === outOfServiceTaintKey && value === ownOutOfServiceValue);
}

export function isOwnTaint({ key }: Taint): boolean {
  return ownTaintKeys.includes(key);
}

export function sameTaint(a: Taint, b: Taint): boolean {
  return a.key === b.key && a.effect === b.effect;
}

/** Different for taints that are not the same, whatever is in their fields. */
function identityOf({ key, effect }: Taint): string {
  return `${key?.length} ${key} ${effect}`;
}

function byIdentity(taints: readonly Taint[]): ReadonlyMap<string, Taint> {
  return new Map(taints.map((taint) => [identityOf(taint), taint]));
}

export function hasTaint(taints: readonly Taint[], key: string, effect: string): boolean {
  return taints.some((taint) => taint.key === key && taint.effect === effect);
}

export function noExecuteTaints(taints: readonly Taint[]): readonly Taint[] {
  return taints.filter((taint) => taint.effect === 'NoExecute');
}

export interface TaintChange {
  readonly add: readonly Taint[];
  readonly remove: readonly Taint[];
}

/** Taints to add and to remove, by key and effect; values are not compared (upstream `taints.TaintSetDiff`). */
export function diffTaints(wanted: readonly Taint[], existing: readonly Taint[]): TaintChange {
  const [isWanted, isThere] = [byIdentity(wanted), byIdentity(existing)];
  return {
    add: wanted.filter((taint) => !isThere.has(identityOf(taint))),
    remove: existing.filter((taint) => !isWanted.has(identityOf(taint))),
  };
}

/**
 * The list after `add` and `remove`: an existing taint of the same key and effect is replaced in place if its value differs,
 * a new one is appended (upstream `taints.AddOrUpdateTaint`). One that is there already, as an earlier write may have put it
 * there, keeps its time: a later `timeAdded` is another taint, with a countdown of its own.
 */
export function changeTaints(taints: readonly Taint[], change: TaintChange): readonly Taint[] {
  const [removed, added] = [byIdentity(change.remove), byIdentity(change.add)];
  const kept = taints
    .filter((taint) => !removed.has(identityOf(taint)))
    .map((taint) => {
      const wanted = added.get(identityOf(taint));
      return wanted === undefined || sameValue(wanted, taint) ? taint : wanted;
    });
  const isKept = byIdentity(kept);
  return [...kept, ...change.add.filter((taint) => !isKept.has(identityOf(taint)))];
}

/** Whether both lists have the same taints in the same order, with all fields equal. */
export function equalTaints(a: readonly Taint[], b: readonly Taint[]): boolean {
  return a.length === b.length && a.every((taint, index) => isEqual(taint, b[index]));
}

function isEqual(a: Taint, b: Taint | undefined): boolean {
  return b !== undefined && sameTaint(a, b) && sameValue(a, b) && a.timeAdded === b.timeAdded;
}

function sameValue(a: Taint, b: Taint): boolean {
  return (a.value ?? '') === (b.value ?? '');
}
