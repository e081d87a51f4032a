/** What a pod gets from its RuntimeClass (upstream admission plugin `RuntimeClass`). */
import { textOf } from '../../api/json-map.ts';
import { sameJson } from '../../api/same-json.ts';
import { forbidden } from '../api-errors/api-errors.ts';
import type { WriteContext } from '../registry/strategy.ts';
import { mapAt, mapsAt, textAt } from '../select-field.ts';
import type { Draft } from '../storage/stored-object.ts';

const classes = 'runtimeclasses.node.k8s.io';

/**
 * Adds overhead, node selector and tolerations of the class to a new pod. Throws a 403 ApiError for an unknown class, and
 * for a pod that contradicts its class.
 */
export function admitRuntimeClass(draft: Draft, { objects }: WriteContext): void {
  const spec = (draft.spec ??= {});
  const name = textAt(spec, 'runtimeClassName');
  const found = name === '' ? undefined : objects.get(classes, name)?.content;
  if (name !== '' && found === undefined) throw refused(draft, `pod rejected: RuntimeClass "${name}" not found`);
  const overhead = mapAt(found, 'overhead')['podFixed'];
  if (overhead === undefined) {
    if (spec['overhead'] === undefined) return addScheduling(draft, found);
    throw refused(draft, 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead');
  }
  if (spec['overhead'] !== undefined && !sameJson(spec['overhead'], overhead)) {
    throw refused(draft, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
  }
  spec['overhead'] = structuredClone(overhead);
  addScheduling(draft, found);
}

function addScheduling(draft: Draft, found: Draft | undefined): void {
  const spec = (draft.spec ??= {});
  const scheduling = mapAt(found, 'scheduling');
  const wanted = Object.entries(mapAt(scheduling, 'nodeSelector'));
  const selector = mapAt(spec, 'nodeSelector');
  const conflicting = wanted.find(([key, value]) => selector[key] !== undefined && selector[key] !== value);
  if (conflicting !== undefined) {
    const [key, value] = conflicting;
    throw refused(
      draft,
      `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${textOf(value)}; pod.spec.nodeSelector[${key}] = ${textAt(selector, key)}`,
    );
  }
  if (wanted.length > 0) spec['nodeSelector'] = { ...selector, ...Object.fromEntries(wanted) };
  const tolerations = mapsAt(spec, 'tolerations');
  const added = mapsAt(scheduling, 'tolerations').filter((one) => !tolerations.some((other) => sameJson(one, other)));
  if (added.length > 0) spec['tolerations'] = [...tolerations, ...structuredClone(added)];
}

function refused({ metadata }: Draft, why: string): Error {
  return forbidden({ group: '', name: 'pods' }, metadata.name ?? '', why);
}
