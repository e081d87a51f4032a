// Nodes that die and recover at random while the watches close and open, lists are slow or fail, and probes are rejected:
// no node that recovered in time loses a pod, most of the dead ones do, and at the end nothing is left.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SeededRandom } from '../../../src/hollow-cluster/kubelet/faults/seeded-random.ts';
import type { FakeInformer } from '../../support/fake-informer.ts';
import { ControllerWorld } from '../../support/controller-world.ts';
import { settled } from '../../support/manual-clock.ts';

interface Faults {
  /** Seconds; each time is between 0.5 s and this. */
  readonly openMax: number;
  readonly closedMax: number;
  readonly listSecondsMax: number;
  readonly listFails: number;
  readonly probeFails: number;
  /** Share of the dead nodes whose pods are deleted, at least. */
  readonly evictedMin: number;
}

const stepMs = 500;
const never = new AbortController().signal;
const tolerating = [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 }] as const;
/** A live read of the node counts for 10 s, and its request takes part of a step. */
const knownLateSecondsMax = 11;
const alwaysUp = 'n5';

interface Machine {
  isUp: boolean;
  changedAtMs: number;
  changesAtMs: number;
  renewsAtMs: number;
}

class FaultyCluster {
  readonly world = new ControllerWorld();
  readonly lateDeletions: string[] = [];
  deaths = 0;
  readonly #faults: Faults;
  readonly #seeded: SeededRandom;
  readonly #machines = new Map<string, Machine>();
  readonly #nodeOf = new Map<string, string>();
  #lastFrameAtMs: number;
  #isOpen = true;
  #togglesAtMs: number;

  constructor(faults: Faults, seed: number) {
    const { world } = this;
    this.#faults = faults;
    this.#seeded = new SeededRandom(seed);
    this.#lastFrameAtMs = this.#nowMs();
    this.#togglesAtMs = this.#nowMs() + 60_000;
    world.leases.lastFrameAtMs = () => this.#lastFrameAtMs;
    world.leases.onChange('frames', () => this.#frame());
    world.probeAnswers = () => this.#random() >= faults.probeFails;
    world.beforeWrite = ({ verb, name }) => Promise.resolve(verb === 'delete' ? this.#check(name) : undefined);
    for (const informer of [world.leases, world.nodes]) this.#answerLists(informer);
    for (let n = 0; n < 6; n += 1) this.#addMachine(`n${n}`, `z${n % 3}`);
    world.start();
  }

  async run(seconds: number): Promise<void> {
    const untilMs = this.#nowMs() + seconds * 1_000;
    while (this.#nowMs() < untilMs) {
      await this.world.clock.advance(stepMs);
      if (this.#nowMs() >= this.#togglesAtMs) this.#toggle();
      for (const [name, machine] of this.#machines) this.#step(name, machine);
      await settled();
    }
  }

  /** The watches stay open, and all nodes are alive. */
  async heal(seconds: number): Promise<void> {
    if (!this.#isOpen) this.#toggle();
    this.#togglesAtMs = Infinity;
    for (const [name, machine] of this.#machines) {
      if (!machine.isUp) this.#change(name, machine);
      machine.changesAtMs = Infinity;
    }
    await this.run(seconds);
  }

  #addMachine(name: string, zone: string): void {
    const nowMs = this.#nowMs();
    this.world.addNode(name, { zone });
    this.world.renewOnce(name);
    this.#addPod(name);
    const changesAtMs = name === alwaysUp ? Infinity : nowMs + 120_000 + this.#random() * 400_000;
    const renewsAtMs = nowMs + this.#random() * 10_000;
    this.#machines.set(name, { isUp: true, changedAtMs: nowMs, changesAtMs, renewsAtMs });
  }

  #addPod(node: string): void {
    const pod = `p${this.#nodeOf.size}`;
    this.#nodeOf.set(pod, node);
    this.world.addPod(pod, node, tolerating);
  }

  #step(name: string, machine: Machine): void {
    const nowMs = this.#nowMs();
    if (nowMs >= machine.changesAtMs) this.#change(name, machine);
    if (!machine.isUp || nowMs < machine.renewsAtMs) return;
    machine.renewsAtMs = nowMs + 10_000 * (1 + 0.04 * this.#random());
    this.world.renewOnce(name);
  }

  #change(name: string, machine: Machine): void {
    const nowMs = this.#nowMs();
    machine.isUp = !machine.isUp;
    machine.changedAtMs = nowMs;
    machine.changesAtMs = nowMs + 60_000 + this.#random() * 250_000;
    machine.renewsAtMs = nowMs;
    if (!machine.isUp) {
      this.deaths += 1;
      return;
    }
    this.#addPod(name);
    this.world.post(name, 'True');
  }

  #toggle(): void {
    const { openMax, closedMax } = this.#faults;
    const { world } = this;
    this.#isOpen = !this.#isOpen;
    this.#togglesAtMs = this.#nowMs() + 500 + this.#random() * 1_000 * (this.#isOpen ? openMax : closedMax);
    world.leases.state = this.#isOpen ? 'watching' : 'backing-off';
    world.frozen = !this.#isOpen;
    if (!this.#isOpen) return;
    world.syncCaches();
    this.#frame();
  }

  /** One list at a time, and none within 10 s of the previous one, as of an informer. */
  #answerLists(informer: Pick<FakeInformer<unknown>, 'onRelist' | 'lastListAtMs'>): void {
    const { listSecondsMax, listFails } = this.#faults;
    let isListing = false;
    informer.onRelist = () => {
      if (isListing || this.#nowMs() - informer.lastListAtMs < 10_000) return;
      isListing = true;
      void this.world.clock.sleep(100 + this.#random() * listSecondsMax * 1_000, never).then(() => {
        isListing = false;
        if (this.#random() < listFails) return;
        this.world.syncCaches();
        informer.lastListAtMs = this.#nowMs();
      });
    };
  }

  #check(pod: string): void {
    const node = this.#nodeOf.get(pod) ?? '';
    const machine = this.#machines.get(node);
    const upSeconds = machine?.isUp === true ? (this.#nowMs() - machine.changedAtMs) / 1_000 : 0;
    if (upSeconds > knownLateSecondsMax) this.lateDeletions.push(`${pod}: ${upSeconds} s after ${node} recovered`);
  }

  #frame(): void {
    this.#lastFrameAtMs = this.#nowMs();
  }

  #random(): number {
    return this.#seeded.next();
  }

