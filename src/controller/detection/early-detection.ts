// Early detection: a node without heartbeats is silent before its grace period ends if nothing at its addresses answers. Each replica
// asks from its own place in the network; a standby reports to the leader, and the leader decides. An answer delays nothing.
import { Alarm } from '../../machinery/supervision/alarm.ts';
import type { StageDependencies } from '../model/dependencies.ts';
import { evaluationFailed } from '../model/decisions.ts';
import type { DetectionDoubt } from '../model/detection.ts';
import { decideEarly, roundsNeeded } from './decide-early.ts';
import type { ProbeRounds } from './probe-rounds.ts';
import type { ProvenSilences } from './proven-silences.ts';
import type { ProbedNode, ProbedNodes } from './probed-nodes.ts';
import type { WitnessReporter } from './witness-reporter.ts';
import type { WitnessView } from './witness-view.ts';

const reviewMs = 250;
/** While no node is without heartbeats. */
const quietReviewMs = 500;
/** More nodes at once have a common cause, and are not asked. */
const probedMax = 20;
/** Time between two reads of the report of a standby while it does not confirm. */
const readEveryMs = 500;

interface EarlyDetectionOptions extends Pick<StageDependencies, 'decisions' | 'clock'> {
  readonly probed: ProbedNodes;
  readonly rounds: ProbeRounds;
  readonly proven: ProvenSilences;
  readonly reporter: WitnessReporter;
  readonly witness: WitnessView;
  readonly isStale: () => boolean;
  readonly isUnhealthy: (node: string) => boolean;
  /** How many nodes of a policy may become unhealthy before its limit is passed. */
  readonly roomOf: (policy: string) => number;
  readonly healthNowMs: () => number;
  /** The node is silent from now on. False if this is not its last heartbeat any more. */
  readonly proveSilence: (one: ProbedNode) => boolean;
}

/** What all probed nodes have in common when one of them is evaluated. */
interface Setting {
  readonly isStale: boolean;
  readonly areTooMany: (one: ProbedNode) => boolean;
}

export class EarlyDetection {
  readonly #options: EarlyDetectionOptions;
  readonly #settings: Alarm;
  #role: 'leader' | 'witness' = 'witness';
  /** Since when heartbeats are followed, on the health clock. */
  #observedFromMs: number | undefined;
  #readAtMs = -Infinity;

  constructor(options: EarlyDetectionOptions) {
    this.#options = options;
    this.#settings = new Alarm(options.clock);
  }

  /** Number of nodes that are being asked, because their heartbeats are overdue. */
  get probing(): number {
    return this.#options.probed.count;
  }

  /** Number of entries of the largest collection. */
  get size(): number {
    const { probed, proven, reporter, rounds, witness } = this.#options;
    return Math.max(...[probed, proven, reporter, rounds, witness].map(({ size }) => size));
  }

  /** The policies may have changed. */
  optionsChanged(): void {
    this.#settings.wakeUp();
  }

  /** Asks until the signal aborts, while a policy wants it. The leader decides by the answers; a witness reports them to it. */
  async run(role: 'leader' | 'witness', signal: AbortSignal): Promise<void> {
    const { probed, rounds, healthNowMs } = this.#options;
    this.#role = role;
    this.#observedFromMs ??= healthNowMs();
    const acts = [
      () => this.#probe(signal),
      () => rounds.askAlive(signal),
      () => (role === 'leader' ? this.#decide(signal) : this.#report(signal)),
    ];
    while (!signal.aborted) {
      if (!probed.isWanted) {
        this.#forgetAll();
        await this.#settings.wait(Infinity, signal);
      } else await Promise.all(acts.map((act) => this.#repeat(act, signal)));
    }
  }

  /** Nothing is remembered where no policy wants it: not of nodes that may be deleted meanwhile. */
  #forgetAll(): void {
    const { probed, proven, reporter, rounds, witness } = this.#options;
    for (const part of [probed, proven, reporter, rounds, witness]) part.forgetAll();
  }

  /** Why a probed node is not silent yet; undefined: it is none, or is silent, or this replica does not decide. Does not read. */
  stateOf(node: string): { readonly policy: string; readonly doubt: DetectionDoubt } | undefined {
    const one = this.#options.probed.get(node);
    if (one === undefined || this.#role !== 'leader' || this.#options.proven.has(one)) return undefined;
    const doubt = this.#doubt(one, this.#setting());
    return doubt && { policy: one.policy, doubt };
  }

  /** An exception ends one turn: what the next one finds is derived again. */
  async #repeat(act: () => Promise<void>, signal: AbortSignal): Promise<void> {
    const { probed, clock, decisions } = this.#options;
    while (!signal.aborted && probed.isWanted) {
      try {
        await act();
      } catch (error) {
        decisions.note(evaluationFailed('early detection', 'cluster', error));
      }
      await clock.sleep(probed.all().length === 0 ? quietReviewMs : reviewMs, signal);
    }
  }

  async #probe(signal: AbortSignal): Promise<void> {
    const { probed, proven, rounds } = this.#options;
    probed.review();
    proven.review();
    const asked = this.#open();
    if (asked.length > 0 && asked.length <= probedMax) await rounds.run(asked, signal);
  }

  /** ProbedNodes that are not silent yet. */
  #open(): readonly ProbedNode[] {
    const { probed, proven } = this.#options;
    return probed.all().filter((one) => !proven.has(one));
  }

