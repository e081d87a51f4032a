import { selectOrder } from '../nodes/select-nodes.ts';
import type { NodeCell } from '../protocol.ts';
import { DashboardStore } from '../stream/store.ts';
import { buildMoment, type Moment } from './build-moment.ts';
import type { Report, ReportRun } from './report-data.ts';

/** The moment of a report that is shown. */
export class ReportStore extends DashboardStore {
  readonly report: Report;
  #run: ReportRun;
  #atMs = 0;
  #moment: Moment;

  constructor(report: Report, run: ReportRun) {
    super();
    this.report = report;
    this.#run = run;
    this.#moment = buildMoment(run, 0);
    this.#adoptRun(run);
  }

  get run(): ReportRun {
    return this.#run;
  }

  get atMs(): number {
    return this.#atMs;
  }

  get moment(): Moment {
    return this.#moment;
  }

  /** Virtual time. */
  override nowMs(): number {
    return this.#atMs;
  }

  /** Shows this moment, or the end that is nearest to it. */
  moveTo(atMs: number): void {
    this.#atMs = Math.min(Math.max(0, Math.round(atMs)), this.report.durationMs);
    this.#show();
  }

  /** Shows another run at the same moment. */
  choose(run: ReportRun): void {
    this.#adoptRun(run);
    this.#show();
  }

  #adoptRun(run: ReportRun): void {
    this.#run = run;
    // All nodes that exist at any moment: those of the moment are selected from them.
    const cells = run.nodes.map(([name, zone]): [string, NodeCell] => [
      name,
      { name, zone, policy: null, state: 'ready', since: '', pods: 0, held: null, next: null },
    ]);
    this.order = selectOrder(new Map(cells));
  }

  #show(): void {
    this.#moment = buildMoment(this.#run, this.#atMs);
    this.notify();
  }
}
