import type { FieldReader } from '../../api/field-reader.ts';
import { type JsonMap, mapOf } from '../../api/json-map.ts';
import { isDnsLabel } from '../../api/names.ts';
import { dnsLabelText } from './assess-metadata.ts';

const hostPathTypes = [
  '',
  'DirectoryOrCreate',
  'Directory',
  'FileOrCreate',
  'File',
  'Socket',
  'CharDevice',
  'BlockDevice',
];

/** The volumes of a spec; says which names there are. */
export function assessVolumes(fields: FieldReader, value: unknown): ReadonlySet<string> {
  const names = new Set<string>();
  for (const [index, volume] of fields.items<JsonMap>('spec.volumes', value, []).entries()) {
    const path = `spec.volumes[${index}]`;
    const name = fields.neededText(`${path}.name`, volume['name']);
    if (name !== '' && !isDnsLabel(name)) fields.refuse(`${path}.name`, name, dnsLabelText);
    if (names.has(name)) fields.refuse(`${path}.name`, name, 'a name that no other volume of the pod has');
    names.add(name);
    assessSource(fields, path, volume);
  }
  return names;
}

function assessSource(fields: FieldReader, path: string, volume: JsonMap): void {
  const kinds = Object.keys(volume).filter((field) => field !== 'name');
  if (kinds.length > 1) fields.refuse(path, kinds, 'one kind of volume');
  for (const kind of kinds) fields.part(`${path}.${kind}`, volume[kind]);
  if (kinds.includes('hostPath')) assessHostPath(fields, `${path}.hostPath`, mapOf(volume['hostPath']));
}

function assessHostPath(fields: FieldReader, path: string, hostPath: JsonMap): void {
  const place = fields.neededText(`${path}.path`, hostPath['path']);
  if (place.split('/').includes('..')) fields.refuse(`${path}.path`, place, "a path without '..'");
  const type = fields.text(`${path}.type`, hostPath['type']);
  if (!hostPathTypes.includes(type)) fields.refuse(`${path}.type`, type, hostPathTypes.filter(Boolean).join(', '));
}
