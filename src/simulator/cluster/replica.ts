import type { Labels, Meter, MetricDefinition } from '../../machinery/ports/meter.ts';
import type { Dialer } from '../../machinery/ports/dialer.ts';
import type { Random } from '../../machinery/ports/random.ts';
import type { WriteLanes } from '../../machinery/ports/write-lanes.ts';
import {
  canaryLimits,
  type ClientLimits,
  electionLimits,
  eventLimits,
  freshnessLimits,
} from '../../manager/client-limits.ts';
import { Manager, type ManagerConfig } from '../../manager/manager.ts';
import type { Network, RequestLine } from '../network/network.ts';
import { SimulatedClient } from '../network/simulated-client.ts';
import type { Timeline } from '../time/timeline.ts';
import { type VirtualMachine, VirtualProcess } from '../time/virtual-process.ts';
import type { Trace } from '../trace.ts';
import type { ClusterPlan } from './cluster-plan.ts';

interface ReplicaOptions {
  readonly name: string;
  readonly machine: VirtualMachine;
  readonly timeline: Timeline;
  readonly network: Network;
  readonly random: Random;
  readonly trace: Trace;
  /** The latest settings. */
  readonly config: () => ManagerConfig;
  readonly limits: ClusterPlan['limits'];
  readonly makeLanes: () => WriteLanes;
  /** Whether a machine answers at this address. */
  readonly answersAt: (address: string) => boolean;
  readonly onSent: (replica: Replica, request: RequestLine) => void;
  /** A process begins. */
  readonly onStarted: (replica: Replica, run: Run) => void;
  /** The process ended with an error, which is a defect. */
  readonly onFailed: (error: unknown) => void;
}

/** One running process of the controller. */
export interface Run {
  readonly process: VirtualProcess;
  readonly manager: Manager;
  readonly meter: SimulatedMeter;
  readonly stop: AbortController;
  hasEnded: boolean;
}

/** After an exit the kubelet of its node starts it again. */
const restartMsMin = 1_000;
const restartMsMax = 10_000;

/** One replica of the controller: a process that is started again whenever it has ended. */
export class Replica {
  readonly name: string;
  readonly #options: ReplicaOptions;
  #run: Run | undefined;
  #starts = 0;
  #config: ManagerConfig;

  constructor(options: ReplicaOptions) {
    this.name = options.name;
    this.#options = options;
    this.#config = options.config();
  }

  /** The settings that it has: not always the latest. */
  get config(): ManagerConfig {
    return this.#config;
  }

  /** The latest settings reach it. */
  adoptConfig(): void {
    this.#config = this.#options.config();
    const { run } = this;
    run?.process.arrive(() => run.manager.optionsChanged([{ setting: 'controller', from: 'before', to: 'after' }]));
  }

  /** The process that runs now; undefined while it is restarted. */
  get run(): Run | undefined {
    return this.#run?.hasEnded === true ? undefined : this.#run;
  }

  start(): void {
    if (this.#options.machine.isSuspended) return this.#startLater();
    const { name, timeline, machine, trace, random, makeLanes } = this.#options;
    this.#starts += 1;
    this.#config = this.#options.config();
    const { config } = this;
    trace.add(name, () => `started (${this.#starts})`);
    const process = new VirtualProcess(timeline, machine);
    const meter = new SimulatedMeter();
    const mayWrite = (): boolean => manager.mayWrite();
    const client = (clientName: string, limits: ClientLimits, gate?: () => boolean): SimulatedClient =>
      this.#client(process, clientName, limits, gate);
    const manager = new Manager({
      config: { current: () => this.#config },
      apis: {
        main: client('main', this.#options.limits, mayWrite),
        freshness: client('freshness', freshnessLimits, mayWrite),
        writing: config.shadow
          ? undefined
          : {
              events: client('events', eventLimits(this.#options.limits), mayWrite),
              election: client('election', electionLimits(config.leaderElectRenewDeadlineMs)),
              canary: client('canary', canaryLimits, mayWrite),
              witness: client('witness', canaryLimits),
            },
      },
      lanes: makeLanes(),
      clock: process,
      random,
      logger: trace.logger(name),
      meter,
      identity: `${name}_${this.#starts}`,
      host: name,
      place: name,
      dialer: this.#dialer(process),
    });
    this.#run = { process, manager, meter, stop: new AbortController(), hasEnded: false };
    this.#options.onStarted(this, this.#run);
    void this.#follow(this.#run);
  }

  /** SIGKILL: it is started again after this time. */
  kill(downMs: number): void {
    const run = this.#run;
    if (run === undefined || run.hasEnded) return;
    run.process.kill();
    run.hasEnded = true;
    this.#options.trace.add(this.name, () => 'killed');
    this.#startAfter(downMs);
  }

  /** SIGTERM. */
  terminate(): void {
    const { run } = this;
    run?.process.arrive(() => run.stop.abort());
  }

  /** Runs nothing more, for ever: the end of the simulation. */
  discard(): void {
    this.#run?.process.kill();
    this.#run = undefined;
  }

  async #follow(run: Run): Promise<void> {
    try {
      const how = await run.manager.run(run.stop.signal);
      this.#options.trace.add(this.name, () => `ended: ${how}`);
    } catch (error) {
      this.#options.onFailed(error);
    }
    run.hasEnded = true;
    const { random } = this.#options;
    this.#startAfter(restartMsMin + (restartMsMax - restartMsMin) * random.next());
  }

  #startLater(): void {
    this.#options.timeline.after(restartMsMin, () => this.start());
  }

  #startAfter(ms: number): void {
    const before = this.#starts;
    this.#options.timeline.after(ms, () => {
      if (this.#starts === before && this.#run !== undefined) this.start();
    });
  }

  #dialer(process: VirtualProcess): Dialer {
    const { answersAt, network } = this.#options;
    return {
      dial: async ({ address }, timeoutMs, signal) => {
        const answers = answersAt(address);
        await process.sleep(answers ? 2 * network.latencyMs() : timeoutMs, signal);
        if (signal.aborted) return 'not-sent';
        return answers ? 'answered' : 'no-answer';
      },
    };
  }

  #client(process: VirtualProcess, name: string, limits: ClientLimits, mayWrite?: () => boolean): SimulatedClient {
    const { timeline, network, random, onSent } = this.#options;
    return new SimulatedClient({
      ...limits,
      by: { process: this.name, client: name },
      process,
      timeline,
      network,
      random,
      onSent: (line) => onSent(this, line),
      mayWrite,
    });
  }
}

/** Keeps the sums of counters and the last values of gauges, over all labels, for checkers. */
class SimulatedMeter implements Meter {
  readonly #totals = new Map<string, number>();
  readonly #shown: (() => void)[] = [];

  add({ name }: MetricDefinition, amount: number): void {
    this.#totals.set(name, (this.#totals.get(name) ?? 0) + amount);
  }

  set({ name }: MetricDefinition, value: number): void {
    this.#totals.set(name, value);
  }

  observe(): void {}

  forget(_metric: MetricDefinition, _labels: Labels): void {}

  onRead(show: () => void): void {
    this.#shown.push(show);
  }

  /** Everything is computed that a scrape shows. */
  scrape(): void {
    for (const show of this.#shown) show();
  }

  /** Sum of a counter so far, or value of a gauge at the last scrape; 0 for a metric without a value. */
  read({ name }: MetricDefinition): number {
    return this.#totals.get(name) ?? 0;
  }
}
