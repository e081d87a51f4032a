import type { ObjectKey } from '../../api/object-key.ts';

/** How much later than a pod's mark the word about its node may come. */
const explanationMsMax = 5_000;
const marksMax = 20_000;

/** A pod that became not ready on a node that nobody had called silent. */
export interface UnexplainedMark {
  readonly key: ObjectKey;
  readonly uid: string;
  readonly node: string;
  readonly readyBefore: string | undefined;
  /** On the monotonic clock. */
  readonly atMs: number;
}

/** Remembers them for a moment, oldest first. Most are what a kubelet says of its own pods. */
export class UnexplainedMarks {
  readonly #marks = new Map<ObjectKey, UnexplainedMark>();

  add(mark: UnexplainedMark): void {
    if (this.#marks.size < marksMax) this.#marks.set(mark.key, mark);
  }

  forget(key: ObjectKey): void {
    this.#marks.delete(key);
  }

  /** Those of this node, which explains them. */
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
