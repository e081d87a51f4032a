// Shadow mode: the controller runs on a view of the cluster as if it alone managed the lifecycle, and its decisions are
// compared with the actions of the cluster's own controllers. Nothing in here can write.
import type { Ambient } from '../../machinery/ports/ambient.ts';
import type { LeaseView } from '../../machinery/api/lease.ts';
import type { NodeView } from '../../machinery/api/node.ts';
import type { PodView } from '../../machinery/api/pod.ts';
import { formatMicroTime } from '../../machinery/api/timestamps.ts';
import type { Informer } from '../../machinery/informer/informer.ts';
import { every } from '../../machinery/supervision/every.ts';
import type { ControllerOptions, ControllerSelection } from '../model/options.ts';
import { Comparison, type ComparisonOptions } from './comparison.ts';
import { EpisodeLedger } from './episode-ledger.ts';
import type { ShadowReport } from './report.ts';
import { ShadowNodes } from './shadow-nodes.ts';
import { ShadowPods } from './shadow-pods.ts';
import { ShadowWriter } from './shadow-writer.ts';
import type { Live } from '../../machinery/ports/live.ts';

/** Longer than the longest hold of the controller, so that a held action counts as late and not as missing. */
const waitMsMax = 600_000;
const sweepPeriodMs = 1_000;
const waitingShownMax = 50;
/** kube-controller-manager evaluates once per monitor period, from observations that are up to one period old. */
const periodsTolerated = 2;

interface ShadowModeOptions extends Ambient {
  readonly informers: {
    readonly nodes: Informer<NodeView>;
    readonly leases: Informer<LeaseView>;
    readonly pods: Informer<PodView>;
  };
  readonly options: Live<Pick<ControllerOptions, 'nodeMonitorPeriodMs'>>;
  /** The running controllers are compared. */
  readonly runs: Pick<ControllerSelection, 'nodeLifecycle' | 'taintEviction'>;
  readonly decisionsOf: ComparisonOptions['decisionsOf'];
}

export class ShadowMode {
  /** The view for decisions; leases are as they are. */
  readonly informers: {
    readonly nodes: ShadowNodes;
    readonly leases: Informer<LeaseView>;
    readonly pods: ShadowPods;
  };
  readonly writer: ShadowWriter;
  readonly #options: ShadowModeOptions;
  readonly #ledger: EpisodeLedger;
  readonly #comparison: Comparison;

  /** To be created before the stages, so that it receives changes first. */
  constructor(options: ShadowModeOptions) {
    this.#options = options;
    this.#comparison = new Comparison(options);
    const { informers, runs } = options;
    const ledger = new EpisodeLedger({
      clock: options.clock,
      toleranceMs: () => this.#toleranceMs(),
      waitMsMax,
      onClosed: (closed) => {
        this.#comparison.add(closed);
      },
      onUndecided: () => {
        this.#comparison.addUndecided();
      },
    });
    const nodes = new ShadowNodes({ ...options, ...informers, ledger, compares: runs.nodeLifecycle });
    const pods = new ShadowPods({
      ...options,
      pods: informers.pods,
      realNode: (name) => nodes.real(name),
      ownNode: (name) => nodes.get(name),
      ledger,
      comparesMarking: runs.nodeLifecycle,
      comparesEviction: runs.taintEviction,
    });
    nodes.follow(pods);
    this.#ledger = ledger;
    this.informers = { nodes, leases: informers.leases, pods };
    this.writer = new ShadowWriter(nodes, pods);
  }

  /** Ends episodes after the maximum wait and logs outcomes, until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return every(sweepPeriodMs, this.#options.clock, signal, () => Promise.resolve(this.sweep()));
  }

  /** Checks open episodes once. */
  sweep(): void {
    const { nodes, pods } = this.informers;
    pods.sweep();
    for (const subject of this.#ledger.endWaiting()) {
      if (subject.kind === 'node') nodes.refresh(subject.name);
      else pods.refresh(subject);
    }
    this.#comparison.logOutcomes();
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
    return periodsTolerated * this.#options.options.current().nodeMonitorPeriodMs;
  }
}