  #report(signal: AbortSignal): Promise<void> {
    const found = this.#open().filter(({ last, silentRounds }) => last === 'no-answer' && silentRounds >= roundsNeeded);
    return this.#options.reporter.report(new Map(found.map(({ node, heartbeat }) => [node, heartbeat])), signal);
  }

  /** The report of the standby is read when nothing else is in doubt, and right before it counts. */
  async #decide(signal: AbortSignal): Promise<void> {
    const setting = this.#setting();
    const isWaiting = (one: ProbedNode): boolean => {
      const doubt = this.#doubt(one, setting);
      return doubt === undefined || doubt === 'no-witness';
    };
    const waiting = this.#open().filter(isWaiting);
    const nowMs = this.#options.clock.monotonicMs();
    if (waiting.length === 0 || nowMs - this.#readAtMs < readEveryMs) return;
    this.#readAtMs = nowMs;
    await this.#options.witness.read(signal);
    if (signal.aborted) return;
    for (const { node } of waiting) this.#prove(node);
  }

  /** By what is known now: a heartbeat, maintenance or another policy may have come since the last review. */
  #prove(node: string): void {
    const { probed, proven, proveSilence, decisions, healthNowMs } = this.#options;
    probed.look(node);
    const one = probed.get(node);
    if (one === undefined || proven.has(one) || this.#doubt(one, this.#setting()) !== undefined) return;
    if (!proveSilence(one)) return;
    const { policy, heartbeatAtMs, graceMs } = one;
    const silentMs = healthNowMs() - heartbeatAtMs;
    proven.add(one);
    decisions.note({ kind: 'silence-proven', node, policy, silentMs, earlierMs: graceMs - silentMs });
  }

  #setting(): Setting {
    const { isStale, isUnhealthy, roomOf } = this.#options;
    const open = this.#open();
    if (open.length > probedMax) return { isStale: isStale(), areTooMany: () => true };
    const claims = open.filter(({ node }) => !isUnhealthy(node)).flatMap((one) => one.claims);
    const counts = Map.groupBy(claims, (claim) => claim);
    const full = new Set([...counts].flatMap(([claim, of]) => (of.length > roomOf(claim) ? claim : [])));
    return { isStale: isStale(), areTooMany: (one) => one.claims.some((claim) => full.has(claim)) };
  }

  #doubt(one: ProbedNode, { isStale, areTooMany }: Setting): DetectionDoubt | undefined {
    const { healthNowMs, clock, witness } = this.#options;
    const { rule, heartbeatAtMs, graceMs, last, lastAtMs, silentRounds } = one;
    return decideEarly({
      silentMs: healthNowMs() - heartbeatAtMs,
      earliestMs: rule.earliestMs,
      observedMs: healthNowMs() - (this.#observedFromMs ?? Infinity),
      graceMs,
      last,
      lastAgoMs: clock.monotonicMs() - lastAtMs,
      silentRounds,
      areTooMany: areTooMany(one),
      isStale,
      isWitnessed: witness.confirms(one),
    });
  }
}
