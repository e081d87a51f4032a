// Sends commands. Immediately before each request it checks whether this process may still write and whether the
// command is still wanted. It never retries a write by itself: the calling stage evaluates again first. A 404 or a 409
// is confirmed by a read, because a proxy or webhook in between may answer so.
import { ApiError, isObjectMissing } from '../../machinery/api/api-error.ts';
import { type NodeView, transformNode, transformWholeNode } from '../../machinery/api/node.ts';
import { podKey, type PodView, transformPod } from '../../machinery/api/pod.ts';
import type { MutationCache } from '../../machinery/informer/mutation-cache.ts';
import type { Clock } from '../../machinery/ports/clock.ts';
import type { KubeReader } from '../../machinery/ports/kube-reader.ts';
import type { KubeWriter } from '../../machinery/ports/kube-writer.ts';
import type { Leadership } from '../../machinery/ports/leadership.ts';
import type { WriteLane, WriteLanes } from '../../machinery/ports/write-lanes.ts';
import { LinkedAbort } from '../../machinery/supervision/abort.ts';
import type { ClosableWriter, Command, StillWanted, WriteFailure, WriteOutcome } from '../model/commands.ts';
import type { DecisionSink } from '../model/decisions.ts';
import { classifyEvictionRefusal } from './classify-eviction-refusal.ts';
import { DroppedWrites } from './dropped-writes.ts';
import { WriteTurns } from './write-turns.ts';
import { changesNothing, type DeleteRequest, type PatchRequest, planRequest } from './plan-request.ts';
import { nodeShows, podShows } from './shows-change.ts';

export interface ApiWriterOptions {
  readonly api: Pick<KubeReader, 'get'> & Pick<KubeWriter, 'patch' | 'delete' | 'evict'>;
  readonly lanes: WriteLanes;
  readonly leadership: Leadership;
  readonly nodes: MutationCache<NodeView>;
  /** Pods, by `namespace/name`. */
  readonly pods: MutationCache<PodView>;
  readonly decisions: DecisionSink;
  readonly clock: Clock;
  /** A refused write made this node be read: what it shows is in use before its event, and is to be evaluated. */
  readonly onNodeRead?: (name: string) => void;
  /** Aborts requests in flight when the process must stop at once. */
  readonly signal: AbortSignal;
}

const notApplied = { result: 'failed', reason: 'not-applied', retryAfterMs: undefined } as const;

interface WriteOptions {
  readonly signal: AbortSignal;
  readonly stillWanted: StillWanted;
  readonly lane: WriteLane;
}

/** What the API server has. */
interface Answered {
  readonly uid: string;
  readonly showsChange: boolean;
}

/** Result of a read of the object of a command. `aborted`: it was given up. */
type Presence = 'present' | 'gone' | 'unknown' | 'aborted';

export class ApiWriter implements ClosableWriter {
  readonly #options: ApiWriterOptions;
  readonly #turns: WriteTurns;
  readonly #dropped = new DroppedWrites();
  #closed = false;

  constructor(options: ApiWriterOptions) {
    this.#options = options;
    this.#turns = new WriteTurns(options);
  }

  carryOut(command: Command, stillWanted: StillWanted, signal?: AbortSignal): Promise<WriteOutcome> {
    if (signal === undefined) return this.#carryOut(command, stillWanted, this.#options.signal);
    const link = new LinkedAbort(this.#options.signal, signal);
    return this.#carryOut(command, stillWanted, link.signal).finally(() => link.release());
  }

  async #carryOut(command: Command, stillWanted: StillWanted, signal: AbortSignal): Promise<WriteOutcome> {
    const { lanes } = this.#options;
    const inSlot = <T>(work: () => Promise<T>): Promise<T> =>
      lanes.run(laneOf(command), work, waits[command.kind].precedence);
    try {
      return await this.#turns.run(subjectOf(command), () => this.#send(command, stillWanted, signal), inSlot);
    } catch (error) {
      return this.#fail(command, asApiError(error)); // the lane is full
    }
  }

  close(): void {
    this.#closed = true;
  }

