// Runs a scenario under one configuration.
import type { Node } from '../../machinery/api/node.ts';
import type { ManagerConfig } from '../../manager/manager.ts';
import type { ClusterPlan } from '../cluster/cluster-plan.ts';
import { type PlacedPod, toleratesHealthFor } from '../cluster/workload.ts';
import { isReady } from '../node-fields.ts';
import { sum } from './build-measures.ts';
import { Trace } from '../trace.ts';
import { type SimulationRuntime, World } from '../world.ts';
import type { PodGroup, Scenario, ScenarioStep } from './scenario.ts';
import { ScenarioObserver } from './scenario-observer.ts';
import type { ScenarioResult } from './scenario-result.ts';
import type { StateRecorder } from './state-recorder.ts';

export interface ScenarioSettings {
  readonly config: ManagerConfig;
  /** Limits of the main client. */
  readonly limits: { readonly qps: number; readonly burst: number };
  /** Settings that differ from the defaults, for the report. */
  readonly shown: readonly string[];
}

const intervalMs = 10_000;
/** Limit of the registration of the nodes and the start of their pods. */
const warmUpMsMax = 600_000;
/** Everything has been ready for so long when the scenario begins. */
const calmMs = 30_000;
const stepMs = 1_000;

/** With these settings nothing can be rehearsed. */
export class NodesNotReady extends Error {
  constructor() {
    super(
      'the nodes of the scenario do not stay Ready before its first step: nodeMonitorGracePeriod must be longer than the time between two ' +
        'renewals, a quarter of leaseDuration',
    );
  }
}

/**
 * Throws {@link NodesNotReady}, or an Error if a loop of the controller fails. `recorder`: records every state in
 * addition.
 */
export async function runScenario(
  scenario: Scenario,
  settings: ScenarioSettings,
  simulationRuntime: SimulationRuntime,
  recorder?: StateRecorder,
): Promise<ScenarioResult> {
  const run = new ScenarioRun(scenario, settings, simulationRuntime, recorder);
  try {
    return await run.toEnd();
  } finally {
    run.world.end();
  }
}

class ScenarioRun {
  readonly world: World;
  readonly #scenario: Scenario;
  readonly #settings: ScenarioSettings;
  readonly #observer: ScenarioObserver;
  readonly #recorder: StateRecorder | undefined;
  #failure: unknown;

  constructor(
    scenario: Scenario,
    settings: ScenarioSettings,
    simulationRuntime: SimulationRuntime,
    recorder: StateRecorder | undefined,
  ) {
    this.#recorder = recorder;
    this.#scenario = scenario;
    this.#settings = settings;
    this.world = new World({
      plan: planOf(scenario, settings),
      config: settings.config,
      seed: scenario.seed,
      startsAtMs: scenario.startsAtMs,
      simulationRuntime,
      trace: new Trace(),
      placed: scenario.pods.flatMap(placedPods),
      takesBackups: false,
      profile: { leaseDurationSeconds: scenario.leaseDurationSeconds },
      onSent: (_replica, line) => this.#observer.onSent(line),
      onStarted: (_replica, { manager }) =>
        void manager.lifecycle.stages.decisions.onDecision((noted) => {
          this.#observer.onDecision(noted);
          if (manager.mayWrite()) recorder?.onDecision(noted);
        }),
      onGroundTruth: (truth) => {
        this.#observer.onGroundTruth(truth);
        recorder?.onGroundTruth(truth);
      },
      onFailed: (error) => {
        this.#failure ??= error;
      },
    });
    this.#observer = new ScenarioObserver(this.world, intervalMs);
    recorder?.attach(this.world);
  }

