import type { EventDraft } from '../api/event.ts';
import type { ObjectReference } from '../api/meta.ts';

/** An event as kube-controller-manager logs it, byte for byte (client-go `eventBroadcasterImpl.StartLogging`). */
export function describeEventLine({ about, type, reason, message }: EventDraft): string {
  return `Event(${describeReference(about)}): type: '${type}' reason: '${reason}' ${message}`;
}

/** As Go's `%#v` prints it, zero values included; the resourceVersion is always empty. */
function describeReference({ kind, namespace, name, uid, apiVersion, fieldPath }: ObjectReference): string {
  const fields = [
    ['Kind', kind],
    ['Namespace', namespace],
    ['Name', name],
    ['UID', uid],
    ['APIVersion', apiVersion],
    ['ResourceVersion', ''],
    ['FieldPath', fieldPath],
  ] as const;
  return `v1.ObjectReference{${fields.map(([field, value]) => `${field}:${JSON.stringify(value ?? '')}`).join(', ')}}`;
}
