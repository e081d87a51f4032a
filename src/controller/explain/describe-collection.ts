import type { PodGcReason } from '../decisions.ts';
import { describeEstimate, describeLine } from './describe-values.ts';
import type { CollectionOutlook, PodGcOutlook } from './outlook.ts';

type Expected = Extract<CollectionOutlook, { readonly kind: 'expected' }>;

/** What the pod garbage collector does about a pod, in one line; nothing where it does nothing. */
export function describeCollection(collection: CollectionOutlook | null): string {
  return collection === null ? '' : describeLine('collection', collectionText(collection));
}

/** The pod garbage collector at a glance, in one line. */
export function describePodGc({ finished, threshold, nextRound, missingNodes }: PodGcOutlook): string {
  const missing = missingNodes === 0 ? '' : `; ${missingNodes} nodes that pods are bound to are not known`;
  return describeLine(
    'collection',
    `next round ${describeEstimate(nextRound)}; ${finishedText(finished, threshold)}${missing}`,
  );
}

function collectionText(collection: CollectionOutlook): string {
  switch (collection.kind) {
    case 'expected':
      return expectedText(collection);
    case 'kept':
      return `kept: ${finishedText(collection.finished, collection.threshold)}`;
    case 'held-by-finalizers':
      return 'it was deleted without grace already: only whoever set its finalizers can end it';
  }
}

function finishedText(finished: number, threshold: number | null): string {
  return `${finished} pods have finished, and ${threshold ?? 'all'} are kept`;
}

const reasons: Readonly<Record<PodGcReason, string>> = {
  terminated: 'more pods have finished than are kept, and it is among the oldest',
  'out-of-service': 'it is terminating, and its node is not ready and was declared out of service',
  orphaned: 'its node is not known',
  unscheduled: 'it is terminating and was never bound to a node',
};

const preventions: Readonly<Record<NonNullable<Expected['unless']>, string>> = {
  'fewer-finished-pods': 'unless enough finished pods are gone by then',
  'node-back-in-service': 'unless the node is ready again or no longer declared so',
  'node-known-again': 'unless the node turns up, or the API server says then that it has it',
};

function expectedText({ why, when, quarantineEnds, unless }: Expected): string {
  const quarantine = quarantineEnds === null ? '' : `; its quarantine ends: ${describeEstimate(quarantineEnds)}`;
  const prevention = unless === null ? '' : `, ${preventions[unless]}`;
  return `${reasons[why]}${quarantine}; deleted without grace: ${describeEstimate(when)}${prevention}`;
}
