// The storage that all simulated API servers share: etcd, with backups, and the world's own writes, which pass no network.
import type { KubeObject } from '../../machinery/api/meta.ts';
import { objectKey } from '../../machinery/api/object-key.ts';
import { groupVersion, type ResourceName, resources } from '../../machinery/api/resources.ts';
import { initialNamespaces } from '../../hollow-cluster/apiserver/kinds/namespace/namespace-lifecycle.ts';
import { ObjectRegistry } from '../../hollow-cluster/apiserver/registry/object-registry.ts';
import type { Target } from '../../hollow-cluster/apiserver/registry/request-target.ts';
import { DisruptionBudgets } from '../../hollow-cluster/apiserver/kinds/budget/disruption-budgets.ts';
import { makeStrategies } from '../../hollow-cluster/apiserver/kinds/strategies.ts';
import type { Endpoint } from '../../hollow-cluster/apiserver/kinds/strategy.ts';
import { findServedResource, tableOf } from '../../hollow-cluster/apiserver/resources.ts';
import type { StoreChange } from '../../hollow-cluster/apiserver/storage/store-change.ts';
import type { ObjectType, StoredObject } from '../../hollow-cluster/apiserver/storage/stored-object.ts';
import { type Backup, VersionedStore } from '../../hollow-cluster/apiserver/storage/versioned-store.ts';
import type { Labels } from '../../machinery/api/topology.ts';
import type { Clock } from '../../machinery/ports/clock.ts';
import type { ObjectName } from '../../machinery/ports/kube-reader.ts';
import type { Random } from '../../machinery/ports/random.ts';

const defaultTolerationSeconds = 300;
export const writeOptions = { dryRun: false, fieldValidation: 'Ignore' } as const;

/** Who makes a request: a process and the client of it, such as `replica-1/main`; the world itself is `user`. */
export interface Requester {
  readonly process: string;
  readonly client: string;
}

const user: Requester = { process: 'user', client: 'user' };

const types: ReadonlyMap<string, ObjectType> = new Map(
  Object.entries(resources).map(([name, resource]) => [
    name,
    { kind: resource.kind, apiVersion: groupVersion(resource) },
  ]),
);

/** Resources with a table of their own; both names of events are those of one table. */
const storedResources = Object.keys(resources).filter(
  (name): name is ResourceName => Object.hasOwn(resources, name) && name !== 'events.events.k8s.io',
);

interface ObjectPlace {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

interface PatchTarget {
  readonly resource: ResourceName;
  readonly subresource: 'status' | undefined;
}

/** Body of a patch, as a webhook changes it. */
type Webhook = (target: PatchTarget, body: unknown) => unknown;

type CommitListener = (resource: ResourceName, change: StoreChange, by: Requester) => void;

export class Storage {
  readonly store: VersionedStore;
  readonly #strategies = makeStrategies(defaultTolerationSeconds);
  readonly #registry: ObjectRegistry;
  readonly #listeners: CommitListener[] = [];
  readonly #webhooks = new Set<Webhook>();
  readonly #restoreListeners: (() => void)[] = [];
  readonly #targets = new Map<ResourceName, Omit<Target, 'namespace' | 'name' | 'endpoint'>>();
  #writer: Requester = user;

