import { ApiError } from '../../machinery/api/api-error.ts';
import type { NodeView } from '../../machinery/api/node.ts';
import { zoneOf } from '../../machinery/api/topology.ts';
import type { Clock } from '../../machinery/ports/clock.ts';
import type { Dialer, DialResult } from '../../machinery/ports/dialer.ts';
import type { Meter } from '../../machinery/ports/meter.ts';
import type { NodeSource } from '../model/commands.ts';
import { type DecisionSink, evaluationFailed } from '../model/decisions.ts';
import type { RoundResult } from '../model/detection.ts';
import type { ProbeKind } from '../model/policy.ts';
import { buildKubeletTargets } from './build-targets.ts';
import { type Answers, classifyRound } from './classify-round.ts';
import { KnownAnswers } from './known-answers.ts';
import { probeRounds } from './metrics.ts';
import type { PodTargets } from './pod-targets.ts';
import type { ProbedNode, ProbedNodes } from './probed-nodes.ts';

/** Two packets are sent within it, the second one a second after the first. */
const dialMs = 1_200;
/** So many nodes that are alive are asked for each zone of them, to see whether probes arrive. */
const controlsMax = 3;
/** So many nodes are looked at to find them. */
const lookedAtMax = 1_000;
/** So many nodes that are alive are asked at once whether they answer at all, of so many that are looked at. */
const askedAtOnceMax = 20;
const lookedAtOnceMax = 200;

interface ProbeRoundsOptions {
  readonly probed: ProbedNodes;
  readonly pods: PodTargets;
  readonly dialer: Dialer;
  readonly nodes: NodeSource;
  readonly names: () => Iterable<string>;
  /** Whether a node has sent a heartbeat recently, and is not the one on which this replica runs. */
  readonly isControl: (node: NodeView) => boolean;
  readonly decisions: DecisionSink;
  readonly clock: Clock;
  readonly meter: Meter;
}

/** Asks nodes without heartbeats, and at the same time nodes that are alive. */
export class ProbeRounds {
  readonly #options: ProbeRoundsOptions;
  readonly #answers = new KnownAnswers();
  #places = { controls: 0, answers: 0 };

  constructor(options: ProbeRoundsOptions) {
    this.#options = options;
  }

