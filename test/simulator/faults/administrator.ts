// What people and tools write to a node that policies read: the signals of planned maintenance, and the evidence of fencing.
import { type Condition, findCondition, listConditions } from '../../../src/machinery/api/conditions.ts';
import { fencedAnnotation, type Node } from '../../../src/machinery/api/node.ts';
import { fencingTaints, outOfServiceTaintKey, type Taint } from '../../../src/machinery/api/taints.ts';
import { formatTime } from '../../../src/machinery/api/timestamps.ts';
import type { Storage } from '../../../src/simulator/server/storage.ts';
import { wallStartMs, type World } from '../../../src/simulator/world.ts';
import type { ClusterFault } from './world-fault.ts';

type Undo = () => void;
/** Attempt of an act, which may be refused. */
type Try = (act: () => void) => void;
type Of<K extends ClusterFault['kind']> = Extract<ClusterFault, { kind: K }>;

export const maintenanceCondition = 'MaintenanceInProgress';
export const maintenanceTaint = 'example.com/upgrade';
export const fencedCondition = 'Fenced';
export const fencedTaint = fencingTaints[0] ?? '';

/** Returns the function that ends it. */
export function beginMaintenance(
  world: World,
  { node, signal, ageSeconds = 0 }: Of<'maintenance'>,
  attempt: Try,
): Undo {
  const { storage } = world;
  if (signal === 'condition') {
    const set = (status: Condition['status']): void =>
      setCondition(world, node, { type: maintenanceCondition, status }, ageSeconds);
    attempt(() => set('True'));
    return () => attempt(() => set('False'));
  }
  const stamp = signal === 'taint' ? { timeAdded: timeText(world, ageSeconds) } : {};
  attempt(() => addTaint(storage, node, { key: maintenanceTaint, effect: 'PreferNoSchedule', ...stamp }));
  return () => attempt(() => removeTaint(storage, node, maintenanceTaint));
}

/**
 * Returns the function that removes the evidence, as an agent does when the machine is switched on. What it left on the node
 * before is removed first: evidence of which only the time changes does not appear again.
 */
export function fence(world: World, { node, evidence, boot, afterMs, isLeft }: Of<'fencing'>, attempt: Try): Undo {
  let isOver = false;
  if (hasEvidence(world.storage, node, evidence)) attempt(() => removeEvidence(world, node, evidence));
  world.timeline.after(afterMs, () => attempt(() => (isOver ? undefined : show())));
  const show = (): void => {
    if (evidence === 'annotation') annotate(world.storage, node, boot);
    if (evidence === 'condition') setCondition(world, node, { type: fencedCondition, status: 'True' });
    if (evidence === 'taint') addTaint(world.storage, node, { key: fencedTaint, effect: 'NoSchedule' });
  };
  return () => {
    isOver = true;
    if (!isLeft) attempt(() => removeEvidence(world, node, evidence));
  };
}

function hasEvidence(storage: Storage, name: string, evidence: Of<'fencing'>['evidence']): boolean {
  const node: Node | undefined = storage.get('nodes', { name });
  const { status } = findCondition(listConditions(node?.status?.conditions), fencedCondition) ?? {};
  if (evidence === 'condition') return status === 'True';
  return evidence === 'taint' && (node?.spec?.taints ?? []).some(({ key }) => key === fencedTaint);
}

/** An annotation is left: it names its boot. */
function removeEvidence(world: World, node: string, evidence: Of<'fencing'>['evidence']): void {
  if (evidence === 'condition') setCondition(world, node, { type: fencedCondition, status: 'False' });
  if (evidence === 'taint') removeTaint(world.storage, node, fencedTaint);
}

function annotate(storage: Storage, name: string, boot: Of<'fencing'>['boot']): void {
  const node: Node | undefined = storage.get('nodes', { name });
  const bootID = node?.status?.nodeInfo?.['bootID'] ?? '';
  const value = boot === 'this' ? bootID : `${bootID}-earlier`;
  if (bootID !== '') storage.merge('nodes', { name }, { metadata: { annotations: { [fencedAnnotation]: value } } });
}

function addTaint(storage: Storage, node: string, taint: Taint): void {
  editTaints(storage, node, (taints) => [...taints.filter(({ key }) => key !== taint.key), taint]);
}

function removeTaint(storage: Storage, node: string, removed: string): void {
  editTaints(storage, node, (taints) => taints.filter(({ key }) => key !== removed));
}

/** Removes the taints out-of-service of users that a restore of etcd brought back, but these (`node effect`). The controller's have a value. */
export function removeRestoredTaints({ storage }: World, lasting: readonly string[], attempt: Try): void {
  const nodes: readonly Node[] = storage.list('nodes');
  for (const { metadata, spec } of nodes) {
    const { name = '' } = metadata;
    const isRestored = ({ key, value, effect }: Taint): boolean =>
      key === outOfServiceTaintKey && value === undefined && !lasting.includes(`${name} ${effect}`);
    if (spec?.taints?.some(isRestored) !== true) continue;
    attempt(() => editTaints(storage, name, (taints) => taints.filter((taint) => !isRestored(taint))));
  }
}

/** Nothing for a node that does not exist. Throws an ApiError if it is refused. */
export function editTaints(storage: Storage, name: string, edit: (taints: readonly Taint[]) => readonly Taint[]): void {
  const node: Node | undefined = storage.get('nodes', { name });
  if (node !== undefined) storage.merge('nodes', { name }, { spec: { taints: edit(node.spec?.taints ?? []) } });
}

function setCondition(world: World, name: string, set: Pick<Condition, 'type' | 'status'>, ageSeconds = 0): void {
  const node: Node | undefined = world.storage.get('nodes', { name });
  if (node === undefined) return;
  const others = listConditions(node.status?.conditions).filter(({ type }) => type !== set.type);
  const condition = { ...set, reason: 'ByAdministrator', message: '', lastTransitionTime: timeText(world, ageSeconds) };
  world.storage.merge('nodes', { name }, { status: { conditions: [...others, condition] } }, 'status');
}

function timeText({ timeline }: World, ageSeconds: number): string {
  return formatTime(wallStartMs + timeline.nowMs - ageSeconds * 1_000);
}
