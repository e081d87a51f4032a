// The only hand that writes. It asks whether it still may, at the last moment before each request; it knows a conflict
// from a failure and a failure from an object that has gone; it never repeats a write by itself, because whoever asked
// for it must look again first.
import { ApiError } from '../../api/api-error.ts';
import type { KubeObject } from '../../api/meta.ts';
import { type NodeView, viewNode } from '../../api/node.ts';
import type { NewerAnswers } from '../../informer/newer-answers.ts';
import type { KubeReader } from '../../ports/kube-reader.ts';
import type { KubeWriter } from '../../ports/kube-writer.ts';
import type { Leadership } from '../../ports/leadership.ts';
import type { WriteLane, WriteLanes } from '../../ports/write-lanes.ts';
import type { ClosableWriter, Command, WriteOutcome } from '../commands.ts';
import type { DecisionSink } from '../decisions.ts';
import { changesNothing, type PatchRequest, planRequest } from './plan-request.ts';

export interface ApiWriterOptions {
  readonly api: Pick<KubeReader, 'get'> & Pick<KubeWriter, 'patch' | 'delete'>;
  readonly lanes: WriteLanes;
  readonly leadership: Leadership;
  readonly nodes: NewerAnswers<NodeView>;
  readonly decisions: DecisionSink;
  /** Aborts what is under way when the process must stop at once. */
  readonly signal: AbortSignal;
}

export class ApiWriter implements ClosableWriter {
  readonly #options: ApiWriterOptions;
  readonly #nodeTurns = new Map<string, Promise<WriteOutcome>>();
  #closed = false;

  constructor(options: ApiWriterOptions) {
    this.#options = options;
  }

  /** One node's writes follow each other: each needs the version that the one before it made. */
  carryOut(command: Command): Promise<WriteOutcome> {
    return 'node' in command ? this.#inTurn(command.node.name, () => this.#queue(command)) : this.#queue(command);
  }

  close(): void {
    this.#closed = true;
  }

  async drained(): Promise<void> {
    await Promise.all(this.#nodeTurns.values());
    await this.#options.lanes.drained();
  }

  async #inTurn(node: string, write: () => Promise<WriteOutcome>): Promise<WriteOutcome> {
    const before = this.#nodeTurns.get(node);
    const turn = before === undefined ? write() : before.then(write);
    this.#nodeTurns.set(node, turn);
    const outcome = await turn;
    if (this.#nodeTurns.get(node) === turn) this.#nodeTurns.delete(node);
    return outcome;
  }

  #queue(command: Command): Promise<WriteOutcome> {
    return this.#options.lanes.run(laneOf(command), () => this.#send(onNewest(command, this.#options.nodes)));
  }

  async #send(command: Command): Promise<WriteOutcome> {
    if (changesNothing(command)) return { result: 'written' };
    if (this.#closed || !this.#options.leadership.holds()) return { result: 'not-leader' };
    try {
      await this.#request(command);
      return { result: 'written' };
    } catch (error) {
      return this.#failed(command, asApiError(error));
    }
  }

  async #request(command: Command): Promise<void> {
    const { api, nodes, signal } = this.#options;
    const request = planRequest(command);
    if (request.verb === 'delete') {
      const { namespace, name, uid, gracePeriodSeconds } = request;
      const grace = gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds };
      return api.delete(request.resource, { namespace, name }, { uid, signal, ...grace });
    }
    const patch = { type: 'strategic-merge', body: request.body } as const;
    const answer = await api.patch(request.resource, nameOf(request), patch, optionsOf(request, signal));
    if ('node' in command) nodes.remember(command.node, viewNode(answer));
  }

  async #failed(command: Command, error: ApiError): Promise<WriteOutcome> {
    if (error.reason === 'not-found') return { result: 'gone' };
    if (error.reason === 'conflict') {
      if (!('node' in command)) return { result: 'gone' }; // another uid under this name: not the pod we decided upon
      await this.#refresh(command.node);
    }
    const { reason, retryAfterMs } = error;
    this.#options.decisions.note({ kind: 'write-failed', subject: subjectOf(command), write: command.kind, reason });
    return { result: 'failed', reason, retryAfterMs };
  }

  /** Somebody wrote before us and our cache does not show it yet: read what is there, so that the next look sees it. */
  async #refresh(node: NodeView): Promise<void> {
    try {
      const live: KubeObject = await this.#options.api.get(
        'nodes',
        { name: node.name },
        { signal: this.#options.signal },
      );
      this.#options.nodes.remember(node, viewNode(live));
    } catch (error) {
      // Not worth more than a line: the watch will bring what we could not read.
      const { reason } = asApiError(error);
      this.#options.decisions.note({ kind: 'write-failed', subject: node.name, write: 'read-after-conflict', reason });
    }
  }
}

/** A taint change is a difference: it is applied to the newest list we know, which may be our own last write. */
function onNewest(command: Command, nodes: NewerAnswers<NodeView>): Command {
  if (command.kind !== 'change-taints') return command;
  const newest = nodes.get(command.node.name);
  return newest === undefined || newest.uid !== command.node.uid ? command : { ...command, node: newest };
}

function laneOf(command: Command): WriteLane {
  switch (command.kind) {
    case 'change-taints':
      return command.urgency;
    case 'set-node-conditions':
    case 'mark-pod-not-ready':
      return 'status';
    case 'set-node-labels':
    case 'mark-pod-disrupted':
    case 'mark-pod-lost':
    case 'mark-pod-failed':
    case 'delete-pod':
      return 'other';
  }
}

function nameOf({ namespace, name }: PatchRequest): { readonly namespace?: string; readonly name: string } {
  return namespace === undefined ? { name } : { namespace, name };
}

function optionsOf({ subresource }: PatchRequest, signal: AbortSignal): Parameters<KubeWriter['patch']>[3] {
  return subresource === undefined ? { signal } : { subresource, signal };
}

function subjectOf(command: Command): string {
  return 'node' in command ? command.node.name : `${command.pod.namespace}/${command.pod.name}`;
}

function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  throw error; // a broken promise of the port, or a mistake of ours: not something to retry
}
