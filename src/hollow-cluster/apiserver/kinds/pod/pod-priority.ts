/** The priority of a pod (upstream admission plugin `Priority`). */
import { isAbsent, ownValue, setOwn } from '../../../../machinery/api/json-map.ts';
import { forbidden } from '../../api-errors/api-errors.ts';
import type { WriteContext } from '../strategy.ts';
import { type MutableJsonMap, textAt } from '../../../../machinery/api/select-field.ts';
import type { Draft } from '../../storage/stored-object.ts';

const classes = 'priorityclasses.scheduling.k8s.io';

/** The classes that every cluster has. */
export const systemPriorityClasses = [
  {
    name: 'system-node-critical',
    value: 2_000_001_000,
    preemptionPolicy: 'PreemptLowerPriority',
    description: 'Used for system critical pods that must not be moved from their current node.',
  },
  {
    name: 'system-cluster-critical',
    value: 2_000_000_000,
    preemptionPolicy: 'PreemptLowerPriority',
    description:
      'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  },
] as const;

interface Priority {
  readonly className: string;
  readonly value: number;
  readonly preemptionPolicy: string;
}

const none: Priority = { className: '', value: 0, preemptionPolicy: 'PreemptLowerPriority' };

/** Sets priority and preemption policy of a new pod. Throws a 403 ApiError for an unknown class or a differing number. */
export function admitPriority(draft: Draft, context: WriteContext): void {
  const spec = (draft.spec ??= {});
  const { className, value, preemptionPolicy } = priorityOf(draft, textAt(spec, 'priorityClassName'), context);
  assertSame(draft, 'integer value of priority', spec['priority'], value);
  assertSame(draft, 'string value of PreemptionPolicy', spec['preemptionPolicy'], preemptionPolicy);
  if (className !== '') spec['priorityClassName'] = className;
  spec['priority'] = value;
  spec['preemptionPolicy'] = preemptionPolicy;
}

/** An update that leaves them out does not change them. */
export function keepPriority(spec: MutableJsonMap, before: MutableJsonMap): void {
  for (const field of ['priority', 'preemptionPolicy']) {
    const kept = ownValue(before, field);
    if (kept !== undefined && isAbsent(ownValue(spec, field))) setOwn(spec, field, kept);
  }
}

function priorityOf(draft: Draft, className: string, { objects }: WriteContext): Priority {
  if (className === '') return defaultPriority(objects);
  const found = objects.get(classes, className);
  if (found === undefined) throw refused(draft, `no PriorityClass with name ${className} was found`);
  return asPriority(found.content);
}

/** Priority of the default class, with the lowest value if several are; without one: 0. */
function defaultPriority(objects: WriteContext['objects']): Priority {
  const table = objects.table(classes);
  if (table.size === 0) return none;
  const defaults = [...table.now().list()]
    .map(({ content }) => content)
    .filter((content) => content['globalDefault'] === true)
    .map(asPriority);
  return defaults.sort((a, b) => a.value - b.value)[0] ?? none;
}

function asPriority(content: Draft): Priority {
  const { value, preemptionPolicy } = content;
  return {
    className: content.metadata.name ?? '',
    value: typeof value === 'number' ? value : 0,
    preemptionPolicy: typeof preemptionPolicy === 'string' ? preemptionPolicy : none.preemptionPolicy,
  };
}

function assertSame(draft: Draft, what: string, given: unknown, computed: number | string): void {
  if ((typeof given !== 'number' && typeof given !== 'string') || given === computed) return;
  const why = `the ${what} (${given}) must not be provided in pod spec; priority admission controller computed ${computed} from the given PriorityClass name`;
  throw refused(draft, why);
}

function refused({ metadata }: Draft, why: string): Error {
  return forbidden({ group: '', name: 'pods' }, metadata.name ?? '', why);
}
