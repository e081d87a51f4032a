// The roles and bindings that kube-apiserver creates at its start, as the embedded API server keeps them.
import type { RestClient } from './rest-client.ts';

interface PolicyObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

const resources = ['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'] as const;
const label = 'kubernetes.io/bootstrapping=rbac-defaults';

/** By plural, without what differs from one start to another. Rules of aggregated roles follow from the others. */
export async function readBootstrapPolicy(client: RestClient): Promise<Readonly<Record<string, readonly unknown[]>>> {
  const entries = resources.map(async (plural) => {
    const path = `/apis/rbac.authorization.k8s.io/v1/${plural}?labelSelector=${encodeURIComponent(label)}`;
    const { items } = await client.must<{ readonly items: readonly PolicyObject[] }>('GET', path);
    return [plural, items.map(withoutOrigin)] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

function withoutOrigin({ metadata, ...rest }: PolicyObject): unknown {
  const { name, namespace, labels, annotations } = metadata;
  const object = { metadata: { name, namespace, labels, annotations }, ...rest };
  return JSON.parse(JSON.stringify('aggregationRule' in rest ? { ...object, rules: null } : object));
}
