/** Volumes of pods (upstream `ValidateVolumes`): names, and what the frequent sources need. */
import { ownValue } from '../../../../machinery/api/json-map.ts';
import { duplicateField, type FieldError, forbiddenField, requiredField } from '../../api-errors/field-errors.ts';
import { isMap, mapsAt, type MutableJsonMap, textAt } from '../../select-field.ts';
import { checkFormat } from '../../validation/field-checks.ts';
import { explainLabel } from '../../validation/formats.ts';

/** The field without which a source is incomplete. */
const requiredOf: Readonly<Record<string, string>> = {
  configMap: 'name',
  secret: 'secretName',
  persistentVolumeClaim: 'claimName',
  hostPath: 'path',
};
/** Sources in the order in which upstream reads them: the first one counts. */
const sourceOrder = ['emptyDir', 'hostPath', 'gitRepo', 'secret', 'nfs', 'persistentVolumeClaim', 'configMap'];

export function checkVolumes(spec: MutableJsonMap, path: string): readonly FieldError[] {
  const seen = new Set<string>();
  return mapsAt(spec, 'volumes').flatMap((volume, index) => {
    const own = `${path}.volumes[${index}]`;
    const name = textAt(volume, 'name');
    const ofSource = checkSource(volume, own);
    if (name === '') return [...ofSource, requiredField(`${own}.name`)];
    const ofName = checkFormat(`${own}.name`, name, explainLabel);
    if (ofName.length > 0) return [...ofSource, ...ofName];
    if (seen.has(name)) return [...ofSource, duplicateField(`${own}.name`, name)];
    seen.add(name);
    return ofSource;
  });
}

function checkSource(volume: MutableJsonMap, path: string): readonly FieldError[] {
  const given = Object.keys(volume).filter((field) => field !== 'name');
  const ordered = [
    ...sourceOrder.filter((field) => given.includes(field)),
    ...given.filter((field) => !sourceOrder.includes(field)),
  ];
  const [first = '', ...more] = ordered;
  const source = ownValue(volume, first);
  const needed = ownValue(requiredOf, first);
  const incomplete = isMap(source) && needed !== undefined && textAt(source, needed) === '';
  return [
    ...(incomplete ? [requiredField(`${path}.${first}.${needed}`)] : []),
    ...more.map((field) => forbiddenField(`${path}.${field}`, 'may not specify more than 1 volume type')),
  ];
}

/** The names that containers can mount. */
export function mountableNames(spec: MutableJsonMap): ReadonlySet<string> {
  const names = mapsAt(spec, 'volumes').map((volume) => textAt(volume, 'name'));
  return new Set(names.filter((name) => name !== '' && explainLabel(name).length === 0));
}
