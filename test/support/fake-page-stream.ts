import type { PageStream } from '../../src/machinery/page-server/page-stream.ts';
import { settled } from './manual-clock.ts';

/** A stream whose client reads everything at once, or, while it is stuck, nothing. */
export class FakePageStream implements PageStream {
  readonly #onText: (text: string) => void;
  readonly #listeners: (() => void)[] = [];
  #waiting: (() => void)[] = [];
  #unread: string[] = [];
  #isStuck = false;
  hasEnded = false;

  constructor(onText: (text: string) => void) {
    this.#onText = onText;
  }

  get pendingBytes(): number {
    return this.#unread.reduce((sum, text) => sum + text.length, 0);
  }

  write(text: string): void {
    if (this.#isStuck) this.#unread.push(text);
    else this.#onText(text);
  }

  async drained(): Promise<void> {
    await settled();
    if (this.#isStuck && !this.hasEnded) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  end(): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    for (const listener of this.#listeners) listener();
    this.#wake();
  }

  onClose(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** The client reads nothing from now on. */
  stick(): void {
    this.#isStuck = true;
  }

  /** The client reads what was written, and goes on reading. */
  unstick(): void {
    this.#isStuck = false;
    const unread = this.#unread;
    this.#unread = [];
    for (const text of unread) this.#onText(text);
    this.#wake();
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
