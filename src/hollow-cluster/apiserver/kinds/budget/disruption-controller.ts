/**
 * Keeps the status of PodDisruptionBudgets up to date (upstream `pkg/controller/disruption`). All that a budget depends on is
 * in its namespace: a pass computes the budgets of namespaces with changes, and once a minute, or after a failure, all.
 */
import { getOrInsert } from '../../../../machinery/api/get-or-insert.ts';
import { sameJson } from '../../../../machinery/api/json-values.ts';
import { compileSelector } from '../../../../machinery/api/label-selector.ts';
import { parseTimestamp } from '../../../../machinery/api/timestamps.ts';
import { buildBudgetStatus, disruptedPodMs } from './build-budget-status.ts';
import { selectorOf } from './disruption-budgets.ts';
import type { Target } from '../../registry/request-target.ts';
import { hasCondition, mapAt, mapsAt, numberAt, textAt } from '../../../../machinery/api/select-field.ts';
import type { StoreChange } from '../../storage/store-change.ts';
import type { StoredObject } from '../../storage/stored-object.ts';
import type { VersionedStore } from '../../storage/versioned-store.ts';
import type { ControllerContext, ServerController } from '../../controllers/controller-loop.ts';

const table = 'poddisruptionbudgets.policy';
const fullPassMs = 60_000;

export class DisruptionController implements ServerController {
  readonly name = 'disruption-controller';
  readonly tables = [table, 'pods', ...scaleTables];
  readonly #context: ControllerContext;
  /** Namespaces with changes since the last pass. */
  #changed = new Set<string>();
  /** When the first eviction that did not delete its pod is no longer counted, by namespace. */
  #recheckAtMs: ReadonlyMap<string, number> = new Map();
  #fullPassAtMs = 0;

  constructor(context: ControllerContext) {
    this.#context = context;
  }

  observe({ object }: StoreChange): void {
    this.#changed.add(object.namespace);
  }

