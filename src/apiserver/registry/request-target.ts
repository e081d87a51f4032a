import { type ObjectKey, objectKey } from '../../api/object-key.ts';
import { apiVersionOf, type ServedResource } from '../discovery/served-resources.ts';
import { newerEventGroup } from './event-forms.ts';
import type { GroupName } from './refusals.ts';
import type { FieldLabels } from './selection.ts';
import type { Endpoint, Strategy } from './strategy.ts';

/** Which objects a request is about, and through which group version it sees them. */
export interface Target {
  readonly served: ServedResource;
  readonly strategy: Strategy;
  /** Absent for cluster-scoped resources and for requests across namespaces. */
  readonly namespace: string | undefined;
  /** Absent for requests on a collection. */
  readonly name: string | undefined;
  readonly endpoint: Endpoint;
}

export function keyOfTarget(target: Target): ObjectKey {
  return objectKey(target.namespace, target.name ?? '');
}

/** As messages about the resource name it. */
export function resourceName({ served }: Target): GroupName {
  return { group: served.group, name: served.plural };
}

/** As messages about the kind name it. */
export function kindName({ served }: Target): GroupName {
  return { group: served.group, name: served.kind };
}

export function apiVersionOfTarget({ served }: Target): string {
  return apiVersionOf(served);
}

/** It speaks the newer form of events. */
export function speaksNewerEvents({ served }: Target): boolean {
  return served.group === newerEventGroup;
}

/** What the target's group lets one select by. */
export function fieldLabelsOf({ served, strategy }: Target): FieldLabels {
  return strategy.fieldLabelsByGroup?.[served.group] ?? strategy.fieldLabels;
}
