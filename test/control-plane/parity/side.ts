// One side of the comparison: a control plane with the nodes of the test, and one of the two controllers.
import { setTimeout as sleep } from 'node:timers/promises';
import { NlcProcess } from '../../support/nlc-process.ts';
import { type ControllerManager, type ControlPlane, startControlPlane } from '../control-plane.ts';
import type { RestClient } from '../rest-client.ts';
import { ScriptedCluster } from '../scripted-cluster.ts';
import { type Observation, nodeClockOffsetMs, observe } from './observation.ts';
import type { Pace } from './pace.ts';
import { type Sighting, Witness } from './witness.ts';

/** Longer than a monitor period, because kube-controller-manager acts on the state of its previous pass. */
const quietMsDefault = 2_500;
const stepTimeoutMs = 30_000;
const pollMs = 100;
const logTailLength = 2_000;

/** Without the plugin DefaultTolerationSeconds, which would add tolerations of 300 s to every pod. */
const apiServerArgs = ['--disable-admission-plugins=ServiceAccount,DefaultTolerationSeconds'];

type Controller = 'nlc' | 'upstream';

/** The actions that a step may use. */
export interface World {
  readonly cluster: ScriptedCluster;
  readonly client: RestClient;
  startController(): Promise<void>;
  killController(): Promise<void>;
}

export interface Step {
  readonly name: string;
  readonly act: (world: World) => Promise<void>;
  /** The result of the step is reached. The step ends when no watch event has arrived for `quietMs` after that. */
  readonly isDone: (seen: Observation) => boolean;
  readonly quietMs?: number;
  readonly paces?: readonly Pace[];
}

/** The result of a step. */
export interface StepOutcome {
  readonly isDone: boolean;
  readonly seen: Observation;
  /** Watch events of this step, and of all steps up to its end. */
  readonly sightings: readonly Sighting[];
  readonly history: readonly Sighting[];
  /** When the last heartbeat of a node was sent. */
  readonly renewedAtMs: (node: string) => number | undefined;
}

/** Created by {@link Side.start}; its control plane ends with the test process at the latest. */
export class Side implements World {
  readonly controller: Controller;
  readonly cluster: ScriptedCluster;
  readonly client: RestClient;
  readonly #plane: ControlPlane;
  readonly #witness: Witness;
  readonly #flags: readonly string[];
  #nlc: NlcProcess | undefined;
  #manager: ControllerManager | undefined;
  /** Index of the first watch event of the next step. */
  #place = 0;

  private constructor(controller: Controller, plane: ControlPlane, flags: readonly string[]) {
    this.controller = controller;
    this.#plane = plane;
    this.#flags = flags;
    this.client = plane.client();
    this.cluster = new ScriptedCluster(this.client, { clockOffsetMs: nodeClockOffsetMs });
    this.#witness = new Witness(plane.client());
    this.cluster.start();
  }

  static async start(controller: Controller, flags: readonly string[]): Promise<Side> {
    return new Side(controller, await startControlPlane({ apiServerArgs }), flags);
  }

  async startController(): Promise<void> {
    if (this.controller === 'upstream') {
      this.#manager = await this.#plane.startControllerManager(this.#flags);
      return;
    }
    this.#nlc = new NlcProcess(['controller', `--kubeconfig=${this.#plane.kubeconfigFile}`, ...this.#flags]);
  }

  async killController(): Promise<void> {
    await this.#manager?.stop();
    await this.#nlc?.kill();
  }

  /** Runs one step and observes the state when no more watch events arrive. */
  async play({ name, act, isDone, quietMs = quietMsDefault }: Step): Promise<StepOutcome> {
    const from = this.#place;
    await act(this);
    const actedAtMs = performance.now();
    const sinceMs = (): number => performance.now() - actedAtMs;
    const look = (): Observation => observe(this.#witness.sightings(), from);
    const rests = (): boolean => Math.min(sinceMs(), this.#witness.quietMs()) >= quietMs && isDone(look());
    while (!rests() && sinceMs() < stepTimeoutMs) {
      if (this.#nlc?.hasEnded === true)
        throw new Error(`${name}: nlc has exited\n${this.#nlc.stderr.slice(-logTailLength)}`);
      await sleep(pollMs);
    }
    return this.#outcome(from, isDone);
  }

  #outcome(from: number, isDone: Step['isDone']): StepOutcome {
    const history = this.#witness.sightings();
    this.#place = history.length;
    const seen = observe(history, from);
    const renewedAtMs = (node: string): number | undefined => this.cluster.renewedAtMs(node);
    return { isDone: isDone(seen), seen, sightings: history.slice(from), history, renewedAtMs };
  }

  async stop(): Promise<void> {
    await this.killController();
    await this.#witness.stop();
    await this.cluster.stop();
    await this.#plane.stop();
  }
}
