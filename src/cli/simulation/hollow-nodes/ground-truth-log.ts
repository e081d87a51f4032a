import { closeSync, openSync, writeSync } from 'node:fs';
import type { GroundTruth } from '../../../hollow-cluster/kubelet/faults/ground-truth.ts';

/** One line of the log, as JSON with a fixed order of fields. */
function describeTruth({ atMs, sinceStartMs, node, fault, kind, change }: GroundTruth): string {
  const at = new Date(atMs).toISOString();
  return JSON.stringify({ at, sinceStartMs: Math.round(sinceStartMs * 1_000) / 1_000, node, fault, kind, change });
}

/** Log file of the injected faults with node and time, to compare with the decisions of a controller. */
export class GroundTruthLog {
  readonly #file: number;

  /** Truncates the file. Throws if it cannot be opened. */
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
