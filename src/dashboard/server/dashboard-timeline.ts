import type { TimelineLine } from '../protocol.ts';
import { Ring } from '../../machinery/queueing/ring.ts';
import type { NotedDecision } from '../../controller/decision-log/decision-log.ts';
import { cutText } from '../../machinery/api/limits.ts';
import { formatMicroTime } from '../../machinery/api/timestamps.ts';
import { zoneName } from '../../machinery/api/zone.ts';
import { classifyLevel } from '../../controller/decision-log/classify-level.ts';
import { describeDecision } from '../../controller/decision-log/describe-decision.ts';

interface Numbered {
  readonly id: number;
  readonly noted: NotedDecision;
}

/** A message of the API server may be long, as may a stack. */
const lineCharsMax = 1_000;

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

  /** Lines that were not taken yet and are still stored, oldest first. */
  take(): readonly TimelineLine[] {
    if (this.#takenId === this.#id) return [];
    const fresh = this.#decisions.values().filter(({ id }) => id > this.#takenId);
    this.#takenId = this.#id;
    return fresh.map(({ id, noted }) => buildTimelineLine(id, noted));
  }
}

/** One decision in the timeline. */
export function buildTimelineLine(id: number, { atMs, decision }: NotedDecision): TimelineLine {
  return {
    id,
    at: formatMicroTime(atMs),
    kind: decision.kind,
    text: cutText(describeDecision(decision), lineCharsMax),
    warning: classifyLevel(decision) === 'warn',
    node: 'node' in decision && decision.node !== '' ? decision.node : null,
    pod: 'pod' in decision ? decision.pod : null,
    zone: 'zone' in decision ? zoneName(decision.zone) : null,
  };
}
