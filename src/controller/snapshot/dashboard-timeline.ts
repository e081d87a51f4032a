import type { TimelineLine } from '../../dashboard/protocol.ts';
import { Ring } from '../../machinery/queueing/ring.ts';
import type { NotedDecision } from '../decision-log/decision-log.ts';
import { buildTimelineLine } from './build-timeline-line.ts';

interface Numbered {
  readonly id: number;
  readonly noted: NotedDecision;
}

/** The last decisions of all objects. They become text only when they are shown. */
export class DashboardTimeline {
  readonly #decisions: Ring<Numbered>;
  #id = 0;
  #takenId = 0;

  constructor(linesMax: number) {
    this.#decisions = new Ring(linesMax);
  }

  note(noted: NotedDecision): void {
    this.#id += 1;
    this.#decisions.add({ id: this.#id, noted });
  }

  /** Those that were not taken yet and are still kept, oldest first. */
  take(): readonly TimelineLine[] {
    if (this.#takenId === this.#id) return [];
    const fresh = this.#decisions.values().filter(({ id }) => id > this.#takenId);
    this.#takenId = this.#id;
    return fresh.map(({ id, noted }) => buildTimelineLine(id, noted));
  }
}
