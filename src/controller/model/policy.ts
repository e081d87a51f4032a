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
