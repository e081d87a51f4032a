import { findCondition, stoppedPosting, neverUpdated } from '../../machinery/api/conditions.ts';
import type { NodeView } from '../../machinery/api/node.ts';
import type { NodeAssessment } from './assess-node.ts';

type Silent = Extract<NodeAssessment, { readonly kind: 'silent' }>;

/** A write of Unknown, and the node as it was before. */
interface UnansweredUnknown {
  readonly node: NodeView;
  readonly assessment: Silent;
}

interface Attempts extends UnansweredUnknown {
  /** `lastTransitionTime` of Ready in the first attempt and in the last. */
  readonly from: string;
  readonly to: string;
}

/**
 * Writes of Unknown without a response that may have been applied. Each contains the evaluated resourceVersion of the
 * node, so the next version of the node settles it: it is the result of the write, or the write was not applied.
 */
export class UnansweredUnknowns {
  readonly #attempts = new Map<string, Attempts>();

  /** The API server applies at most one of several attempts on one version of the node: they count as one write. */
  add(node: NodeView, assessment: Silent): void {
    const at = findCondition(assessment.conditions, 'Ready')?.lastTransitionTime ?? '';
    const known = this.#attempts.get(node.name);
    const attempts = known !== undefined && isSameVersion(known.node, node) ? known : { node, assessment, from: at };
    this.#attempts.set(node.name, { ...attempts, to: at });
  }

  /** The write whose result is this state of the node. A write that another state has replaced is dropped. */
  take(node: NodeView): UnansweredUnknown | undefined {
    const attempts = this.#attempts.get(node.name);
    if (attempts === undefined || isSameVersion(attempts.node, node)) return undefined;
    this.#attempts.delete(node.name);
    return isResult(node, attempts) ? attempts : undefined;
  }

  get size(): number {
    return this.#attempts.size;
  }

  forget(node: string): void {
    this.#attempts.delete(node);
  }
}

function isSameVersion(a: NodeView, b: NodeView): boolean {
  return a.uid === b.uid && a.resourceVersion === b.resourceVersion;
}

/** Times in whole seconds and UTC, as they are written, can be compared as text. */
function isResult(node: NodeView, { node: before, from, to }: Attempts): boolean {
  const ready = findCondition(node.conditions, 'Ready');
  if (node.uid !== before.uid || ready?.status !== 'Unknown') return false;
  if (ready.reason !== stoppedPosting.reason && ready.reason !== neverUpdated.reason) return false;
  const at = ready.lastTransitionTime ?? '';
  return from <= at && at <= to;
}
