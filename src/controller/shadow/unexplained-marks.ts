import type { ObjectKey } from '../../machinery/api/object-key.ts';

/** Maximum delay between the mark of a pod and the change of its node. */
const explanationMsMax = 5_000;
const marksMax = 20_000;

/** A pod that became not ready on a node that was not Unknown. */
interface UnexplainedMark {
  readonly key: ObjectKey;
  readonly uid: string;
  readonly node: string;
  readonly readyBefore: string | undefined;
  /** Time of the mark on the monotonic clock. */
  readonly atMs: number;
}

/** Recent marks, oldest first. Most are reports of a kubelet about its own pods. */
export class UnexplainedMarks {
  readonly #marks = new Map<ObjectKey, UnexplainedMark>();

  add(mark: UnexplainedMark): void {
    if (this.#marks.size < marksMax) this.#marks.set(mark.key, mark);
  }

  forget(key: ObjectKey): void {
    this.#marks.delete(key);
  }

  /** The marks of this node, which explains them. */
  take(node: string, nowMs: number): readonly UnexplainedMark[] {
    this.forgetOld(nowMs);
    const taken = [...this.#marks.values()].filter((mark) => mark.node === node);
    for (const { key } of taken) this.#marks.delete(key);
    return taken;
  }

  forgetOld(nowMs: number): void {
    for (const { key, atMs } of this.#marks.values()) {
      if (nowMs - atMs <= explanationMsMax) return;
      this.#marks.delete(key);
    }
  }
}
