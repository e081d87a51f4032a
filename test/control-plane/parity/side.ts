// One of the two that are compared: a control plane of its own, the same nodes on it, and a controller.
import { setTimeout as sleep } from 'node:timers/promises';
import { NlcProcess } from '../../support/nlc-process.ts';
import { type ControllerManager, type ControlPlane, startControlPlane } from '../control-plane.ts';
import type { RestClient } from '../rest-client.ts';
import { ScriptedCluster } from '../scripted-cluster.ts';
import { type Observation, nodeClockOffsetMs, observe } from './observation.ts';
import type { Pace } from './pace.ts';
import { type Sighting, Witness } from './witness.ts';

/** Long enough for the reference: it acts upon what it saw one monitor period ago. */
const quietMsDefault = 2_500;
const stepTimeoutMs = 30_000;
const pollMs = 100;
const logTailLength = 2_000;

/** Without it the API server would give every pod 300 s of patience. */
const apiServerArgs = ['--disable-admission-plugins=ServiceAccount,DefaultTolerationSeconds'];

export type Controller = 'ours' | 'reference';

/** What a step of the story may do. */
export interface World {
  readonly cluster: ScriptedCluster;
  readonly client: RestClient;
  startController(): Promise<void>;
  killController(): Promise<void>;
}

export interface Step {
  readonly name: string;
  readonly act: (world: World) => Promise<void>;
  /** What the step is about has happened. It ends when nothing more has happened for a while after that. */
  readonly isDone: (seen: Observation) => boolean;
  readonly quietMs?: number;
  readonly paces?: readonly Pace[];
}

/** How a step went. */
export interface Outcome {
  readonly isDone: boolean;
  readonly seen: Observation;
  /** Of this step, and of the whole story up to its end. */
  readonly sightings: readonly Sighting[];
  readonly history: readonly Sighting[];
  /** When the last heartbeat of a node was sent. */
  readonly renewedAtMs: (node: string) => number | undefined;
}

/** Made by {@link Side.start}; its control plane ends with the test's process at the latest. */
export class Side implements World {
  readonly controller: Controller;
  readonly cluster: ScriptedCluster;
  readonly client: RestClient;
  readonly #plane: ControlPlane;
  readonly #witness: Witness;
  readonly #flags: readonly string[];
  #ours: NlcProcess | undefined;
  #manager: ControllerManager | undefined;
  /** Where the next step begins: what happens between two belongs to the later. */
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
    if (this.controller === 'reference') {
      this.#manager = await this.#plane.startControllerManager(this.#flags);
      return;
    }
    this.#ours = new NlcProcess(['controller', `--kubeconfig=${this.#plane.kubeconfigFile}`, ...this.#flags]);
  }

  async killController(): Promise<void> {
    await this.#manager?.stop();
    await this.#ours?.kill();
  }

  /** Plays one step and looks at the world when it has come to rest. */
  async play({ name, act, isDone, quietMs = quietMsDefault }: Step): Promise<Outcome> {
    const from = this.#place;
    await act(this);
    const actedAtMs = performance.now();
    const sinceMs = (): number => performance.now() - actedAtMs;
    const look = (): Observation => observe(this.#witness.sightings(), from);
    const rests = (): boolean => Math.min(sinceMs(), this.#witness.quietMs()) >= quietMs && isDone(look());
    while (!rests() && sinceMs() < stepTimeoutMs) {
      if (this.#ours?.hasEnded === true)
        throw new Error(`${name}: ours has ended\n${this.#ours.stderr.slice(-logTailLength)}`);
      await sleep(pollMs);
    }
    return this.#outcome(from, isDone);
  }

  #outcome(from: number, isDone: Step['isDone']): Outcome {
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