  /** Runs again when the first eviction that did not delete its pod is no longer counted. */
  sync(): number | undefined {
    const { store, clock } = this.#context;
    const startedAtMs = clock.monotonicMs();
    const isFullPass = startedAtMs >= this.#fullPassAtMs;
    const fullPassAtMs = isFullPass ? startedAtMs + fullPassMs : this.#fullPassAtMs;
    const changed = this.#changed;
    this.#changed = new Set();
    // After a failure below, the next pass is a full one.
    this.#fullPassAtMs = startedAtMs;
    const rechecks = new Map<string, number>();
    for (const [namespace, budgets] of Map.groupBy(store.table(table).now().list(), namespaceOf)) {
      const recheckAtMs = this.#recheckAtMs.get(namespace) ?? Number.POSITIVE_INFINITY;
      const isDue = isFullPass || changed.has(namespace) || recheckAtMs <= clock.nowMs();
      rechecks.set(namespace, isDue ? this.#syncNamespace(namespace, budgets) : recheckAtMs);
    }
    this.#recheckAtMs = rechecks;
    this.#fullPassAtMs = fullPassAtMs;
    const nextMs = Math.min(...rechecks.values());
    return nextMs === Number.POSITIVE_INFINITY ? undefined : Math.max(nextMs - clock.nowMs(), 1);
  }

  /** When it must be computed again without a change. */
  #syncNamespace(namespace: string, budgets: readonly StoredObject[]): number {
    const pods = [...this.#context.store.table('pods').now().list(namespace)];
    return Math.min(...budgets.map((budget) => this.#syncBudget(budget, pods)));
  }

  /** `pods` are those of its namespace. */
  #syncBudget({ name, namespace, content }: StoredObject, pods: readonly StoredObject[]): number {
    const { store, registry, clock, targets } = this.#context;
    const isSelected = compileSelector(selectorOf(content));
    const selected = pods.filter(({ labels }) => isSelected(labels));
    const scale = expectedScale(store, selected);
    const nowMs = clock.nowMs();
    const status = buildBudgetStatus({ budget: content, pods: selected.map(factsOf), scale, nowMs });
    if (!sameJson(status, content.status)) {
      const target: Target = { ...targets.of('policy', 'poddisruptionbudgets'), name, namespace, endpoint: 'status' };
      registry.amend(target, (draft) => Object.assign(draft, { status }), false);
    }
    const times = Object.values(mapAt(status, 'disruptedPods')).map((time) => parseTimestamp(String(time)) ?? nowMs);
    return Math.min(...times) + disruptedPodMs + 1;
  }
}

function namespaceOf({ namespace }: StoredObject): string {
  return namespace;
}

/** Tables of the kinds that have a scale, by kind and group. */
const tablesByKind: ReadonlyMap<string, string> = new Map([
  ['apps/Deployment', 'deployments.apps'],
  ['apps/ReplicaSet', 'replicasets.apps'],
  ['apps/StatefulSet', 'statefulsets.apps'],
  ['/ReplicationController', 'replicationcontrollers'],
]);

const scaleTables: readonly string[] = [...tablesByKind.values()];

/**
 * Replicas that the controllers of pods want in total (upstream `DisruptionController.getExpectedScale`). Pods without a
 * controller are not counted. One whose controller has no scale, or is gone, makes the sum unknown.
 */
function expectedScale(store: VersionedStore, pods: readonly StoredObject[]): number | { readonly error: string } {
  const scales = new Map<string, number>();
  const seen = new Set<string>();
  for (const pod of pods) {
    const owner = factsOf(pod).controller;
    if (owner === undefined || seen.has(owner.uid)) continue;
    seen.add(owner.uid);
    const table = tablesByKind.get(`${owner.group}/${owner.kind}`);
    if (table === undefined) return { error: `${describe(owner)} does not implement the scale subresource` };
    const scaled = topmost(store, pod.namespace, owner, table);
    if (scaled === undefined) return { error: `found no controllers for pod ${JSON.stringify(pod.name)}` };
    scales.set(scaled.uid, factsOf(scaled).replicas);
  }
  return [...scales.values()].reduce((sum, replicas) => sum + replicas, 0);
}

/** The owner, or the Deployment of a ReplicaSet. */
function topmost(
  store: VersionedStore,
  namespace: string,
  owner: ControllerRef,
  table: string,
): StoredObject | undefined {
  const found = store.get(table, `${namespace}/${owner.name}`);
  if (found?.uid !== owner.uid) return undefined;
  const above = factsOf(found).controller;
  if (above?.kind !== 'Deployment') return found;
  const deployment = store.get('deployments.apps', `${namespace}/${above.name}`);
  return deployment?.uid === above.uid ? deployment : undefined;
}

function describe({ group, kind }: ControllerRef): string {
  const plural = `${kind.toLowerCase()}s`;
  return group === '' ? plural : `${plural}.${group}`;
}

/** The owner of an object that is its controller. */
interface ControllerRef {
  readonly group: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

/** Facts of one version of an object: the content of one that was sent to a client has to be parsed for each reading. */
interface ObjectFacts {
  readonly name: string;
  readonly isDeleted: boolean;
  /** Whether its condition `Ready` is true. */
  readonly isReady: boolean;
  readonly controller: ControllerRef | undefined;
  /** `spec.replicas`. */
  readonly replicas: number;
}

const known = new WeakMap<StoredObject, ObjectFacts>();

function factsOf(object: StoredObject): ObjectFacts {
  return getOrInsert(known, object, readFacts);
}

function readFacts({ name, content }: StoredObject): ObjectFacts {
  return {
    name,
    isDeleted: content.metadata.deletionTimestamp !== undefined,
    isReady: hasCondition(content, 'Ready'),
    controller: controllerOf(content),
    replicas: numberAt(content, 'spec', 'replicas'),
  };
}

function controllerOf(content: unknown): ControllerRef | undefined {
  const found = mapsAt(content, 'metadata', 'ownerReferences').find(({ controller }) => controller === true);
  if (found === undefined) return undefined;
  const [group, version] = textAt(found, 'apiVersion').split('/');
  const [kind, name, uid] = [textAt(found, 'kind'), textAt(found, 'name'), textAt(found, 'uid')];
  return { group: version === undefined ? '' : (group ?? ''), kind, name, uid };
}
