/** The requests and limits that containers get from the LimitRanges of their namespace (upstream admission plugin `LimitRanger`). */
import { ownValue } from '../../api/json-map.ts';
import type { WriteContext } from '../registry/strategy.ts';
import { isMap, mapAt, mapsAt, type MutableJsonMap, textAt } from '../select-field.ts';
import type { Draft } from '../storage/stored-object.ts';

const annotation = 'kubernetes.io/limit-ranger';

/** The LimitRanges of a namespace, by name. */
export function limitRangesIn(objects: Pick<WriteContext['objects'], 'table'>, namespace: string): readonly Draft[] {
  const table = objects.table('limitranges');
  if (table.size === 0) return [];
  const prefix = `${namespace}/`;
  const found: Draft[] = [];
  for (const { key, content } of table.now().from(prefix)) {
    if (!key.startsWith(prefix)) break;
    found.push(content);
  }
  return found;
}

/** Changes a new pod, and names in an annotation what was set. */
export function admitLimitDefaults(pod: Draft, { objects }: Pick<WriteContext, 'objects'>): void {
  for (const range of limitRangesIn(objects, pod.metadata.namespace ?? '')) setDefaults(pod, range);
}

function setDefaults(pod: Draft, range: Draft): void {
  const limits = mapsAt(range, 'spec', 'limits').filter(({ type }) => type === 'Container');
  const defaults = {
    requests: Object.fromEntries(limits.flatMap((limit) => Object.entries(mapAt(limit, 'defaultRequest')))),
    limits: Object.fromEntries(limits.flatMap((limit) => Object.entries(mapAt(limit, 'default')))),
  };
  const set = (['containers', 'initContainers'] as const).flatMap((field) =>
    mapsAt(pod, 'spec', field).flatMap((container) => {
      const kind = field === 'containers' ? 'container' : 'init container';
      const about = `for ${kind} ${textAt(container, 'name')}`;
      const requested = fill(container, 'requests', defaults.requests);
      const limited = fill(container, 'limits', defaults.limits);
      return [
        ...(requested.length === 0 ? [] : [`${requested.join(', ')} request ${about}`]),
        ...(limited.length === 0 ? [] : [`${limited.join(', ')} limit ${about}`]),
      ];
    }),
  );
  if (set.length === 0) return;
  pod.metadata.annotations = { ...pod.metadata.annotations, [annotation]: `LimitRanger plugin set: ${set.join('; ')}` };
}

/** The names of what was missing, in order. */
function fill(container: MutableJsonMap, side: 'requests' | 'limits', defaults: MutableJsonMap): readonly string[] {
  const own = mapAt(container, 'resources', side);
  const missing = Object.keys(defaults)
    .filter((name) => ownValue(own, name) === undefined)
    .sort();
  if (missing.length === 0) return [];
  const resources = container['resources'];
  const added = { ...own, ...Object.fromEntries(missing.map((name) => [name, ownValue(defaults, name)])) };
  container['resources'] = { ...(isMap(resources) ? resources : {}), [side]: added };
  return missing;
}
