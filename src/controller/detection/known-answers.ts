import type { NodeView } from '../../machinery/api/node.ts';

/** A node is asked again after this time while it sends heartbeats. */
const askAgainMs = 30 * 60_000;
/** An older answer says nothing about the way to the node now. */
const countsForMs = 65 * 60_000;
const retryMs = 5 * 60_000;

interface Known {
  readonly uid: string;
  readonly addresses: string;
  /** Undefined: it has not answered. */
  readonly answeredAtMs: number | undefined;
  readonly askedAtMs: number;
}

/**
 * Which nodes have answered this replica while they sent heartbeats. Of others no answer proves nothing: a firewall may drop what is
 * sent to them, or their address may be wrong.
 */
export class KnownAnswers {
  readonly #known = new Map<string, Known>();

  get size(): number {
    return this.#known.size;
  }

  /** This node has answered at the addresses that it has now. */
  has(node: NodeView, nowMs: number): boolean {
    const answeredAtMs = this.#of(node)?.answeredAtMs;
    return answeredAtMs !== undefined && nowMs - answeredAtMs <= countsForMs;
  }

  isDue(node: NodeView, nowMs: number): boolean {
    const known = this.#of(node);
    if (known === undefined) return true;
    return nowMs - known.askedAtMs >= (known.answeredAtMs === undefined ? retryMs : askAgainMs);
  }

  note(node: NodeView, answered: boolean, nowMs: number): void {
    const answeredAtMs = answered ? nowMs : this.#of(node)?.answeredAtMs;
    this.#known.set(node.name, { uid: node.uid, addresses: addressesOf(node), answeredAtMs, askedAtMs: nowMs });
  }

  forget(node: string): void {
    this.#known.delete(node);
  }

  forgetAll(): void {
    this.#known.clear();
  }

  names(): Iterable<string> {
    return this.#known.keys();
  }

  #of(node: NodeView): Known | undefined {
    const known = this.#known.get(node.name);
    return known?.uid === node.uid && known.addresses === addressesOf(node) ? known : undefined;
  }
}

function addressesOf({ reachedAt }: NodeView): string {
  return `${reachedAt?.port ?? ''} ${reachedAt?.addresses.join(' ') ?? ''}`;
}
