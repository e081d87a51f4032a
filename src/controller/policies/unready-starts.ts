import { findCondition } from '../../machinery/api/conditions.ts';
import type { NodeView } from '../../machinery/api/node.ts';
import type { Now } from '../model/node-state.ts';

interface Start {
  readonly uid: string;
  /** Status and time of its Ready condition. */
  readonly ready: string;
  /** Monotonic. */
  readonly seenMs: number;
}

/**
 * Since when this process has seen each node as unhealthy as it is, for where no usable time says since when that is: a hold that counted
 * from a time in the future, or from none, would not end.
 */
export class UnreadyStarts {
  readonly #starts = new Map<string, Start>();

  note(node: NodeView, { monotonicMs }: Now): void {
    const ready = readyOf(node);
    const known = this.#starts.get(node.name);
    if (ready.startsWith('True')) this.#starts.delete(node.name);
    else if (known?.uid !== node.uid || known.ready !== ready)
      this.#starts.set(node.name, { uid: node.uid, ready, seenMs: monotonicMs });
  }

  /** Wall time; undefined: it is Ready, or was not noted yet. */
  seenMs(node: NodeView, { wallMs, monotonicMs }: Now): number | undefined {
    const known = this.#starts.get(node.name);
    const isCurrent = known?.uid === node.uid && known.ready === readyOf(node);
    return isCurrent ? wallMs - (monotonicMs - known.seenMs) : undefined;
  }

  forget(node: string): void {
    this.#starts.delete(node);
  }

  get size(): number {
    return this.#starts.size;
  }
}

/** Another time is that of another transition: the list after an interruption may show the node not Ready again. */
function readyOf({ conditions }: NodeView): string {
  const { status = '', lastTransitionTime = '' } = findCondition(conditions, 'Ready') ?? {};
  return `${status} ${lastTransitionTime}`;
}