  #nowMs(): number {
    return this.world.clock.monotonicMs();
  }
}

const faultsOfEach: Readonly<Record<string, Faults>> = {
  'watches close for a moment': {
    openMax: 1_000,
    closedMax: 1,
    listSecondsMax: 0.5,
    listFails: 0,
    probeFails: 0,
    evictedMin: 0.7,
  },
  'watches close and open in turn': {
    openMax: 10,
    closedMax: 10,
    listSecondsMax: 0.5,
    listFails: 0,
    probeFails: 0,
    evictedMin: 0.7,
  },
  'watches close and open in turn, lists are slow, every probe is rejected': {
    openMax: 20,
    closedMax: 20,
    listSecondsMax: 20,
    listFails: 0.3,
    probeFails: 1,
    evictedMin: 0.4,
  },
  'watches are closed, lists fail often': {
    openMax: 1,
    closedMax: 600,
    listSecondsMax: 20,
    listFails: 0.3,
    probeFails: 0,
    evictedMin: 0.2,
  },
};

for (const [what, faults] of Object.entries(faultsOfEach)) {
  test(`${what}: dead nodes lose their pods, recovered ones do not`, async () => {
    for (const seed of [1, 8]) {
      const cluster = new FaultyCluster(faults, seed);
      await using world = cluster.world;
      await cluster.run(1_800);
      assert.deepEqual(cluster.lateDeletions, []);
      const share = world.evicted().length / cluster.deaths;
      assert.ok(share >= faults.evictedMin, `seed ${seed}: ${world.evicted().length} of ${cluster.deaths}`);
      await cluster.heal(200);
      for (const name of ['n0', 'n1', 'n2', 'n3', 'n4', alwaysUp]) {
        assert.deepEqual([world.ready(name), world.taints(name)], ['True', []], `seed ${seed}: ${name}`);
      }
    }
  });
}
