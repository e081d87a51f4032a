import { type LabelRequirement, type LabelSelector, listRequirements, matchesLabels } from './label-selector.ts';
import type { KubeObject } from './meta.ts';
import type { Labels } from './topology.ts';

/** A DaemonSet as on the wire; only the fields that are read. */
export interface DaemonSet extends KubeObject {
  readonly spec?: { readonly selector?: LabelSelector | null };
}

/** The fields of a DaemonSet that the controller caches: enough to match its pods. */
export interface DaemonSetView {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** All requirements must match. An empty list selects nothing. */
  readonly selector: readonly LabelRequirement[];
}

/**
 * Transforms a DaemonSet while it is decoded. Never throws. A selector with a malformed part selects nothing: an
 * unsupported requirement must not widen the selector.
 */
export function transformDaemonSet({ metadata, spec }: DaemonSet): DaemonSetView {
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
    selector: listRequirements(spec?.selector),
  };
}

/** Whether the selector matches these labels (upstream `GetPodDaemonSets`: nil and empty selectors match nothing). */
export function selectsLabels({ selector }: Pick<DaemonSetView, 'selector'>, labels: Labels): boolean {
  return matchesLabels(selector, labels);
}
