// One run of a seed: faults, then time to settle, then quiet. Ends at the first violation.
import { cutText } from '../../src/machinery/api/limits.ts';
import { uncoveredNodes } from '../../src/controller/health/metrics.ts';
import { describe, RequestChecker } from './checkers/request-checker.ts';
import { findDivergences } from './checkers/find-divergences.ts';
import { QuietChecker, RecoveryChecker } from './checkers/quiet-checker.ts';
import { FlappingChecker } from './checkers/flapping-checker.ts';
import { SizeChecker } from './checkers/size-checker.ts';
import type { Report, Violation } from './checkers/violation.ts';
import { OutOfServiceChecker } from './checkers/out-of-service-checker.ts';
import { PodsReportedReady } from './checkers/pods-reported-ready.ts';
import { PodFailureChecker } from './checkers/pod-failure-checker.ts';
import { Heartbeats } from './checkers/heartbeats.ts';
import { WriteChecker } from './checkers/write-checker.ts';
import { forgottenMs } from './drill/churn-drill.ts';
import { DrillRun } from './drill/drill-run.ts';
import { FaultDriver } from './faults/fault-driver.ts';
import { zoneLabel, zoneNameOf } from '../../src/simulator/node-fields.ts';
import type { RunPlan } from './run-plan.ts';
import type { Trace } from '../../src/simulator/trace.ts';
import { type SimulationRuntime, World } from '../../src/simulator/world.ts';

/** Characters of the text of a violation: objects may be large. */
const textCharsMax = 4_000;
/** After the faults everything has to be as it should be within this time. */
const settleMsMax = 900_000;
/** When everything is as it should be, nothing may be written for this time. */
const quietMs = 130_000;
/** At the end of that, all requests are counted: Events of a new leader have been written. */
const countedMs = 60_000;
const stepMs = 5_000;
const scrapeEveryMs = 30_000;
/** A message or a process may be late by this: a write is justified by a state that is this old. */
const latenessMs = 150_000;

/** Maximum lateness in a drill, where nothing is late. */
const drillLatenessMs = 5_000;

/** For how long a replica may remember a node, a pod or a zone that was deleted: paused processes included. */
const rememberedMs = 900_000;
/** Time for which a replica may remember deleted objects without faults: quarantines, holds and the next sweep. */
const rememberedInDrillMs = forgottenMs - 5_000;

export interface RunResult {
  readonly violation: Violation | undefined;
  readonly virtualMs: number;
  /** From the end of the faults until everything had settled. */
  readonly settledMs: number | undefined;
  readonly requests: number;
  readonly taints: number;
  readonly deletions: number;
}

/** Runs the plan to its end, or to the first violation. */
export async function runSeed(plan: RunPlan, simulationRuntime: SimulationRuntime, trace: Trace): Promise<RunResult> {
  const run = new SeedRun(plan, simulationRuntime, trace);
  try {
    return await run.toEnd();
  } finally {
    run.world.end();
  }
}

class SeedRun {
  readonly world: World;
  readonly #plan: RunPlan;
  readonly #requests: RequestChecker;
  readonly #writes: WriteChecker;
  readonly #podFailures: PodFailureChecker;
  readonly #sizes: SizeChecker;
  readonly #quiet: QuietChecker;
  readonly #recovery: RecoveryChecker;
  readonly #flapping: FlappingChecker;
  readonly #silent: ReadonlySet<string>;
  readonly #reported: PodsReportedReady;
  /** At the last check of {@link #settle}. */
  #isDivergent = false;
  readonly #faults: FaultDriver;
  readonly #drill: DrillRun;
  #violation: Violation | undefined;
  #settledMs: number | undefined;
  #scrapedAtMs = 0;

