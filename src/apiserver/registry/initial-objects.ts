/** Objects that a server creates at its start, if it does not have them yet. */
import { initialNamespaces } from './namespace-lifecycle.ts';
import type { ObjectRegistry } from './object-registry.ts';
import type { ServedTargets } from './served-targets.ts';
import type { Target } from './request-target.ts';
import { systemPriorityClasses } from '../kinds/priority-class-rules.ts';
import { kubernetesAddress } from '../kinds/service-addresses.ts';

/** Clients learn the IP family of the cluster from it; nothing routes to it. */
const kubernetesService = {
  metadata: { name: 'kubernetes', labels: { component: 'apiserver', provider: 'kubernetes' } },
  spec: {
    clusterIP: kubernetesAddress,
    ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: 6_443 }],
  },
};

/** Namespaces, priority classes and the Service `kubernetes`. */
export function createInitialObjects(registry: ObjectRegistry, targets: ServedTargets): void {
  const create = (target: Target, object: InitialObject): void => {
    if (registry.exists({ ...target, name: object.metadata.name })) return;
    registry.create(target, object, { dryRun: false, fieldValidation: 'Strict', manager: 'kube-apiserver' });
  };
  for (const name of initialNamespaces) create(targets.of('', 'namespaces'), { metadata: { name } });
  for (const { name, ...fields } of systemPriorityClasses)
    create(targets.of('scheduling.k8s.io', 'priorityclasses'), { metadata: { name }, ...fields });
  create({ ...targets.of('', 'services'), namespace: 'default' }, kubernetesService);
}

interface InitialObject {
  readonly metadata: { readonly name: string };
  readonly [field: string]: unknown;
}