  get size(): number {
    return Math.max(this.#answers.size, this.#options.pods.size);
  }

  forgetAll(): void {
    this.#answers.forgetAll();
    this.#options.pods.keepOnly(new Set());
  }

  /** One round; notes what it found of each node. It takes as long as an answer may: two in a row are no single interruption. */
  async run(asked: readonly ProbedNode[], signal: AbortSignal): Promise<void> {
    const { probed, pods, meter, clock } = this.#options;
    const probes = [...new Set(asked.flatMap(({ rule }) => rule.probes))];
    const controls = new Map([...new Set(asked.map(({ zone }) => zone))].map((zone) => [zone, this.#controlsOf(zone)]));
    const nodes = new Set([...asked.map(({ node }) => node), ...[...controls.values()].flat()]);
    pods.keepOnly(nodes);
    const since = new Map(asked.map(({ node, heartbeat }) => [node, heartbeat]));
    const ask = async (node: string) => [node, await this.#ask(node, probes, since.get(node) ?? '', signal)] as const;
    const [found] = await Promise.all([Promise.all([...nodes].map(ask)), clock.sleep(dialMs, signal)]);
    const answers = new Map(found);
    if (signal.aborted) return;
    for (const one of asked) {
      const ofControls = (controls.get(one.zone) ?? []).map((node) => answers.get(node) ?? new Map());
      const result = this.#resultOf(one, answers.get(one.node) ?? new Map(), ofControls);
      meter.add(probeRounds, 1, { result });
      probed.note(one, result, clock.monotonicMs());
    }
  }

  #resultOf({ node: name, rule }: ProbedNode, own: Answers, controls: readonly Answers[]): RoundResult {
    const node = this.#options.nodes.get(name);
    const result = classifyRound(rule.probes, own, controls);
    const hasAnswered = node !== undefined && this.#answers.has(node, this.#options.clock.monotonicMs());
    return result === 'no-answer' && !hasAnswered ? 'never-answered' : result;
  }

  /** Asks some of the nodes that are alive, each from time to time: a later silence means something where it had answered. */
  async askAlive(signal: AbortSignal): Promise<void> {
    const nowMs = this.#options.clock.monotonicMs();
    for (const name of this.#answers.names())
      if (this.#options.nodes.get(name) === undefined) this.#answers.forget(name);
    const isDue = (node: NodeView): boolean => this.#answers.isDue(node, nowMs);
    const due = this.#inTurn(
      'answers',
      lookedAtOnceMax,
      askedAtOnceMax,
      (node) => this.#options.isControl(node) && isDue(node),
    );
    await Promise.all(due.map((node) => this.#noteAnswer(node, signal)));
  }

  async #noteAnswer(node: NodeView, signal: AbortSignal): Promise<void> {
    const answers = await this.#ask(node.name, ['kubelet'], '', signal);
    if (!signal.aborted)
      this.#answers.note(
        node,
        answers.get('kubelet')?.includes('answered') === true,
        this.#options.clock.monotonicMs(),
      );
  }

  /** What is not known of a node is absent from its answers. Never rejects. */
  async #ask(name: string, probes: readonly ProbeKind[], since: string, signal: AbortSignal): Promise<Answers> {
    const found = probes.map(async (probe) => [probe, await this.#resultsOf(name, probe, since, signal)] as const);
    const results = await Promise.all(found);
    return new Map(results.flatMap(([probe, dialed]) => (dialed === undefined ? [] : [[probe, dialed] as const])));
  }

  async #resultsOf(
    name: string,
    probe: ProbeKind,
    since: string,
    signal: AbortSignal,
  ): Promise<readonly DialResult[] | undefined> {
    const { nodes, pods, dialer, decisions } = this.#options;
    const node = nodes.get(name);
    if (node === undefined) return undefined;
    try {
      const targets = probe === 'kubelet' ? buildKubeletTargets(node) : await pods.of(node, since, signal);
      return await Promise.all(targets.map((target) => dialer.dial(target, dialMs, signal)));
    } catch (error) {
      // That pods cannot be read is a doubt, and explained as one.
      if (!(error instanceof ApiError)) decisions.note(evaluationFailed('early detection', name, error));
      return undefined;
    }
  }

  /** Nodes of the zone, or of others where it has none: that they do not answer either counts, so none is left out for it. */
  #controlsOf(zone: string): readonly string[] {
    const { isControl, clock } = this.#options;
    const nowMs = clock.monotonicMs();
    const isKnown = (node: NodeView): boolean => isControl(node) && this.#answers.has(node, nowMs);
    const ofZone = this.#inTurn(
      'controls',
      lookedAtMax,
      controlsMax,
      (node) => isKnown(node) && zoneOf(node.labels) === zone,
    );
    const found = ofZone.length > 0 ? ofZone : this.#inTurn('controls', lookedAtMax, controlsMax, isKnown);
    return found.map(({ name }) => name);
  }

  /** The next nodes, after those of the last time. */
  #inTurn(
    place: 'controls' | 'answers',
    lookedAt: number,
    max: number,
    isChosen: (node: NodeView) => boolean,
  ): readonly NodeView[] {
    const all = [...this.#options.names()];
    const chosen: NodeView[] = [];
    for (let looked = 0; looked < Math.min(all.length, lookedAt) && chosen.length < max; looked += 1) {
      this.#places[place] = (this.#places[place] + 1) % all.length;
      const node = this.#options.nodes.get(all[this.#places[place]] ?? '');
      if (node !== undefined && isChosen(node)) chosen.push(node);
    }
    return chosen;
  }
}
