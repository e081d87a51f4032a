import { findCondition } from '../../machinery/api/conditions.ts';
import type { NodeView } from '../../machinery/api/node.ts';
import { isHealthTaint } from '../../machinery/api/taints.ts';
import { clockSkewMs } from '../../machinery/api/timestamps.ts';
import type { Now } from '../model/node-state.ts';
import type { DueKeeping, FlappingRecord } from '../model/flapping.ts';
import type { FlappingRule } from '../model/policy.ts';
import { isTaintedFlapping } from './assess-flapping.ts';
import { countRecoveries, decideLevel, isStillFlapping, keptForMs } from './decide-level.ts';
import { parseRecord } from './parse-flapping-record.ts';

/** Older ones change nothing: a rule counts at most so many. */
const recoveriesMax = 100;

/** A node that is not Ready and has a health taint, until it is Ready without one. */
interface Impairment {
  /** The node was in planned maintenance meanwhile, or only the path to it failed: its recovery does not count. */
  isExcused: boolean;
  /** Time since which the node is Ready, on the monotonic clock; undefined: it is not. */
  readyAtMs: number | undefined;
}

interface History {
  readonly uid: string;
  impairment: Impairment | undefined;
  /** Times of the recoveries on the monotonic clock, oldest first. */
  recoveriesMs: readonly number[];
  level: number;
  due: DueKeeping | undefined;
  /** The value of the annotation that was adopted last, and what it says. */
  adopted: { readonly text: string; readonly record: FlappingRecord } | undefined;
}

interface Observation {
  readonly rule: FlappingRule;
  readonly now: Now;
  /** The node is in planned maintenance. */
  readonly isMaintained: boolean;
  /** The node is silent because of a ControlPlanePathFailure, as far as this process classified it. */
  readonly isPathFailure: boolean;
}

interface Recorded {
  readonly isRecorded: boolean;
}

interface Begin extends Recorded {
  readonly rule: FlappingRule;
  readonly nowMs: number;
}

/**
 * The recoveries of nodes, as every replica observes them: a node that was Ready, was not Ready and had a health taint, and
 * is Ready without one. Only what was observed counts: a missed recovery keeps a node later, never for nothing. What the node
 * shows is followed: the level in its annotation, and its removal by another client, with which counting starts again.
 */
export class RecoveryHistory {
  /** The uid of each node that was Ready once, by name. The first time is no recovery. */
  readonly #seenReady = new Map<string, string>();
  readonly #histories = new Map<string, History>();

  /** Level-triggered: may be called with the same state any number of times. */
  observe(node: NodeView, observation: Observation): void {
    const known = this.#historyOf(node);
    const mark = this.#adopt(node, known, observation);
    if (mark === 'cleared') this.reset(node.name);
    const history = mark === 'cleared' ? this.#historyOf(node) : known;
    if (isReady(node)) this.#recover(node, history, { ...observation, isRecorded: mark === 'adopted' });
    else this.#impair(node, history, observation.isMaintained || observation.isPathFailure);
    this.#store(node.name, history, observation);
  }

  /** The recovery after which the node is to be kept, while that lasts. */
  dueOf(node: string, { monotonicMs }: Pick<Now, 'monotonicMs'>): DueKeeping | undefined {
    const due = this.#histories.get(node)?.due;
    return due === undefined || due.untilMs <= monotonicMs ? undefined : due;
  }

  /** Number of completed recoveries within the window. */
  recoveriesOf(node: string, rule: FlappingRule, { monotonicMs }: Pick<Now, 'monotonicMs'>): number {
    const history = this.#histories.get(node);
    return history === undefined ? 0 : countRecoveries(history.recoveriesMs, rule, monotonicMs);
  }

  /** The node is not kept from new pods after its last recovery. */
  settle(node: string): void {
    const history = this.#histories.get(node);
    if (history !== undefined) history.due = undefined;
  }

  /** Counting starts again. */
  reset(node: string): void {
    this.#histories.delete(node);
  }

  /** The node no longer exists, or no policy counts its recoveries. */
  forget(node: string): void {
    this.#histories.delete(node);
    this.#seenReady.delete(node);
  }

  get size(): number {
    return Math.max(this.#seenReady.size, this.#histories.size);
  }

  /** History of a node; a node of the same name and another uid has a new one. */
  #historyOf({ name, uid }: NodeView): History {
    const known = this.#histories.get(name);
    if (known?.uid === uid) return known;
    return { uid, impairment: undefined, recoveriesMs: [], level: 0, due: undefined, adopted: undefined };
  }

