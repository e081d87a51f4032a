// What was committed during a drill.
import type { Event } from '../../../src/machinery/api/event.ts';
import { flappingAnnotation, type Node, overdueAnnotation } from '../../../src/machinery/api/node.ts';
import type { Pod } from '../../../src/machinery/api/pod.ts';
import type { Taint } from '../../../src/machinery/api/taints.ts';
import type { Toleration } from '../../../src/machinery/api/tolerations.ts';
import type { StoreChange } from '../../../src/hollow-cluster/apiserver/storage/store-change.ts';
import type { Heartbeats } from '../checkers/heartbeats.ts';
import { isReady, readyOf } from '../../../src/simulator/node-fields.ts';
import { countedZoneOf } from '../policy-zones.ts';
import type { Requester } from '../../../src/simulator/server/storage.ts';
import type { World } from '../../../src/simulator/world.ts';

/** A state of a node, from its commit until that of the next one. */
export interface NodeState {
  readonly atMs: number;
  readonly byController: boolean;
  /** Status of the Ready condition; `gone` while the node does not exist. */
  readonly ready: string;
  readonly zone: string;
  readonly taints: readonly Taint[];
  /** The label of its operating system, and the deprecated one. */
  readonly os: string | undefined;
  readonly oldOs: string | undefined;
  /** Empty if not reported. */
  readonly bootID: string;
  /** Value of the annotation that says until when a flapping node is kept; absent without it. */
  readonly flapping?: string | undefined;
  /** Value of the annotation of an early warning; absent without it. */
  readonly overdue?: string | undefined;
}

/** Patches that the controller sent, and commits, those of others included. */
interface Writes {
  sent: number;
  committed: number;
}

export interface NodeRecord {
  readonly states: NodeState[];
  /** The last one before the drill, and those in it. */
  readonly heartbeats: number[];
  /** Events NodeNotReady. */
  events: number;
  readonly writes: Writes;
}

export interface PodRecord {
  readonly key: string;
  readonly node: string;
  readonly tolerations: readonly Toleration[];
  readonly createdMs: number;
  /** Readiness of the pod, with the author of each change. */
  readonly readiness: { readonly atMs: number; readonly isReady: boolean; readonly byController: boolean }[];
  /** When it had completed; undefined: it has not. */
  overMs: number | undefined;
  /** Time at which the deletion was accepted, and its author. */
  deletion: { readonly atMs: number; readonly byController: boolean } | undefined;
  goneMs: number | undefined;
  /** When the controller sent requests to delete it: not those to evict it. */
  readonly deletes: number[];
  readonly writes: Writes;
}

export class DrillRecord {
  readonly nodes = new Map<string, NodeRecord>();
  /** By uid. */
  readonly pods = new Map<string, PodRecord>();
  readonly #uids = new Map<string, string>();
  readonly #eventCounts = new Map<string, number>();
  readonly #world: World;
  readonly #heartbeats: Heartbeats;
  #isOn = false;

