import { ownValue } from '../../../machinery/api/json-map.ts';
import { type ObjectKey, objectKey } from '../../../machinery/api/object-key.ts';
import { eventsV1Group, type ServedResource } from '../resources.ts';
import type { GroupName } from '../api-errors/api-errors.ts';
import type { FieldLabels } from './selection.ts';
import type { Endpoint, Strategy } from '../kinds/strategy.ts';

/** The objects of a request, and the group version through which they are accessed. */
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

/** The resource as messages name it. */
export function resourceName({ served }: Target): GroupName {
  return { group: served.group, name: served.plural };
}

/** The kind as messages name it. */
export function kindName({ served }: Target): GroupName {
  return { group: served.group, name: served.kind };
}

/** Whether the request uses events.k8s.io/v1. */
export function isEventsV1({ served }: Target): boolean {
  return served.group === eventsV1Group;
}

/** The field labels of the target's group. */
export function fieldLabelsOf({ served, strategy }: Target): FieldLabels {
  return ownValue(strategy.fieldLabelsByGroup, served.group) ?? strategy.fieldLabels;
}
