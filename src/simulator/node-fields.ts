/** Fields of a Node, or of a Pod, as stored. */
import { findCondition, listConditions } from '../machinery/api/conditions.ts';
import type { KubeObject } from '../machinery/api/meta.ts';

export const zoneLabel = 'topology.kubernetes.io/zone';

interface WithConditions extends KubeObject {
  readonly status?: { readonly conditions?: unknown };
}

/** Status of the Ready condition; `missing` without one. */
export function readyOf({ status }: WithConditions): string {
  return findCondition(listConditions(status?.conditions), 'Ready')?.status ?? 'missing';
}

export function isReady(object: WithConditions): boolean {
  return readyOf(object) === 'True';
}

/** Value of the zone's label; empty without one. */
export function zoneNameOf({ metadata }: KubeObject): string {
  return metadata.labels?.[zoneLabel] ?? '';
}
