import { formatTime } from '../../../machinery/api/timestamps.ts';
import type { TimelineLine } from '../../../dashboard/protocol.ts';
import type { GroundTruth } from '../../../hollow-cluster/kubelet/faults/ground-truth.ts';

interface Group {
  readonly first: GroundTruth;
  count: number;
}

const changes: Readonly<Record<GroundTruth['change'], string>> = {
  begin: 'began',
  end: 'ended',
  down: 'is down',
  up: 'is up',
};

/** The changes that faults made to nodes, as lines of a timeline: one for each fault and kind of change since the last call. */
export class FleetTimeline {
  #groups = new Map<string, Group>();
  #id = 0;

  note(truth: GroundTruth): void {
    const key = `${truth.fault}/${truth.change}`;
    const group = this.#groups.get(key);
    if (group === undefined) this.#groups.set(key, { first: truth, count: 1 });
    else group.count += 1;
  }

  /** Oldest first. */
  take(): readonly TimelineLine[] {
    const groups = this.#groups;
    this.#groups = new Map();
    return [...groups.values()].map(({ first, count }) => this.#line(first, count));
  }

  #line({ atMs, node, fault, kind, change }: GroundTruth, count: number): TimelineLine {
    this.#id += 1;
    const where = count === 1 ? `on node ${node}` : `on ${count} nodes`;
    return {
      id: this.#id,
      at: formatTime(atMs),
      kind: `fault-${change}`,
      text: `fault ${fault} (${kind}) ${changes[change]} ${where}`,
      warning: false,
      node: count === 1 ? node : null,
      pod: null,
      zone: null,
    };
  }
}
