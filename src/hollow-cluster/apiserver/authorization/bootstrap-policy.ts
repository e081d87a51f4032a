/** The roles and bindings of a new cluster, as kube-apiserver creates them at its start. */
import { listOf, ownValue } from '../../../machinery/api/json-map.ts';
import { isMap, textAt } from '../select-field.ts';
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