  constructor(clock: Clock, random: Random) {
    this.store = new VersionedStore({ clock, resources: [...this.#strategies.keys()] });
    this.#registry = new ObjectRegistry(this.store, clock, random);
    for (const name of initialNamespaces) this.create('namespaces', { metadata: { name } });
    for (const resource of storedResources) {
      if (!this.#strategies.has(tableOf(resources[resource]))) continue;
      const deliver = (change: StoreChange): void => {
        for (const listener of this.#listeners) listener(resource, change, this.#writer);
      };
      this.store.table(tableOf(resources[resource])).hub.add({ bucket: '', deliver });
    }
  }

  /** Called inside each commit; must only note it. */
  onCommit(listener: CommitListener): void {
    this.#listeners.push(listener);
  }

  /** Called when all objects may have changed without a commit. */
  onRestore(listener: () => void): void {
    this.#restoreListeners.push(listener);
  }

  /** A registry whose server has its own clock. */
  registry(clock: Clock, random: Random): ObjectRegistry {
    return new ObjectRegistry(this.store, clock, random);
  }

  /** Returns the function that removes it. */
  addWebhook(webhook: Webhook): () => void {
    this.#webhooks.add(webhook);
    return () => this.#webhooks.delete(webhook);
  }

  /** Body of a patch of the controller, after all webhooks. */
  admit(target: PatchTarget, body: unknown): unknown {
    return [...this.#webhooks].reduce((admitted: unknown, webhook) => webhook(target, admitted), body);
  }

  /** The PodDisruptionBudgets, for a server with this registry. */
  budgets(registry: ObjectRegistry, clock: Clock): DisruptionBudgets {
    return new DisruptionBudgets({ store: this.store, registry, clock, target: this.#budgetTarget(undefined) });
  }

  /** Commits of `write` are noted as made by `by`. */
  write<T>(by: Requester, write: () => T): T {
    this.#writer = by;
    try {
      return write();
    } finally {
      this.#writer = user;
    }
  }

  /** The object of a request as the registry takes it, or all of a resource or of a namespace. */
  target(resource: ResourceName, { namespace, name }: ObjectPlace = {}, endpoint: Endpoint = ''): Target {
    const { group, version, plural, namespaced } = resources[resource];
    const known = this.#targets.get(resource) ?? this.#findTarget(group, version, plural);
    this.#targets.set(resource, known);
    return { ...known, namespace: namespaced ? namespace : undefined, name, endpoint };
  }

  /** The object as a client receives it. Shared: not to be changed. */
  decode(resource: ResourceName, stored: StoredObject): KubeObject {
    const type = types.get(resource);
    if (type === undefined) throw new RangeError(`unknown resource ${resource}`);
    return stored.typed(type);
  }

  // --- the world's own reads and writes ---

  get(resource: ResourceName, { namespace, name }: ObjectName): KubeObject | undefined {
    const stored = this.store.get(tableOf(resources[resource]), objectKey(namespace, name));
    return stored === undefined ? undefined : this.decode(resource, stored);
  }

  list(resource: ResourceName): readonly KubeObject[] {
    return [...this.store.table(tableOf(resources[resource])).now().list()].map((stored) =>
      this.decode(resource, stored),
    );
  }

  /** Throws an ApiError, as all three. */
  create(resource: ResourceName, object: KubeObject): void {
    const target = this.target(resource, { namespace: object.metadata.namespace });
    this.write(user, () => this.#registry.create(target, object, writeOptions));
  }

  merge(resource: ResourceName, name: ObjectName, body: unknown, endpoint: Endpoint = ''): void {
    const target = this.target(resource, name, endpoint);
    this.write(user, () => this.#registry.patch(target, { type: 'merge', body }, writeOptions));
  }

  delete(resource: ResourceName, name: ObjectName): void {
    this.write(user, () => this.#registry.delete(this.target(resource, name), { dryRun: false }));
  }

  /** Creates a budget of all pods with this label, or of all pods, whose status allows so many evictions. */
  createBudget(name: string, matchLabels: Labels, disruptionsAllowed: number): void {
    const budget = { metadata: { name }, spec: { selector: { matchLabels }, minAvailable: 1 } };
    const status = { disruptionsAllowed, currentHealthy: 0, desiredHealthy: 1, expectedPods: 1, observedGeneration: 1 };
    const target = this.#budgetTarget(undefined);
    this.write(user, () => this.#registry.create(target, budget, writeOptions));
    const patch = { type: 'merge', body: { status } } as const;
    const statusTarget: Target = { ...this.#budgetTarget(name), endpoint: 'status' };
    this.write(user, () => this.#registry.patch(statusTarget, patch, writeOptions));
  }

  /** Deletes all budgets: after a restore of etcd there may be some that were deleted before. */
  deleteBudgets(): void {
    const names = [...this.store.table('poddisruptionbudgets.policy').now().list()].map((stored) => stored.name);
    for (const name of names) this.deleteBudget(name);
  }

  deleteBudget(name: string): void {
    this.write(user, () => this.#registry.delete(this.#budgetTarget(name), { dryRun: false }));
  }

  #budgetTarget(name: string | undefined): Target {
    const found = this.#findTarget('policy', 'v1', 'poddisruptionbudgets');
    return { ...found, namespace: 'default', name, endpoint: '' };
  }

  backup(): Backup {
    return this.store.backup();
  }

  restore(backup: Backup): void {
    this.store.restore(backup);
    for (const listener of this.#restoreListeners) listener();
  }

  #findTarget(group: string, version: string, plural: string): Omit<Target, 'namespace' | 'name' | 'endpoint'> {
    const served = findServedResource(group, version, plural);
    const strategy = this.#strategies.get(tableOf({ group, plural }));
    if (served === undefined || strategy === undefined) throw new RangeError(`${plural} are not served`);
    return { served, strategy };
  }
}
