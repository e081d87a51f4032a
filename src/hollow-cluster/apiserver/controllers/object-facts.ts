/**
 * What the disruption controller reads of an object, once for each version: the content of an object that was sent to a
 * client has to be parsed for each reading.
 */
import { mapsAt, numberAt, textAt } from '../select-field.ts';
import type { StoredObject } from '../storage/stored-object.ts';

/** The owner of an object that is its controller. */
export interface ControllerRef {
  readonly group: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

interface ObjectFacts {
  readonly name: string;
  readonly isDeleted: boolean;
  /** Whether its condition `Ready` is true. */
  readonly isReady: boolean;
  readonly controller: ControllerRef | undefined;
  /** `spec.replicas`. */
  readonly replicas: number;
}

const known = new WeakMap<StoredObject, ObjectFacts>();

export function factsOf(object: StoredObject): ObjectFacts {
  const found = known.get(object) ?? readFacts(object);
  known.set(object, found);
  return found;
}

function readFacts({ name, content }: StoredObject): ObjectFacts {
  const ready = mapsAt(content, 'status', 'conditions').find(({ type }) => type === 'Ready');
  return {
    name,
    isDeleted: content.metadata.deletionTimestamp !== undefined,
    isReady: ready?.['status'] === 'True',
    controller: controllerOf(content),
    replicas: numberAt(content, 'spec', 'replicas'),
  };
}

function controllerOf(content: unknown): ControllerRef | undefined {
  const found = mapsAt(content, 'metadata', 'ownerReferences').find(({ controller }) => controller === true);
  if (found === undefined) return undefined;
  const [group, version] = textAt(found, 'apiVersion').split('/');
  const [kind, name, uid] = [textAt(found, 'kind'), textAt(found, 'name'), textAt(found, 'uid')];
  return { group: version === undefined ? '' : (group ?? ''), kind, name, uid };
}