  /** Follows the annotation of the node. `cleared`: another client removed the annotation or the taint. */
  #adopt(node: NodeView, history: History, { rule, now }: Observation): 'same' | 'adopted' | 'cleared' {
    const { flapping: text } = node;
    if (isTaintedFlapping(node) !== (text !== undefined)) return 'cleared';
    const { adopted } = history;
    if (text === adopted?.text) return 'same';
    if (text === undefined) {
      history.adopted = undefined;
      // The controller removes both at the end; clocks of replicas differ.
      const isOver = adopted === undefined || adopted.record.untilMs - clockSkewMs <= now.wallMs;
      return isOver ? 'same' : 'cleared';
    }
    const record = parseRecord(text);
    if (record === undefined) return 'same';
    history.adopted = { text, record };
    history.level = record.level;
    history.due = undefined;
    this.#seenReady.set(node.name, node.uid);
    // A process that did not observe the recovery derives its time.
    if (history.recoveriesMs.length === 0 && history.impairment === undefined)
      history.recoveriesMs = [recoveredAtMs(record, rule, now)];
    return 'adopted';
  }

  #impair(node: NodeView, history: History, isExcused: boolean): void {
    // The next recovery decides.
    history.due = undefined;
    const wasReady = this.#seenReady.get(node.name) === node.uid;
    if (history.impairment === undefined && wasReady && hasHealthTaint(node))
      history.impairment = { isExcused: false, readyAtMs: undefined };
    if (history.impairment === undefined) return;
    history.impairment.readyAtMs = undefined;
    history.impairment.isExcused ||= isExcused;
  }

  /** The node is Ready. `isRecorded`: what is observed with it is the record of this recovery. */
  #recover(node: NodeView, history: History, { rule, now, isPathFailure, isRecorded }: Observation & Recorded): void {
    this.#seenReady.set(node.name, node.uid);
    const { impairment } = history;
    if (impairment === undefined) return;
    const nowMs = now.monotonicMs;
    // The silence may have been classified after the node was seen last.
    impairment.isExcused ||= isPathFailure;
    impairment.readyAtMs ??= this.#begin(history, impairment, { rule, nowMs, isRecorded });
    if (!hasHealthTaint(node)) this.#complete(history, impairment, rule);
  }

  /** Decides whether the node is to be kept after this recovery, if it has no record of it yet. Returns its time. */
  #begin(history: History, { isExcused }: Impairment, { rule, nowMs, isRecorded }: Begin): number {
    if (!isExcused && !isRecorded) history.due = this.#decideDue(history, rule, nowMs);
    return nowMs;
  }

  /** The health taints are gone. */
  #complete(history: History, { isExcused, readyAtMs = 0 }: Impairment, rule: FlappingRule): void {
    history.impairment = undefined;
    if (isExcused) return;
    // A record that was written for it has its level.
    const isRecorded = history.due === undefined && history.adopted !== undefined;
    if (!isRecorded) history.level = decideLevel(toRecoveries(history), rule, readyAtMs);
    history.recoveriesMs = [...history.recoveriesMs, readyAtMs].slice(-recoveriesMax);
  }

  #decideDue(history: History, rule: FlappingRule, nowMs: number): DueKeeping | undefined {
    const level = decideLevel(toRecoveries(history), rule, nowMs);
    if (level === 0) return undefined;
    const recoveries = countRecoveries(history.recoveriesMs, rule, nowMs) + 1;
    return { level, recoveries, recoveredAtMs: nowMs, untilMs: nowMs + keptForMs(level, rule) };
  }

  /** Remembers only what may change a later decision. */
  #store(name: string, history: History, { rule, now }: Observation): void {
    const { monotonicMs } = now;
    if (history.due !== undefined && history.due.untilMs <= monotonicMs) history.due = undefined;
    if (!isStillFlapping(toRecoveries(history), rule, monotonicMs)) history.level = 0;
    const isOld = countRecoveries(history.recoveriesMs.slice(-1), rule, monotonicMs) === 0;
    if (isOld) history.recoveriesMs = [];
    const isEmpty = isOld && history.level === 0 && history.impairment === undefined;
    if (isEmpty && history.adopted === undefined && history.due === undefined) this.#histories.delete(name);
    else this.#histories.set(name, history);
  }
}

/** Time of the recovery in a record, on the monotonic clock; not in the future. */
function recoveredAtMs({ level, untilMs }: FlappingRecord, rule: FlappingRule, { monotonicMs, wallMs }: Now): number {
  return monotonicMs - Math.max(0, wallMs - (untilMs - keptForMs(level, rule)));
}

function toRecoveries({ recoveriesMs, level, adopted }: History): Parameters<typeof decideLevel>[0] {
  return { atMs: recoveriesMs, level, isTainted: adopted !== undefined };
}

export function isReady({ conditions }: Pick<NodeView, 'conditions'>): boolean {
  return findCondition(conditions, 'Ready')?.status === 'True';
}

function hasHealthTaint({ taints }: NodeView): boolean {
  return taints.some(isHealthTaint);
}
