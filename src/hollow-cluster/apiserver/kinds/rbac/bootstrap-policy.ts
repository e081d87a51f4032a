/** The roles and bindings of a new cluster, as kube-apiserver creates them at its start. */
import { listOf, ownValue } from '../../../../machinery/api/json-map.ts';
import { isMap, textAt } from '../../../../machinery/api/select-field.ts';
import type { ObjectRegistry } from '../../registry/object-registry.ts';
import type { ServedTargets } from '../../registry/served-targets.ts';
import { rbacGroup } from '../../authorization/rbac-tables.ts';
import policy from './bootstrap-policy.json' with { type: 'json' };

interface PolicyObject {
  readonly plural: string;
  readonly name: string;
  /** Undefined for a cluster-scoped object. */
  readonly namespace: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Roles before bindings. */
export function bootstrapPolicy(): readonly PolicyObject[] {
  const all: Readonly<Record<string, unknown>> = policy;
  return ['clusterroles', 'roles', 'clusterrolebindings', 'rolebindings'].flatMap((plural) =>
    listOf(ownValue(all, plural))
      .filter(isMap)
      .map((body) => {
        const namespace = textAt(body, 'metadata', 'namespace') || undefined;
        return { plural, name: textAt(body, 'metadata', 'name'), namespace, body };
      }),
  );
}

/** Creates the roles and bindings of a new cluster that do not exist yet. */
export function createBootstrapPolicy(registry: ObjectRegistry, targets: ServedTargets): void {
  for (const { plural, namespace, name, body } of bootstrapPolicy()) {
    const target = { ...targets.of(rbacGroup, plural), namespace };
    if (registry.exists({ ...target, name })) continue;
    registry.create(target, body, { dryRun: false, fieldValidation: 'Strict', manager: 'kube-apiserver' });
  }
}
