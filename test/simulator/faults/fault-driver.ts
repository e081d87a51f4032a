import { ApiError } from '../../../src/machinery/api/api-error.ts';
import { outOfServiceTaintKey } from '../../../src/machinery/api/taints.ts';
import { formatTime } from '../../../src/machinery/api/timestamps.ts';
import { oneOf } from '../../../src/simulator/draw.ts';
import { zoneLabel } from '../../../src/simulator/node-fields.ts';
import { wallStartMs, type World } from '../../../src/simulator/world.ts';
import type { Fault } from '../../../src/hollow-cluster/kubelet/faults/fault.ts';
import { beginMaintenance, editTaints, fence, removeRestoredTaints } from './administrator.ts';
import { addNetworkFault, isChosen } from './network-faults.ts';
import { addTemporaryNodes } from './temporary-nodes.ts';
import { enlarge, shrinkOthers } from './large-objects.ts';
import { beginUserAct, removeFinalizers, removeAnnotations } from './user-acts.ts';
import {
  type ClusterFault,
  isNetworkFault,
  isReplicaFault,
  isServerFault,
  isUserFault,
  type PlannedFault,
  type ReplicaFault,
  type ServerFault,
  type UserFault,
  type WorldFault,
} from './world-fault.ts';

type AdministratorFault = Extract<ClusterFault, { kind: 'maintenance' | 'fencing' | 'large-object' }>;
type Undo = () => void;
const nothing: Undo = () => undefined;

/** A leader compares its clocks at each attempt to renew its lease, and at each write. */
const clockCheckedMs = 5_000;

/** Carries out the planned faults, and undoes those that last. */
export class FaultDriver {
  readonly #world: World;
  readonly #prefix: string;
  #faults = 0;
  #repairs = 0;
  /** When the wall clock of a machine was last set back. */
  readonly #setBackAtMs = new Map<string, number>();
  /** Time of the last resume after a suspend, by process. */
  readonly #resumedAtMs = new Map<string, number>();
  /** Faults that have not ended. Each planned fault is an object of its own. */
  readonly #lasting = new Map<WorldFault, Undo>();
  /** Faults by which leases cannot be decoded. */
  #undecodable = 0;

  /** `prefix`: of the names of its faults. */
  constructor(world: World, prefix: string) {
    this.#world = world;
    this.#prefix = prefix;
  }

