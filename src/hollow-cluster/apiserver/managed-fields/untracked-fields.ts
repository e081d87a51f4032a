import { FieldSet } from './field-set.ts';
import { fieldElement } from './path-element.ts';

const metadataFields = [
  'name',
  'namespace',
  'creationTimestamp',
  'selfLink',
  'uid',
  'clusterName',
  'generation',
  'managedFields',
  'resourceVersion',
] as const;

/** Fields that no manager owns (upstream `stripMetaManager`). */
export const untrackedFields: FieldSet = FieldSet.of(
  [fieldElement('apiVersion')],
  [fieldElement('kind')],
  [fieldElement('metadata')],
  ...metadataFields.map((name) => [fieldElement('metadata'), fieldElement(name)]),
);
