/** The subresource `scale` of resources with replicas (upstream `autoscaling/v1` `Scale`). */
import { invalid } from '../../api-errors/api-errors.ts';
import { invalidField } from '../../api-errors/field-errors.ts';
import { isMap, mapAt, mapsAt, type MutableJsonMap, numberAt } from '../../../../machinery/api/select-field.ts';
import type { ObjectRegistry, WriteOptions } from '../../registry/object-registry.ts';
import type { Target } from '../../registry/request-target.ts';
import { assertNamed } from '../../registry/body-reader.ts';
import type { StoredObject } from '../../storage/stored-object.ts';

export function buildScale({ content }: StoredObject): MutableJsonMap {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = content.metadata;
  const selector = formatSelector(mapAt(content.spec, 'selector'));
  const replicas = numberAt(content.spec, 'replicas');
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: replicas === 0 ? {} : { replicas },
    status: { replicas: numberAt(content.status, 'replicas'), ...(selector === '' ? {} : { selector }) },
  };
}

/** The merge patch of the scaled object for a Scale that a client wrote. Throws a 422 ApiError for a negative number. */
export function patchForScale(scale: MutableJsonMap, name: string): MutableJsonMap {
  const replicas = numberAt(scale['spec'], 'replicas');
  if (replicas < 0) {
    const error = invalidField('spec.replicas', replicas, 'must be greater than or equal to 0');
    throw invalid({ group: 'autoscaling', name: 'Scale' }, name, [error]);
  }
  const { resourceVersion, uid } = mapAt(scale, 'metadata');
  const guard = {
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    ...(uid === undefined ? {} : { uid }),
  };
  return { metadata: guard, spec: { replicas } };
}

/** Writes the replicas of a Scale to its object; returns the Scale afterwards. Throws an ApiError, as an update does. */
export function writeScale(
  registry: ObjectRegistry,
  target: Target,
  scale: MutableJsonMap,
  options: WriteOptions,
): MutableJsonMap {
  const { name = '' } = target;
  assertNamed(scale, name);
  const patch = { type: 'merge', body: patchForScale(scale, name) } as const;
  return buildScale(registry.patch(target, patch, options).object);
}

/** Selector as text, which clients of a Scale parse. That of a ReplicationController is a map of labels. */
function formatSelector(selector: MutableJsonMap): string {
  const structured = isMap(selector['matchLabels']) || Array.isArray(selector['matchExpressions']);
  const equal = Object.entries(structured ? mapAt(selector, 'matchLabels') : selector);
  const labels = equal.map(([key, value]) => `${key}=${String(value)}`);
  return [...labels, ...mapsAt(selector, 'matchExpressions').map(formatRequirement)].join(',');
}

function formatRequirement({ key, operator, values }: MutableJsonMap): string {
  const listed = Array.isArray(values) ? values.join(',') : '';
  switch (operator) {
    case 'Exists':
      return String(key);
    case 'DoesNotExist':
      return `!${String(key)}`;
    default:
      return `${String(key)} ${operator === 'NotIn' ? 'notin' : 'in'} (${listed})`;
  }
}
