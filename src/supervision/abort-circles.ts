/**
 * Many who want to hear when a signal aborts, with one listener for all of them: to add and to take away a listener costs
 * more than what most of them wait for. The circle of a signal lives as long as the signal does.
 */
export class AbortCircles {
  readonly #circles = new WeakMap<AbortSignal, Set<() => void>>();

  /** `leave` is called once, when the signal aborts; not at all where it has aborted already. */
  join(signal: AbortSignal, leave: () => void): void {
    const known = this.#circles.get(signal);
    if (known === undefined) this.#form(signal, leave);
    else known.add(leave);
  }

  /** Nothing happens to who is not in it. */
  quit(signal: AbortSignal, leave: () => void): void {
    this.#circles.get(signal)?.delete(leave);
  }

  #form(signal: AbortSignal, first: () => void): void {
    const circle = new Set([first]);
    this.#circles.set(signal, circle);
    const dissolve = (): void => {
      this.#circles.delete(signal);
      for (const leave of circle) leave();
    };
    signal.addEventListener('abort', dissolve, { once: true });
  }
}