  async drained(): Promise<void> {
    await Promise.all([this.#options.lanes.drained(), this.#turns.drained()]);
  }

  async #send(decided: Command, stillWanted: StillWanted, signal: AbortSignal): Promise<WriteOutcome> {
    const command = onNewest(decided, this.#options);
    let withdrawn = false;
    const isWanted = (): boolean => {
      withdrawn = !stillWanted();
      return !withdrawn;
    };
    if (this.#closed) return { result: 'not-leader' };
    // Leadership that is paused after a suspend may resume: the work is kept. If it is lost, the loops are ended.
    if (!this.#options.leadership.holds()) return { result: 'failed', reason: 'aborted', retryAfterMs: undefined };
    if (!isWanted()) return { result: 'unwanted' };
    const known = this.#knownOutcome(command);
    if (known !== undefined) return known;
    let mayBeSent = false;
    const beforeSending = (): boolean => {
      mayBeSent = isWanted();
      return mayBeSent;
    };
    try {
      return await this.#request(command, { signal, stillWanted: beforeSending, lane: laneOf(command) });
    } catch (error) {
      const isGivenUp = signal.aborted && !this.#options.signal.aborted && !mayBeSent;
      return withdrawn || isGivenUp ? { result: 'unwanted' } : this.#refused(command, asApiError(error), signal);
    }
  }

  /** The outcome of a command that needs no request, or is not to be sent yet. */
  #knownOutcome(command: Command): WriteOutcome | undefined {
    if (changesNothing(command)) return { result: 'written' };
    return this.#dropped.isWaiting(command, this.#options.clock.monotonicMs()) ? notApplied : undefined;
  }

  async #request(command: Command, options: WriteOptions): Promise<WriteOutcome> {
    const request = planRequest(await this.#withAllTaints(command, options.signal));
    if (request.verb === 'patch') return this.#patch(command, request, options);
    await this.#remove(request, options);
    return { result: 'written' };
  }

  async #remove(
    { verb, resource, namespace, name, options: given }: DeleteRequest,
    write: WriteOptions,
  ): Promise<void> {
    const { api } = this.#options;
    const options = { ...given, ...write };
    if (verb === 'evict') return api.evict({ namespace, name }, options);
    return api.delete(resource, { namespace, name }, options);
  }

  async #patch(command: Command, request: PatchRequest, write: WriteOptions): Promise<WriteOutcome> {
    const { resource, subresource, body } = request;
    const patch = { type: 'strategic-merge', body } as const;
    const options = subresource === undefined ? write : { ...write, subresource };
    const answer = await this.#options.api.patch(resource, nameOf(request), patch, options);
    if (this.#remember(command, answer).showsChange) {
      this.#dropped.noteShown(command);
      return { result: 'written' };
    }
    this.#dropped.noteDropped(command, this.#options.clock.monotonicMs());
    return this.#fail(command, notApplied);
  }

  /** The list of taints is replaced: where the cache has a part of it, all are read, in the version that was evaluated. */
  async #withAllTaints(command: Command, signal: AbortSignal): Promise<Command> {
    if (command.kind !== 'change-taints' || command.node.isTaintListCut !== true) return command;
    const { name, resourceVersion } = command.node;
    const read = await this.#options.api.get('nodes', { name }, { whole: true, signal });
    if (read.metadata.resourceVersion === resourceVersion) return { ...command, node: transformWholeNode(read) };
    throw new ApiError({ reason: 'conflict', message: `node ${name} changed since its taints were evaluated` });
  }

