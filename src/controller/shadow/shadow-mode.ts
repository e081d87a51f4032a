// Shadow mode: the decision engine runs on a cluster as it would be if its lifecycle were ours, and what it wants is compared
// with what the cluster's own controllers do. Nothing in here can write.
import type { LeaseView } from '../../api/lease.ts';
import type { NodeView } from '../../api/node.ts';
import type { PodView } from '../../api/pod.ts';
import { formatMicroTime } from '../../api/timestamps.ts';
import type { Informer } from '../../informer/informer.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Meter } from '../../ports/meter.ts';
import { every } from '../../supervision/every.ts';
import type { ControllerOptions, ControllerSelection } from '../options.ts';
import { Comparison, type ComparisonOptions } from './comparison.ts';
import { EpisodeLedger } from './episode-ledger.ts';
import type { ShadowReport } from './report.ts';
import { ShadowNodes } from './shadow-nodes.ts';
import { ShadowPods } from './shadow-pods.ts';
import { ShadowWriter } from './shadow-writer.ts';

/** Longer than the longest hold of our own, so that what it delays is still seen as late and not as never. */
const waitMsMax = 600_000;
const sweepPeriodMs = 1_000;
const waitingShownMax = 50;
/** The reference looks at each monitor period, and acts upon what it saw one period ago. */
const periodsTolerated = 2;

export interface ShadowModeOptions {
  readonly informers: {
    readonly nodes: Informer<NodeView>;
    readonly leases: Informer<LeaseView>;
    readonly pods: Informer<PodView>;
  };
  /** The index of the pod store by node. */
  readonly podsByNode: string;
  readonly options: Pick<ControllerOptions, 'nodeMonitorPeriodMs'>;
  /** What runs is compared. */
  readonly runs: Pick<ControllerSelection, 'nodeLifecycle' | 'taintEviction'>;
  readonly decisionsOf: ComparisonOptions['decisionsOf'];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly meter: Meter;
}

export class ShadowMode {
  /** The world to decide by; leases are as they are. */
  readonly informers: {
    readonly nodes: ShadowNodes;
    readonly leases: Informer<LeaseView>;
    readonly pods: ShadowPods;
  };
  readonly writer: ShadowWriter;
  readonly #options: ShadowModeOptions;
  readonly #ledger: EpisodeLedger;
  readonly #comparison: Comparison;

  /** To be made before whoever decides, so that it hears of changes first. */
  constructor(options: ShadowModeOptions) {
    this.#options = options;
    this.#comparison = new Comparison(options);
    this.#ledger = this.#makeLedger();
    const { leases } = options.informers;
    const nodes = this.#makeNodes();
    const pods = this.#makePods(nodes);
    nodes.follow(pods);
    this.informers = { nodes, leases, pods };
    this.writer = new ShadowWriter(nodes, pods);
  }

  /** Ends what nobody waits for any more, and tells; until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return every(sweepPeriodMs, this.#options.clock, signal, () => Promise.resolve(this.sweep()));
  }

  /** One look at what is open. */
  sweep(): void {
    const { nodes, pods } = this.informers;
    pods.sweep();
    for (const subject of this.#ledger.endWaiting()) {
      if (subject.kind === 'node') nodes.lookAgain(subject.name);
      else pods.lookAgain(subject);
    }
    this.#comparison.tell();
  }

  report(): ShadowReport {
    const { clock } = this.#options;
    return {
      at: formatMicroTime(clock.nowMs()),
      since: formatMicroTime(this.#comparison.sinceMs),
      writes: 'nothing',
      toleranceSeconds: this.#toleranceMs() / 1_000,
      waitSeconds: waitMsMax / 1_000,
      episodes: this.#comparison.episodes(),
      totals: this.#comparison.totals,
      open: this.#ledger.openCount,
      waiting: this.#ledger.open(waitingShownMax).map(({ subject, act, by, sinceMs }) => {
        const since = formatMicroTime(clock.nowMs() - clock.monotonicMs() + sinceMs);
        return { act, subject: `${subject.kind}/${subject.name}`, by, since };
      }),
      undecided: this.#comparison.undecided,
    };
  }

  #toleranceMs(): number {
    return periodsTolerated * this.#options.options.nodeMonitorPeriodMs;
  }

  #makeLedger(): EpisodeLedger {
    return new EpisodeLedger({
      clock: this.#options.clock,
      toleranceMs: () => this.#toleranceMs(),
      waitMsMax,
      onClosed: (closed) => {
        this.#comparison.add(closed);
      },
      onUndecided: () => {
        this.#comparison.addUndecided();
      },
    });
  }

  #makeNodes(): ShadowNodes {
    const { informers, runs, clock, logger, meter } = this.#options;
    const { nodes, leases } = informers;
    return new ShadowNodes({
      nodes,
      leases,
      ledger: this.#ledger,
      compares: runs.nodeLifecycle,
      clock,
      logger,
      meter,
    });
  }

  #makePods(nodes: ShadowNodes): ShadowPods {
    const { informers, podsByNode, runs, clock, logger, meter } = this.#options;
    return new ShadowPods({
      pods: informers.pods,
      podsByNode,
      realNode: (name) => nodes.real(name),
      ownNode: (name) => nodes.get(name),
      ledger: this.#ledger,
      comparesMarking: runs.nodeLifecycle,
      comparesEviction: runs.taintEviction,
      clock,
      logger,
      meter,
    });
  }
}
