/** Objects that a server creates at its start, if it does not have them yet. */
import { initialNamespaces } from './namespace/namespace-lifecycle.ts';
import type { ObjectRegistry } from '../registry/object-registry.ts';
import type { ServedTargets } from '../registry/served-targets.ts';
import type { Target } from '../registry/request-target.ts';
import { systemPriorityClasses } from './pod/pod-priority.ts';

const kubernetesAddress = '10.96.0.1';

/** Clients learn the IP family of the cluster from it; nothing routes to it. */
const kubernetesService = {
  metadata: { name: 'kubernetes', labels: { component: 'apiserver', provider: 'kubernetes' } },
  spec: {
    type: 'ClusterIP',
    clusterIP: kubernetesAddress,
    clusterIPs: [kubernetesAddress],
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
    ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: 6_443 }],
  },
};

/** Namespaces, priority classes and the Service `kubernetes`. */
export function createInitialObjects(registry: ObjectRegistry, targets: ServedTargets): void {
  createSystemNamespaces(registry, targets);
  for (const { name, ...fields } of systemPriorityClasses)
    createMissing(registry, targets.of('scheduling.k8s.io', 'priorityclasses'), { metadata: { name }, ...fields });
  createMissing(registry, { ...targets.of('', 'services'), namespace: 'default' }, kubernetesService);
}

/** Creates the namespaces of the system that are missing. */
export function createSystemNamespaces(registry: ObjectRegistry, targets: ServedTargets): void {
  for (const name of initialNamespaces) createMissing(registry, targets.of('', 'namespaces'), { metadata: { name } });
}

function createMissing(registry: ObjectRegistry, target: Target, object: InitialObject): void {
  if (registry.exists({ ...target, name: object.metadata.name })) return;
  registry.create(target, object, { dryRun: false, fieldValidation: 'Strict', manager: 'kube-apiserver' });
}

interface InitialObject {
  readonly metadata: { readonly name: string };
  readonly [field: string]: unknown;
}