  constructor(plan: RunPlan, simulationRuntime: SimulationRuntime, trace: Trace) {
    this.#plan = plan;
    this.#silent = new Set(plan.silent.map(({ node }) => node));
    this.world = new World({
      plan: plan.cluster,
      seed: plan.seed,
      simulationRuntime,
      trace,
      onSent: (replica, line) => {
        trace.add(replica.name, () => `${line.by.client} ${describe(line)}`);
        this.#requests.onSent(replica, line);
        this.#quiet.onSent(line);
        this.#drill.onSent(line);
      },
      onFailed: (error) => {
        const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
        this.#report('no-failure', 'process', text);
      },
    });
    this.#requests = new RequestChecker(this.world, this.#report, plan.cluster.limits);
    const heartbeats = new Heartbeats(this.world);
    this.#writes = new WriteChecker(this.world, this.#report, { latenessMs, heartbeats });
    new OutOfServiceChecker(this.world, this.#report, latenessMs).begin();
    this.#podFailures = new PodFailureChecker(this.world, this.#report, latenessMs);
    this.#recovery = new RecoveryChecker(this.world, this.#report);
    this.#flapping = new FlappingChecker(this.world, this.#report);
    this.#quiet = new QuietChecker(this.#report);
    this.#sizes = new SizeChecker(this.world, this.#report, rememberedMs);
    this.#reported = new PodsReportedReady(this.world);
    this.#faults = new FaultDriver(this.world, 'fault');
    this.#drill = new DrillRun({
      world: this.world,
      heartbeats,
      report: this.#report,
      seed: plan.seed,
      latencyMsMax: plan.cluster.latencyMs.max + plan.cluster.lagMsMax,
      silent: this.#silent,
      limits: plan.cluster.limits,
      concurrentWrites: plan.cluster.concurrentWrites,
    });
    this.world.storage.onCommit((resource, change, by) => {
      if (resource !== 'leases' && resource !== 'events')
        trace.add('storage', () => `${by.process} ${change.kind} ${resource} ${change.object.key}`);
    });
  }

  async toEnd(): Promise<RunResult> {
    const { untilMs, faults, silent } = this.#plan;
    this.world.start();
    this.#faults.schedule(faults);
    for (const { node, atMs } of silent) this.world.timeline.at(atMs, () => this.#silence(node));
    await this.#until(untilMs, () => false);
    this.world.trace.add('run', () => 'the faults have ended');
    // What users do ends with the faults, and begins again with the drill.
    this.world.workload.pins = false;
    this.world.settingsLag = false;
    this.#moveSilentBack();
    await this.#settle();
    if (this.#violation === undefined && this.#settledMs !== undefined) await this.#runDrill();
    return this.#result();
  }

  readonly #report: Report = (invariant, subject, text) => {
    this.#violation ??= { atMs: this.world.timeline.nowMs, invariant, subject, text: cutText(text, textCharsMax) };
  };

  #silence(node: string): void {
    this.world.trace.add('fault', () => `${node} is silent from now on`);
    const fault = { kind: 'partition', direction: 'all', manner: 'silent' } as const;
    this.world.fleet.faults.post({ id: `silent-${node}`, selector: { names: [node] }, fault });
  }

  /** Three silent nodes that were moved to one small zone would stop its NoExecute taints for good. */
  #moveSilentBack(): void {
    const { storage } = this.world;
    for (const { name, zone } of this.#plan.cluster.nodes) {
      const node = this.#silent.has(name) ? storage.get('nodes', { name }) : undefined;
      if (node === undefined || zoneNameOf(node) === zone) continue;
      storage.merge('nodes', { name }, { metadata: { labels: { [zoneLabel]: zone } } });
    }
  }

  /** In steps, until it holds or the time has come; ends early with a violation. */
  async #until(untilMs: number, holds: () => boolean): Promise<boolean> {
    const { timeline } = this.world;
    while (timeline.nowMs < untilMs && this.#violation === undefined) {
      await timeline.runUntil(Math.min(untilMs, timeline.nowMs + stepMs));
      this.#scrape();
      this.#checkCoverage();
      this.#sizes.check();
      if (holds()) return true;
    }
    return false;
  }

  /** Metrics are scraped as by a monitoring system: a gauge that throws is found. */
  #scrape(): void {
    const { nowMs } = this.world.timeline;
    if (nowMs - this.#scrapedAtMs < scrapeEveryMs) return;
    this.#scrapedAtMs = nowMs;
    for (const { run } of this.world.replicas.values()) run?.meter.scrape();
  }

  #checkCoverage(): void {
    for (const { name, run } of this.world.replicas.values()) {
      const count = run?.meter.read(uncoveredNodes) ?? 0;
      if (count > 0) this.#report('every-node-is-covered', name, `${count} nodes had no deadline`);
    }
    const problem = this.world.shadow?.run?.manager.writeCheck()?.problem();
    if (problem !== undefined) this.#report('shadow-writes-nothing', 'shadow-1', problem);
  }

  /** Everything becomes as it should be, and stays so without a write for {@link quietMs}. */
  async #settle(): Promise<void> {
    const { timeline } = this.world;
    const fromMs = timeline.nowMs;
    let quietSinceMs = fromMs;
    const isQuiet = (): boolean => {
      if (this.world.config.controllers.nodeLifecycle) this.#recovery.check();
      this.#flapping.check();
      const isDisturbed = this.#isDisturbed();
      this.#requests.forgetWrites();
      if (isDisturbed) quietSinceMs = timeline.nowMs;
      const forMs = timeline.nowMs - quietSinceMs;
      if (forMs <= quietMs - countedMs) this.#quiet.restart();
      return forMs >= quietMs;
    };
    if (!(await this.#until(fromMs + settleMsMax, isQuiet))) return this.#reportUnsettled();
    this.#settledMs = quietSinceMs - fromMs;
    this.#quiet.check(countedMs);
  }

  async #runDrill(): Promise<void> {
    const { timeline } = this.world;
    this.#faults.endAll();
    // A drill expects all that the controller does.
    if (this.#plan.cluster.mode !== undefined) return;
    this.world.workload.pins = true;
    const drill = this.#drill.begin();
    if (drill === undefined) return;
    this.#podFailures.beginDrill();
    this.#sizes.remember(rememberedInDrillMs);
    this.#writes.beginDrill(drill.mayBeLate === true ? latenessMs : drillLatenessMs);
    await this.#until(timeline.nowMs + drill.durationMs, () => {
      this.#drill.check();
      return false;
    });
    this.#drill.end();
  }

  /**
   * Something keeps the world from being quiet: a write, or something that is not as it should be at two checks in a row.
   * At one, the frame of a heartbeat may be on its way.
   */
  #isDisturbed(): boolean {
    const wasDivergent = this.#isDivergent;
    this.#isDivergent = findDivergences(this.world, this.#silent, this.#reported).length > 0;
    return this.#requests.lastClusterWrite !== undefined || (wasDivergent && this.#isDivergent);
  }

  #reportUnsettled(): void {
    const [first, ...others] = findDivergences(this.world, this.#silent, this.#reported);
    const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
    if (first === undefined)
      return this.#report('quiet-cluster-no-writes', '', `writes do not end within ${settleMsMax / 1_000} s`);
    this.#report('settles', first.subject, `${first.text}, ${settleMsMax / 1_000} s after the faults${more}`);
  }

  #result(): RunResult {
    return {
      violation: this.#violation,
      virtualMs: this.world.timeline.nowMs,
      settledMs: this.#settledMs,
      requests: this.#requests.counts.requests,
      ...this.#writes.counts,
    };
  }
}
