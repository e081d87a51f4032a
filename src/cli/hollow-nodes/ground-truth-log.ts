import { closeSync, openSync, writeSync } from 'node:fs';
import type { GroundTruth } from '../../kubelet/faults/ground-truth.ts';

/** One line of the log: JSON, fields always in the same order. */
export function describeTruth({ atMs, sinceStartMs, node, fault, kind, change }: GroundTruth): string {
  const at = new Date(atMs).toISOString();
  return JSON.stringify({ at, sinceStartMs: Math.round(sinceStartMs * 1_000) / 1_000, node, fault, kind, change });
}

/** What was really done to which node and when, in a file: what a controller noticed can be held against it. */
export class GroundTruthLog {
  readonly #file: number;

  /** Begins the file anew. Throws what opening throws. */
  constructor(path: string) {
    this.#file = openSync(path, 'w');
  }

  write(truth: GroundTruth): void {
    writeSync(this.#file, `${describeTruth(truth)}\n`);
  }

  close(): void {
    closeSync(this.#file);
  }
}