  constructor(world: World, heartbeats: Heartbeats) {
    this.#world = world;
    this.#heartbeats = heartbeats;
    world.storage.onCommit((resource, change, by) => {
      if (this.#isOn) this.#onCommit(resource, change, by);
      else if (resource === 'events') this.#onEvent(change);
    });
  }

  /** Takes the present state and records from now on. */
  begin(): void {
    const { storage } = this.#world;
    this.#isOn = true;
    for (const node of storage.list('nodes')) this.#addNode(node.metadata.name ?? '', node, false);
    for (const { writes } of this.nodes.values()) writes.committed = 0;
    for (const pod of storage.list('pods')) this.#addPod(pod, false);
  }

  /**
   * The controller sent a patch of this node or pod. One of a pod whose deletion was accepted does not count: the watch may
   * show an earlier change after it.
   */
  notePatch(resource: string, name: string): void {
    const pod = resource === 'nodes' ? undefined : this.pods.get(this.#uids.get(name) ?? '');
    const record = resource === 'nodes' ? this.nodes.get(name) : pod;
    if (record !== undefined && pod?.deletion === undefined) record.writes.sent += 1;
  }

  /** The controller sent a request to delete this pod. */
  noteDelete(uid: string): void {
    this.pods.get(uid)?.deletes.push(this.#world.timeline.nowMs);
  }

  #onCommit(resource: string, change: StoreChange, { process }: Requester): void {
    const { storage } = this.#world;
    const byController = process.startsWith('replica-');
    if (resource === 'nodes') {
      const node = change.kind === 'deleted' ? undefined : storage.decode('nodes', change.object);
      this.#addNode(change.object.name, node, byController);
    }
    if (resource === 'leases' && process === 'fleet') this.#addHeartbeat(change.object.name);
    if (resource === 'pods') this.#onPod(change, byController);
    if (resource === 'events') this.#onEvent(change);
  }

  #addHeartbeat(name: string): void {
    const lastMs = this.#heartbeats.lastMs(name);
    const heartbeats = this.nodes.get(name)?.heartbeats;
    if (lastMs !== undefined && heartbeats?.at(-1) !== lastMs) heartbeats?.push(lastMs);
  }

  #addNode(name: string, node: Node | undefined, byController: boolean): void {
    const record = this.nodes.get(name) ?? newRecord();
    this.nodes.set(name, record);
    record.writes.committed += 1;
    record.states.push({
      atMs: this.#world.timeline.nowMs,
      byController,
      ...(node === undefined ? goneNode : this.#stateOf(node)),
    });
    this.#addHeartbeat(name);
  }

  #stateOf(node: Node): Omit<NodeState, 'atMs' | 'byController'> {
    const { 'kubernetes.io/os': os, 'beta.kubernetes.io/os': oldOs } = node.metadata.labels ?? {};
    const zone = countedZoneOf(node, this.#world.config.policies);
    const bootID = node.status?.nodeInfo?.['bootID'] ?? '';
    const { [flappingAnnotation]: flapping, [overdueAnnotation]: overdue } = node.metadata.annotations ?? {};
    return { ready: readyOf(node), zone, taints: node.spec?.taints ?? [], os, oldOs, bootID, flapping, overdue };
  }

  #onPod({ kind, object }: StoreChange, byController: boolean): void {
    const pod: Pod = this.#world.storage.decode('pods', object);
    const { nowMs } = this.#world.timeline;
    const record = this.pods.get(pod.metadata.uid ?? '') ?? this.#addPod(pod, byController);
    if (kind === 'deleted') {
      record.goneMs = nowMs;
      record.deletion ??= { atMs: nowMs, byController };
      return;
    }
    const isPodReady = isReady(pod);
    record.writes.committed += 1;
    if (isPodOver(pod)) record.overMs ??= nowMs;
    if (isPodReady !== record.readiness.at(-1)?.isReady)
      record.readiness.push({ atMs: nowMs, isReady: isPodReady, byController });
    if (pod.metadata.deletionTimestamp !== undefined) record.deletion ??= { atMs: nowMs, byController };
  }

  #addPod(pod: Pod, byController: boolean): PodRecord {
    const { nowMs } = this.#world.timeline;
    const { uid = '', namespace = '', name = '', deletionTimestamp } = pod.metadata;
    const record: PodRecord = {
      key: `${namespace}/${name}`,
      node: pod.spec?.nodeName ?? '',
      tolerations: pod.spec?.tolerations ?? [],
      createdMs: nowMs,
      readiness: [{ atMs: nowMs, isReady: isReady(pod), byController }],
      overMs: isPodOver(pod) ? nowMs : undefined,
      deletion: deletionTimestamp === undefined ? undefined : { atMs: nowMs, byController },
      goneMs: undefined,
      deletes: [],
      writes: { sent: 0, committed: 0 },
    };
    this.pods.set(uid, record);
    this.#uids.set(name, uid);
    return record;
  }

  /** A commit counts once: a higher count in it is of times that were suppressed or refused before, perhaps before the drill. */
  #onEvent({ kind: change, object }: StoreChange): void {
    const { reason, involvedObject, count = 1 }: Partial<Event> = this.#world.storage.decode('events', object);
    const before = this.#eventCounts.get(object.key) ?? 0;
    if (change === 'deleted') return;
    this.#eventCounts.set(object.key, count);
    const record = this.nodes.get(involvedObject?.name ?? '');
    const isCounted = reason === 'NodeNotReady' && involvedObject?.kind === 'Node' && count > before;
    if (isCounted && record !== undefined) record.events += 1;
  }
}

const goneNode = { ready: 'gone', zone: '', taints: [], os: undefined, oldOs: undefined, bootID: '' } as const;

function newRecord(): NodeRecord {
  return { states: [], heartbeats: [], events: 0, writes: { sent: 0, committed: 0 } };
}

function isPodOver(pod: Pod): boolean {
  return ['Succeeded', 'Failed'].includes(pod.status?.phase ?? '');
}
