/** Nodes that recover often, and are kept from new pods after it. */
import type { FlappingRule } from './policy.ts';

/** What is kept on the node with the taint. */
export interface FlappingRecord {
  /** 1 for the recovery with which the node flaps, and one more for each further one. */
  readonly level: number;
  /** RFC 3339: when the taint is removed. */
  readonly until: string;
  /** End of the time without new pods, as wall time. */
  readonly untilMs: number;
}

/** A recovery after which a node is to be kept. Its times are on the monotonic clock. */
export interface DueKeeping {
  readonly level: number;
  /** Number of recoveries within the window. */
  readonly recoveries: number;
  readonly recoveredAtMs: number;
  readonly untilMs: number;
}

/** The rule for a node, and the policy that has it. */
export interface AppliedFlappingRule {
  readonly policy: string;
  readonly rule: FlappingRule;
}

/**
 * `none`: neither taint nor annotation, and nothing is due. `due`: to be kept, or to be kept for longer. `kept`: until the
 * time in the record. All others are to be released: `over`: that time has come. `cleared`: another client removed the
 * annotation or the taint. `malformed`: the annotation cannot be read. `too-long`: its end is later than the maximum of the
 * policy from now. `no-rule`: no policy keeps this node.
 */
export type FlappingState =
  | { readonly kind: 'none' }
  | ({ readonly kind: 'due' } & AppliedFlappingRule & { readonly due: DueKeeping })
  | { readonly kind: 'kept'; readonly record: FlappingRecord }
  | { readonly kind: FlappingEnd };

/** Why a node is kept no longer. */
export type FlappingEnd = 'over' | 'cleared' | 'malformed' | 'too-long' | 'no-rule';

/** Flapping of a node, for reports. */
export interface FlappingReport {
  readonly state: FlappingState;
  /** Number of recoveries within the window that this process counted. */
  readonly recoveries: number;
  /** Undefined: no policy keeps this node. */
  readonly rule: FlappingRule | undefined;
}

/** `recovered 3 times within 3600s`. */
export function describeRecoveries(recoveries: number, { withinMs }: Pick<FlappingRule, 'withinMs'>): string {
  return `recovered ${recoveries} ${recoveries === 1 ? 'time' : 'times'} within ${Math.round(withinMs / 1_000)}s`;
}

/** Why a node is kept no longer, for a sentence. */
export function describeFlappingEnd(why: FlappingEnd): string {
  switch (why) {
    case 'over':
      return 'its time is over';
    case 'cleared':
      return 'another client removed the annotation or the taint; recoveries are counted from the beginning';
    case 'malformed':
      return 'the annotation is malformed';
    case 'too-long':
      return 'the end in the annotation is later than the maximum of the policy allows';
    case 'no-rule':
      return 'no policy keeps flapping nodes here';
  }
}
