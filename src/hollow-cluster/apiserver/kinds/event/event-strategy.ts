/** Strategy of events, for both groups (upstream `pkg/registry/core/event/strategy.go`). */
import type { Draft } from '../../storage/stored-object.ts';
import { validateEvent, validateEventCreate, validateEventUpdate } from './event-validation.ts';
import { eventsV1Group } from '../../resources.ts';
import type { FieldLabels } from '../../registry/selection.ts';
import { textAt } from '../../../../machinery/api/select-field.ts';
import type { KindRules } from '../plain-strategy.ts';

const referenceFields = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'] as const;
const sharedLabels = ['metadata.name', 'metadata.namespace', 'reason', 'type'] as const;

const coreLabels: FieldLabels = {
  labels: [
    ...sharedLabels,
    ...referenceFields.map((field) => `involvedObject.${field}`),
    'reportingComponent',
    'source',
  ],
};

/** Upstream `AddFieldLabelConversionsForEvent` of events.k8s.io/v1. */
const eventV1Labels: FieldLabels = {
  labels: sharedLabels,
  aliases: {
    ...Object.fromEntries(referenceFields.map((field) => [`regarding.${field}`, `involvedObject.${field}`])),
    reportingController: 'reportingComponent',
  },
};

export const eventRules: KindRules = {
  createsOnUpdate: true,
  fieldLabels: coreLabels,
  fieldLabelsByGroup: { [eventsV1Group]: eventV1Labels },
  validate: validateEvent,
  validateCreate: validateEventCreate,
  validateUpdate: (draft, stored, _endpoint, group) => validateEventUpdate(draft, stored, group),
  fieldsOf,
};

/** Upstream `ToSelectableFields`. */
function fieldsOf(draft: Draft): Readonly<Record<string, string>> {
  const about = draft['involvedObject'];
  return {
    ...Object.fromEntries(referenceFields.map((field) => [`involvedObject.${field}`, textAt(about, field)])),
    reason: textAt(draft, 'reason'),
    reportingComponent: textAt(draft, 'reportingComponent'),
    source: textAt(draft, 'source', 'component') || textAt(draft, 'reportingComponent'),
    type: textAt(draft, 'type'),
  };
}
