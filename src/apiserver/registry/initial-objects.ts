/** Objects that a server creates at its start, if it does not have them yet. */
import { initialNamespaces } from './namespace-lifecycle.ts';
import type { ObjectRegistry } from './object-registry.ts';
import type { ServedTargets } from './served-targets.ts';
import { systemPriorityClasses } from '../kinds/priority-class-rules.ts';

/** Namespaces and priority classes. */
export function createInitialObjects(registry: ObjectRegistry, targets: ServedTargets): void {
  const create = (group: string, plural: string, name: string, fields: Readonly<Record<string, unknown>>): void => {
    const target = targets.of(group, plural);
    if (registry.exists({ ...target, name })) return;
    const options = { dryRun: false, fieldValidation: 'Strict', manager: 'kube-apiserver' } as const;
    registry.create(target, { metadata: { name }, ...fields }, options);
  };
  for (const name of initialNamespaces) create('', 'namespaces', name, {});
  for (const { name, ...fields } of systemPriorityClasses) create('scheduling.k8s.io', 'priorityclasses', name, fields);
}
