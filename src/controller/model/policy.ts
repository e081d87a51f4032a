/** Policies: settings and a mode for the nodes that a label selector matches. */
import type { LabelRequirement } from '../../api/label-selector.ts';

/**
 * `Enforce`: acts. `Observe`: evaluates and reports, and writes nothing for its nodes and their pods. `Paused`: holds
 * what makes a node or its pods worse; recovery goes on.
 */
export type PolicyMode = 'Enforce' | 'Observe' | 'Paused';

export interface NodePolicy {
  readonly name: string;
  /** The highest one that matches a node applies to it. */
  readonly priority: number;
  /** All must match. Of equal priorities the selector with more requirements applies. */
  readonly selector: readonly LabelRequirement[];
  readonly mode: PolicyMode;
  /** Undefined: the setting of the controller. */
  readonly nodeMonitorGracePeriodMs: number | undefined;
  readonly nodeStartupGracePeriodMs: number | undefined;
  /** Undefined: nothing means planned maintenance. */
  readonly maintenance: MaintenanceRule | undefined;
}

/** What means that a node is in planned maintenance. */
export interface MaintenanceRule {
  /** Types of conditions, while they are True. */
  readonly conditions: readonly string[];
  /** Keys of taints, of any effect. */
  readonly taints: readonly string[];
  /** How long each of them counts, from the time in it. */
  readonly maxDurationMs: number;
}

/** A condition that is True, or a taint, that means planned maintenance. */
export interface MaintenanceSignal {
  readonly kind: 'condition' | 'taint';
  /** Type of the condition, or key of the taint. */
  readonly name: string;
  /** Its `lastTransitionTime` or `timeAdded`, readable or not. */
  readonly at: string | undefined;
}

/**
 * A node in planned maintenance: it is no evidence of a disruption, gets no NoExecute taint for its health, and its pods
 * are not evicted for its health.
 */
export interface Maintenance {
  readonly policy: string;
  /** Those whose maximum is not over: the maintenance ends early when all of them are gone. Never empty. */
  readonly signals: readonly MaintenanceSignal[];
  /** Wall time of the last of their ends; finite. */
  readonly untilMs: number;
}

/** The grace periods in force for a node. */
export interface GracePeriods {
  readonly nodeMonitorGracePeriodMs: number;
  readonly nodeStartupGracePeriodMs: number;
}

/** The policy of a node. `conflict`: several claim it equally, so none of them applies. */
export type PolicySelection =
  | { readonly kind: 'default' }
  | { readonly kind: 'policy'; readonly policy: NodePolicy }
  | { readonly kind: 'conflict'; readonly policies: readonly NodePolicy[] };

/** Kinds of writes for a node and its pods, as far as a mode holds them. */
export type NodeAct =
  | 'mark-unknown'
  | 'add-taints'
  | 'mark-pods-not-ready'
  | 'delete-pods'
  | 'remove-taints'
  | 'set-labels';

/** What holds writes for a node. */
export type HoldSource =
  /** `paused: true` in the config file. */
  | { readonly kind: 'config-file' }
  /** The annotation of the node. `malformed`: its value is neither accepted value, which holds too. */
  | { readonly kind: 'annotation'; readonly malformed: boolean }
  | { readonly kind: 'policy'; readonly policy: string };

/** A hold of writes for one node. */
export interface NodeHold {
  readonly mode: Exclude<PolicyMode, 'Enforce'>;
  readonly source: HoldSource;
  /** Wall time of its end; Infinity: no end. */
  readonly untilMs: number;
}

/** How many nodes a policy claims. */
export interface PolicyCount {
  readonly policy: string;
  readonly mode: PolicyMode;
  /** Number of nodes to which it applies. */
  readonly nodes: number;
  /** Number of nodes that it and another policy claim equally. */
  readonly conflicts: number;
}

/** The source of a hold, for a sentence. */
export function describeHoldSource(source: HoldSource): string {
  switch (source.kind) {
    case 'config-file':
      return 'the config file (paused: true)';
    case 'annotation':
      return source.malformed ? 'a malformed annotation of the node' : 'an annotation of the node';
    case 'policy':
      return `policy ${source.policy}`;
  }
}

/** `condition MaintenanceInProgress` or `taint example.com/maintenance`. */
export function describeSignal({ kind, name }: Pick<MaintenanceSignal, 'kind' | 'name'>): string {
  return `${kind} ${name}`;
}