  async toEnd(): Promise<ScenarioResult> {
    await this.#warmUp();
    this.#observer.begin();
    this.#recorder?.begin((node) => this.#zoneOf(node));
    const startMs = this.world.timeline.nowMs;
    for (const step of this.#scenario.steps) this.world.timeline.at(startMs + step.atMs, () => this.#apply(step));
    await this.world.timeline.runUntil(startMs + this.#scenario.durationMs);
    if (this.#failure !== undefined) throw new Error('a loop of the controller failed', { cause: this.#failure });
    this.#observer.end();
    return this.#result();
  }

  async #warmUp(): Promise<void> {
    const { timeline } = this.world;
    this.world.start();
    while (!this.#isReady()) {
      if (timeline.nowMs > warmUpMsMax) throw new NodesNotReady();
      await timeline.runUntil(timeline.nowMs + stepMs);
    }
    this.world.startWorkload();
    await timeline.runUntil(timeline.nowMs + calmMs);
  }

  /** Zone of the node as the leader counts it. */
  #zoneOf(name: string): string {
    const manager = this.world.leader()?.run?.manager;
    const node = manager?.informers.nodes.store.get(name);
    return manager === undefined || node === undefined ? '' : manager.lifecycle.stages.policies.zoneOf(node);
  }

  #isReady(): boolean {
    const nodes: readonly Node[] = this.world.storage.list('nodes');
    const wanted = countNodes(this.#scenario);
    return this.world.leader() !== undefined && nodes.length === wanted && nodes.every(isCleanAndReady);
  }

  #apply(step: ScenarioStep): void {
    const { world } = this;
    switch (step.kind) {
      case 'nodes':
        return this.#applyToNodes(step);
      case 'servers-down': {
        const names = [...world.servers.keys()];
        return this.#stopServers(step.count === 'all' ? names : names.slice(0, step.count), step.forMs);
      }
      case 'servers-rollout':
        for (const [index, name] of [...world.servers.keys()].entries()) {
          world.timeline.after(index * (step.downMs + step.gapMs), () => this.#stopServers([name], step.downMs));
        }
        return;
      case 'slow-network':
        for (const process of world.replicas.keys()) this.#slowDown(process, step);
        return;
      case 'leader':
        return this.#applyToLeader(step);
    }
  }

  #applyToNodes({ order }: Extract<ScenarioStep, { kind: 'nodes' }>): void {
    const { nodes } = this.world.fleet.faults.post(order);
    const { fault } = order;
    const endsPods = (fault.kind === 'crash' && fault.of !== 'process') || fault.kind === 'shutdown';
    if (endsPods) for (const node of nodes) this.#observer.noteMachineFailure(node);
  }

  #stopServers(names: readonly string[], forMs: number): void {
    this.world.timeline.after(forMs, this.world.stopServers(names));
  }

  #slowDown(process: string, { msMax, forMs }: Extract<ScenarioStep, { kind: 'slow-network' }>): void {
    const { network, timeline } = this.world;
    for (const leg of ['request', 'response', 'frames'] as const) {
      const effect = { kind: 'delay', msMin: 0, msMax } as const;
      timeline.after(forMs, network.add({ leg, effect, rate: 1, matches: ({ by }) => by.process === process }));
    }
  }

  #applyToLeader({ what, forMs }: Extract<ScenarioStep, { kind: 'leader' }>): void {
    const leader = this.world.leader();
    if (what === 'kill') return leader?.kill(forMs);
    const process = leader?.run?.process;
    process?.pause();
    this.world.timeline.after(forMs, () => process?.resume());
  }

  #result(): ScenarioResult {
    const scenario = this.#scenario;
    const outcomes = this.#observer.outcomes();
    const isMoved = ({ machineFailed, node }: (typeof outcomes)[number]): boolean =>
      !machineFailed && this.world.storage.get('nodes', { name: node }) !== undefined && this.#isReadyNow(node);
    return {
      name: scenario.name,
      durationMs: scenario.durationMs,
      nodes: countNodes(scenario),
      pods: sum(scenario.pods.map(({ count }) => count)),
      zones: [...new Set(scenario.nodes.map(({ zone }) => zone))].filter((zone) => zone !== ''),
      settings: this.#settings.shown,
      outcomes,
      zoneStates: this.#observer.zoneStates,
      intervalMs,
      intervals: this.#observer.intervals,
      requests: Object.fromEntries([...this.#observer.requests].sort(([, a], [, b]) => b - a)),
      falseAssessments: outcomes.filter(({ isFalse }) => isFalse).length,
      podsMovedNeedlessly: sum(outcomes.filter(isMoved).map(({ podsDeleted }) => podsDeleted)),
      podsDeleted: sum(outcomes.map(({ podsDeleted }) => podsDeleted)),
      podsDeletedWithinMinuteMax: this.#observer.deletedWithinMinuteMax,
      flappingKept: this.#observer.flappingKept,
    };
  }

  #isReadyNow(name: string): boolean {
    const node: Node | undefined = this.world.storage.get('nodes', { name });
    return node !== undefined && isReady(node);
  }
}

function planOf(scenario: Scenario, { config, limits }: ScenarioSettings): ClusterPlan {
  return {
    nodes: scenario.nodes.flatMap(({ names, zone, labels }) => names.map((name) => ({ name, zone, labels }))),
    podsPerNode: 0,
    replicas: scenario.replicas,
    servers: scenario.servers,
    controller: config,
    watchCanary: config.watchCanary,
    limits,
    latencyMs: { min: 0.5, max: 3 },
    lagMsMax: 2,
    driftMax: 0,
  };
}

function placedPods({ node, count, tolerates, graceSeconds }: PodGroup): readonly PlacedPod[] {
  const seconds = tolerates === 'none' ? 0 : tolerates;
  const tolerations = toleratesHealthFor(seconds === 'forever' ? undefined : seconds);
  return Array.from({ length: count }, () => ({ node, graceSeconds, tolerations }));
}

function countNodes({ nodes }: Scenario): number {
  return sum(nodes.map(({ names }) => names.length));
}

function isCleanAndReady(node: Node): boolean {
  return isReady(node) && (node.spec?.taints ?? []).length === 0;
}
