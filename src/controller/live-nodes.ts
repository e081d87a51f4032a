import { readFailureOf } from '../machinery/api/api-error.ts';
import { type NodeView, transformNode } from '../machinery/api/node.ts';
import type { Clock } from '../machinery/ports/clock.ts';
import type { KubeReader } from '../machinery/ports/kube-reader.ts';
import { callWithin } from '../machinery/supervision/call-within.ts';
import { evidenceMs, type LiveNode } from './model/live-node.ts';

/** A node without a response after this time counts as unreadable, whatever happens to the request. */
const answerMsMax = 10_000;
/** Maximum number of reads in flight with which {@link LiveNodes.latest} starts another. */
const readsAtOnceMax = 8;

interface LiveNodesOptions {
  readonly api: Pick<KubeReader, 'get'>;
  readonly clock: Clock;
  /** Aborts reads in flight. */
  readonly signal: AbortSignal;
  /** The API server has this state of the node: what else it shows counts from now on. */
  readonly onRead: (node: NodeView) => void;
  /** A read rejected with another error than an ApiError, which is a defect. It counts as unreadable. */
  readonly onFault: (node: string, error: unknown) => void;
}

interface Answer {
  readonly live: LiveNode;
  readonly sentAtMs: number;
  readonly atMs: number;
}

/**
 * Live reads of nodes, without a cache of the API server (upstream `checkIfNodeExists`). One read serves all pods of a
 * node and every stage, and its result is evidence for {@link evidenceMs}. Each read ends within a bounded time.
 */
export class LiveNodes {
  readonly #options: LiveNodesOptions;
  readonly #reading = new Map<string, Promise<Answer>>();
  /** Answers in order of arrival. */
  readonly #answers = new Map<string, Answer>();

  constructor(options: LiveNodesOptions) {
    this.#options = options;
  }

  /**
   * The result of the last {@link evidenceMs} whose request was sent at this time or later; undefined while there is none,
   * and then a read starts if the limit allows. Never waits, so that no worker is blocked by a node that cannot be read.
   */
  latest(name: string, sentSinceMs = -Infinity): LiveNode | undefined {
    const known = this.#recentSince(name, sentSinceMs);
    if (known === undefined && this.#reading.size < readsAtOnceMax) void this.#readOnce(name);
    return known;
  }

  /**
   * The result of the last {@link evidenceMs} whose request was sent at this time or later, or of a new read. The time must not
   * be in the future. The caller limits the number of its reads. Never rejects.
   */
  async read(name: string, sentSinceMs = -Infinity): Promise<LiveNode> {
    const known = this.#recentSince(name, sentSinceMs);
    if (known !== undefined) return known;
    const { live, sentAtMs } = await this.#readOnce(name);
    // A read that was in flight may have been sent before; the next one was not.
    return sentAtMs >= sentSinceMs ? live : (await this.#readOnce(name)).live;
  }

  #recentSince(name: string, sentSinceMs: number): LiveNode | undefined {
    const answer = this.#recent(name);
    return answer !== undefined && answer.sentAtMs >= sentSinceMs ? answer.live : undefined;
  }

  #recent(name: string): Answer | undefined {
    const oldMs = this.#options.clock.monotonicMs() - evidenceMs;
    for (const [answered, { atMs }] of this.#answers) {
      if (atMs > oldMs) break;
      this.#answers.delete(answered);
    }
    return this.#answers.get(name);
  }

  /** A read in flight is not repeated. */
  #readOnce(name: string): Promise<Answer> {
    const underWay = this.#reading.get(name);
    if (underWay !== undefined) return underWay;
    const sentAtMs = this.#options.clock.monotonicMs();
    const read = this.#read(name).then((live) => {
      const answer = { live, sentAtMs, atMs: this.#options.clock.monotonicMs() };
      this.#reading.delete(name);
      this.#answers.delete(name); // to the end
      this.#answers.set(name, answer);
      return answer;
    });
    this.#reading.set(name, read);
    return read;
  }

  async #read(name: string): Promise<LiveNode> {
    const { api, clock, signal, onRead, onFault } = this.#options;
    const limit = { clock, signal, ms: answerMsMax };
    try {
      const node = transformNode(await callWithin(limit, (linked) => api.get('nodes', { name }, { signal: linked })));
      onRead(node);
      return node;
    } catch (error) {
      return failureOf(error, name, onFault);
    }
  }
}

function failureOf(error: unknown, name: string, onFault: LiveNodesOptions['onFault']): LiveNode {
  try {
    return readFailureOf(error, 'nodes', name);
  } catch (fault) {
    onFault(name, fault);
    return 'unreadable';
  }
}
