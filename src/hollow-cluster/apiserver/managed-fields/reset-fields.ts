/** Fields that an endpoint does not change, so that writes through it do not own them (upstream `GetResetFields`). */
import { getOrInsert } from '../../../machinery/api/get-or-insert.ts';
import { ownValue } from '../../../machinery/api/json-map.ts';
import { FieldSet } from './field-set.ts';
import { fieldElement } from './path-element.ts';

type Paths = readonly (readonly string[])[];

interface ResetFields {
  readonly main: Paths;
  readonly status: Paths;
}

/** Reset fields of most resources with a subresource status. */
const isolated: ResetFields = { main: [['status']], status: [['spec']] };

/** Reset fields that differ, by `plural.group`. */
const special: Readonly<Record<string, ResetFields>> = {
  'pods.': {
    main: [['status']],
    status: [['spec'], ['metadata', 'deletionTimestamp'], ['metadata', 'ownerReferences']],
  },
  'deployments.apps': { main: [['status']], status: [['spec'], ['metadata', 'labels']] },
};
const custom: ResetFields = { main: [['status']], status: [['metadata'], ['spec']] };

interface Resource {
  readonly plural: string;
  readonly group: string;
  readonly isCustom: boolean;
  readonly hasStatus: boolean;
}

const known = new Map<string, FieldSet>();

/** `subresource` is the endpoint, empty for the object itself. */
export function resetFieldsOf({ plural, group, isCustom, hasStatus }: Resource, subresource: string): FieldSet {
  if (!hasStatus) return FieldSet.empty;
  const id = `${plural}.${group}/${subresource}`;
  const fields = isCustom ? custom : (ownValue(special, `${plural}.${group}`) ?? isolated);
  const paths = subresource === 'status' ? fields.status : fields.main;
  return getOrInsert(known, id, () => FieldSet.of(...paths.map((path) => path.map(fieldElement))));
}