  schedule(planned: readonly PlannedFault[]): void {
    for (const { atMs, forMs, fault } of planned) {
      this.#world.timeline.at(atMs, () => {
        this.#world.trace.add('fault', () => `${JSON.stringify(fault)} for ${forMs} ms`);
        const undo = this.#begin(fault, forMs);
        if (undo === nothing) return;
        this.#lasting.set(fault, undo);
        this.#world.timeline.after(forMs, () => this.#end(fault, undo));
      });
    }
  }

  /** Ends all that lasts longer than the faults of a run. */
  endAll(): void {
    for (const [fault, undo] of this.#lasting) this.#end(fault, undo);
  }

  #end(fault: WorldFault, undo: Undo): void {
    if (!this.#lasting.delete(fault)) return;
    this.#world.trace.add('fault', () => `end of ${fault.kind}`);
    undo();
    if (fault.kind !== 'undecodable-objects') return;
    this.#repair(fault);
    if (fault.resource === 'leases') this.#undecodable -= 1;
    this.#noteUndecodable();
  }

  #noteUndecodable(): void {
    const { timeline, undecodableLeasesUntilMs } = this.#world;
    if (this.#undecodable > 0) this.#world.undecodableLeasesUntilMs = Infinity;
    else if (undecodableLeasesUntilMs === Infinity) this.#world.undecodableLeasesUntilMs = timeline.nowMs;
  }

  /** A user writes the objects again, in a form that can be decoded. */
  #repair({ resource, share }: Extract<WorldFault, { kind: 'undecodable-objects' }>): void {
    const { storage } = this.#world;
    this.#repairs += 1;
    for (const { metadata } of storage.list(resource)) {
      const { name = '', namespace } = metadata;
      const body = { metadata: { annotations: { 'example.com/repaired': String(this.#repairs) } } };
      const objectName = { name, ...(namespace === undefined ? {} : { namespace }) };
      if (isChosen(name, share)) this.#try(() => storage.merge(resource, objectName, body));
    }
  }

  #begin(fault: WorldFault, forMs: number): Undo {
    if (fault.kind === 'undecodable-objects' && fault.resource === 'leases') this.#undecodable += 1;
    this.#noteUndecodable();
    if (isNetworkFault(fault)) return addNetworkFault(this.#world.network, fault);
    if (isServerFault(fault)) return this.#onServers(fault);
    if (isReplicaFault(fault)) return this.#onReplica(fault, forMs);
    if (isUserFault(fault)) return beginUserAct(this.#world, fault, (act) => this.#try(act)) ?? nothing;
    return isOfAdministrator(fault) ? this.#onAdministrator(fault, forMs) : this.#onCluster(fault, forMs);
  }

  #onServers(fault: ServerFault): Undo {
    const world = this.#world;
    switch (fault.kind) {
      case 'server-down':
        return world.stopServers([fault.server]);
      case 'all-servers-down':
        return world.stopServers([...world.servers.keys()]);
      case 'cache-lag':
        return world.lag(fault.server, fault.ms);
      case 'compaction':
        world.server(fault.server).compact();
        return nothing;
      case 'watches-ended':
        world.server(fault.server).endWatches();
        return nothing;
      case 'no-bookmarks':
        world.server(fault.server).sendsBookmarks = false;
        return () => {
          world.server(fault.server).sendsBookmarks = true;
        };
      case 'restore':
        world.restore(fault.ageMs);
        this.#removeRestored();
        return nothing;
    }
  }

  /** What was removed from pods and nodes before a restore brought it back is removed again. */
  #removeRestored(): void {
    const attempt = (act: () => void): void => this.#try(act);
    const lasting = [...this.#lasting.keys()];
    if (lasting.every(({ kind }) => kind !== 'finalizer')) removeFinalizers(this.#world, attempt);
    const annotated = lasting.flatMap((fault) => (fault.kind === 'annotation' ? [`${fault.node} ${fault.key}`] : []));
    removeAnnotations(this.#world, annotated, attempt);
    const tainted = lasting.flatMap((fault) =>
      fault.kind === 'foreign-taint' && fault.key === outOfServiceTaintKey ? [`${fault.node} ${fault.effect}`] : [],
    );
    removeRestoredTaints(this.#world, tainted, attempt);
    const large = lasting.flatMap((fault) => (fault.kind === 'large-object' ? [fault.node] : []));
    shrinkOthers(this.#world.storage, large, attempt);
  }

  #onReplica(fault: ReplicaFault, forMs: number): Undo {
    const replica = this.#world.replicas.get(fault.replica);
    switch (fault.kind) {
      case 'clock-step':
        this.#stepWall(fault.replica, fault.byMs);
        return nothing;
      case 'kill':
        replica?.kill(forMs);
        return nothing;
      case 'terminate':
        replica?.terminate();
        return nothing;
      case 'pause':
        return this.#pause(fault.replica);
      case 'suspend':
        return this.#suspend(fault.replica);
    }
  }

  /** No process can notice a suspend if the wall clock is set back meanwhile, or before or after it without a check in between. */
  #stepWall(name: string, byMs: number): void {
    const machine = this.#world.machines.get(name);
    const isChecked = this.#world.replicas.get(name)?.run?.process.isPaused !== true;
    const resumedMs = this.#world.timeline.nowMs - (this.#resumedAtMs.get(name) ?? -Infinity);
    if (machine?.isSuspended !== false || (byMs < 0 && !(isChecked && resumedMs >= clockCheckedMs))) return;
    machine.stepWall(byMs);
    if (byMs < 0) this.#setBackAtMs.set(name, this.#world.timeline.nowMs);
  }

  #pause(name: string): Undo {
    const process = this.#world.replicas.get(name)?.run?.process;
    process?.pause();
    return () => process?.resume();
  }

  #suspend(name: string): Undo {
    const machine = this.#world.machines.get(name);
    const setBackAtMs = this.#setBackAtMs.get(name) ?? -Infinity;
    if (this.#world.timeline.nowMs - setBackAtMs < clockCheckedMs || machine?.suspend() !== true) return nothing;
    const resume = this.#pause(name);
    return () => {
      machine.wakeUp();
      this.#resumedAtMs.set(name, this.#world.timeline.nowMs);
      resume();
    };
  }

  #onCluster(fault: Exclude<ClusterFault, AdministratorFault | UserFault>, forMs: number): Undo {
    switch (fault.kind) {
      case 'node':
        this.#onNodes(fault.names, fault.fault, forMs);
        return nothing;
      case 'recreate-node':
        this.#onNodes([fault.node], { kind: 'crash', of: 'delete-node', downMs: forMs });
        return nothing;
      case 'settings':
        return this.#world.changeSettings(fault.change);
      case 'foreign-taint':
        return this.#taint(fault);
      case 'label':
        this.#label(fault.node, fault.key, fault.value);
        return nothing;
      case 'zone-move':
        this.#label(fault.node, zoneLabel, fault.zone);
        return nothing;
      case 'temporary-nodes':
        return addTemporaryNodes(this.#world, fault, (act) => this.#try(act));
      case 'delete-pods':
        for (let left = fault.count; left > 0; left -= 1) this.#deletePod();
        return nothing;
    }
  }

  #onAdministrator(fault: AdministratorFault, forMs: number): Undo {
    const attempt = (act: () => void): void => this.#try(act);
    if (fault.kind === 'large-object') return enlarge(this.#world.storage, fault, attempt);
    if (fault.kind === 'maintenance') return beginMaintenance(this.#world, fault, attempt);
    this.#onNodes([fault.node], { kind: 'crash', of: 'machine', downMs: forMs });
    return fence(this.#world, fault, attempt);
  }

  #onNodes(names: readonly string[], fault: Fault, forMs?: number): void {
    this.#faults += 1;
    const order = { id: `${this.#prefix}-${this.#faults}`, selector: { names }, fault };
    this.#world.fleet.faults.post(forMs === undefined ? order : { ...order, forMs });
  }

  #label(node: string, key: string, value: string): void {
    this.#try(() => this.#world.storage.merge('nodes', { name: node }, { metadata: { labels: { [key]: value } } }));
  }

  /** A user adds a taint, and removes it later. */
  #taint({ node, key, effect, ageSeconds = 0 }: Extract<ClusterFault, { kind: 'foreign-taint' }>): Undo {
    const addedAtMs = wallStartMs + this.#world.timeline.nowMs - ageSeconds * 1_000;
    const stamp = ageSeconds === 0 ? {} : { timeAdded: formatTime(addedAtMs) };
    const change = (edit: Parameters<typeof editTaints>[2]): void =>
      this.#try(() => editTaints(this.#world.storage, node, edit));
    const others = (taint: { readonly key: string; readonly effect: string }): boolean =>
      taint.key !== key || taint.effect !== effect;
    change((taints) => [...taints.filter(others), { key, effect, ...stamp }]);
    return () => change((taints) => taints.filter(others));
  }

  #deletePod(): void {
    const { storage, random } = this.#world;
    const pods = storage.list('pods');
    if (pods.length === 0) return;
    const { namespace = 'default', name = '' } = oneOf(random, pods).metadata;
    this.#try(() => storage.delete('pods', { namespace, name }));
  }

  /** Attempts an act of a user, which may be refused. */
  #try(act: () => void): void {
    try {
      act();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.#world.trace.add('user', () => `refused: ${error.message}`);
    }
  }
}

function isOfAdministrator(fault: ClusterFault): fault is AdministratorFault {
  return fault.kind === 'maintenance' || fault.kind === 'fencing' || fault.kind === 'large-object';
}