  /** `signal`: gives up the read that confirms it too. Then the result is as unknown as that of a request that is aborted. */
  async #refused(command: Command, error: ApiError, signal: AbortSignal): Promise<WriteOutcome> {
    const doubtful = error.reason === 'not-found' || error.reason === 'conflict';
    const presence = doubtful ? await this.#readAgain(command, signal) : 'unknown';
    if (presence === 'gone') return { result: 'gone' };
    if (presence === 'aborted') return this.#fail(command, { reason: 'aborted', retryAfterMs: undefined });
    const refusal = command.kind === 'evict-pod' ? classifyEvictionRefusal(error) : undefined;
    if (refusal === undefined) return this.#fail(command, error);
    return { result: 'refused', ...refusal, retryAfterMs: error.retryAfterMs };
  }

  #fail(command: Command, { reason, retryAfterMs }: Omit<WriteFailure, 'result'>): WriteOutcome {
    this.#options.decisions.note({ kind: 'write-failed', subject: subjectOf(command), write: command.kind, reason });
    return { result: 'failed', reason, retryAfterMs };
  }

  /**
   * Reads the object live. The result is remembered, so that the next evaluation uses it before the watch delivers it.
   */
  async #readAgain(command: Command, signal: AbortSignal): Promise<Presence> {
    const { api, decisions } = this.#options;
    const { resource, name, uid } = targetOf(command);
    try {
      const present = this.#remember(command, await api.get(resource, name, { signal }));
      if (resource === 'nodes') this.#options.onNodeRead?.(name.name);
      return present.uid === uid ? 'present' : 'gone';
    } catch (caught) {
      const error = asApiError(caught);
      if (isObjectMissing(error, resource, name.name)) return 'gone';
      const { reason } = error;
      decisions.note({ kind: 'write-failed', subject: subjectOf(command), write: 'read-after-refusal', reason });
      return reason === 'aborted' ? 'aborted' : 'unknown';
    }
  }

  /**
   * Returns the uid of the object that the API server has under this name, and whether it has what the command writes. An
   * object whose deletion the watch delivered meanwhile is not remembered: no later event would replace it. Nor is another
   * object of this name: it would be in use before the event that begins its evaluation.
   */
  #remember(command: Command, answer: Awaited<ReturnType<KubeReader['get']>>): Answered {
    const { nodes, pods } = this.#options;
    if ('node' in command) {
      const view = transformNode(answer);
      if (view.uid === command.node.uid) nodes.remember(nodes.get(view.name) ?? command.node, view);
      return { uid: view.uid, showsChange: nodeShows(command, view) };
    }
    const view = transformPod(answer);
    if (view.uid === command.pod.uid) pods.remember(pods.get(podKey(view)) ?? command.pod, view);
    return { uid: view.uid, showsChange: podShows(command, view) };
  }
}

/** A taint change is a difference: it is applied to the newest known list, which an earlier write may have produced. */
function onNewest(command: Command, { nodes, pods }: Pick<ApiWriterOptions, 'nodes' | 'pods'>): Command {
  if (command.kind === 'change-taints') {
    const newest = nodes.get(command.node.name);
    return newest === undefined || newest.uid !== command.node.uid ? command : { ...command, node: newest };
  }
  if (!('pod' in command)) return command;
  const newest = pods.get(podKey(command.pod));
  return newest === undefined || newest.uid !== command.pod.uid ? command : { ...command, pod: newest };
}

/** The lane of commands that do not name one, and their precedence in it. */
const waits: Readonly<Record<Command['kind'], { readonly lane: WriteLane; readonly precedence?: number }>> = {
  // When a zone is lost, the state of each node is known before the many pods of the others are marked.
  'set-node-conditions': { lane: 'detection', precedence: 2 },
  'change-taints': { lane: 'detection', precedence: 1 },
  'mark-pod-not-ready': { lane: 'detection' },
  'mark-pod-disrupted': { lane: 'eviction' },
  'mark-pod-lost': { lane: 'eviction' },
  'delete-pod': { lane: 'eviction' },
  'evict-pod': { lane: 'eviction' },
  'set-node-metadata': { lane: 'housekeeping' },
  'mark-pod-failed': { lane: 'housekeeping' },
};

function laneOf(command: Command): WriteLane {
  return ('lane' in command ? command.lane : undefined) ?? waits[command.kind].lane;
}

interface Target {
  readonly resource: 'nodes' | 'pods';
  readonly name: { readonly namespace?: string; readonly name: string };
  readonly uid: string;
}

function targetOf(command: Command): Target {
  if ('node' in command) return { resource: 'nodes', name: { name: command.node.name }, uid: command.node.uid };
  const { namespace, name, uid } = command.pod;
  return { resource: 'pods', name: { namespace, name }, uid };
}

function nameOf({ namespace, name }: PatchRequest): { readonly namespace?: string; readonly name: string } {
  return namespace === undefined ? { name } : { namespace, name };
}

function subjectOf(command: Command): string {
  return 'node' in command ? command.node.name : podKey(command.pod);
}

function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  throw error; // a violated contract of the port, or a defect here: not retried
}
