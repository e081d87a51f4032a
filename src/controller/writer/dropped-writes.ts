import { Backoff } from '../../machinery/queueing/backoff.ts';
import type { Taint } from '../../machinery/api/taints.ts';
import type { Command } from '../model/commands.ts';

/** The first delay is the monitor period of kube-controller-manager, which writes again in each pass. */
const delays = { delayMsMin: 5_000, delayMsMax: 60_000 };
/** State and taints of nodes wait no longer than a write that is denied. */
const urgentMsMax = 30_000;

/**
 * Writes whose answer did not show the change. The next answer will most likely not show it either, so the same write to the
 * same object waits, whatever is evaluated meanwhile. Other writes to it do not.
 */
export class DroppedWrites {
  readonly #backoff = new Backoff(delays);
  /** Monotonic time before which each is not sent, oldest first. */
  readonly #notBefore = new Map<string, number>();

  isWaiting(command: Command, nowMs: number): boolean {
    return this.#notBefore.size > 0 && (this.#notBefore.get(keyOf(command)) ?? -Infinity) > nowMs;
  }

  noteDropped(command: Command, nowMs: number): void {
    const key = keyOf(command);
    this.#forgetOld(nowMs);
    this.#notBefore.delete(key); // the newest last
    const delayMs = this.#backoff.nextMs(key);
    this.#notBefore.set(key, nowMs + (isUrgent(command) ? Math.min(delayMs, urgentMsMax) : delayMs));
  }

  noteShown(command: Command): void {
    if (this.#notBefore.size === 0) return;
    this.#forget(keyOf(command));
  }

  /** Number of remembered writes. */
  get size(): number {
    return this.#notBefore.size;
  }

  /** Of objects that are not written any more. */
  #forgetOld(nowMs: number): void {
    for (const [key, untilMs] of this.#notBefore) {
      if (untilMs + delays.delayMsMax > nowMs) return;
      this.#forget(key);
    }
  }

  #forget(key: string): void {
    this.#notBefore.delete(key);
    this.#backoff.forget(key);
  }
}

function isUrgent({ kind }: Command): boolean {
  return kind === 'set-node-conditions' || kind === 'change-taints';
}

/** A removal of a taint does not wait for an addition that was dropped, nor NoExecute for NoSchedule. */
function keyOf(command: Command): string {
  const object = 'node' in command ? command.node.uid : command.pod.uid;
  if (command.kind !== 'change-taints') return `${command.kind} ${object}`;
  const changed = (sign: string, taints: readonly Taint[]): readonly string[] =>
    taints.map(({ key, effect }) => `${sign}${key}:${effect}`);
  return [object, ...changed('+', command.add), ...changed('-', command.remove)].join(' ');
}
