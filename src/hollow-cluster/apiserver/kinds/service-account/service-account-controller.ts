/** Creates the service account `default` in every namespace (upstream `serviceaccount-controller`). */
import { textAt } from '../../select-field.ts';
import type { ObjectRegistry } from '../../registry/object-registry.ts';
import type { Target } from '../../registry/request-target.ts';
import type { VersionedStore } from '../../storage/versioned-store.ts';
import type { ServerController } from '../../controllers/controller-loop.ts';

interface ServiceAccountOptions {
  readonly store: VersionedStore;
  readonly registry: ObjectRegistry;
  /** All service accounts. */
  readonly target: Target;
}

const accountName = 'default';

export class ServiceAccountController implements ServerController {
  readonly name = 'serviceaccount-controller';
  readonly tables = ['namespaces', 'serviceaccounts'];
  readonly #options: ServiceAccountOptions;

  constructor(options: ServiceAccountOptions) {
    this.#options = options;
  }

  sync(): undefined {
    const { store, registry, target } = this.#options;
    const options = { dryRun: false, fieldValidation: 'Strict', manager: 'kube-controller-manager' } as const;
    for (const { name: namespace, content } of store.table('namespaces').now().from('')) {
      // Nothing can be created there.
      const isTerminating = textAt(content, 'status', 'phase') === 'Terminating';
      if (isTerminating || registry.exists({ ...target, namespace, name: accountName })) continue;
      registry.create({ ...target, namespace }, { metadata: { name: accountName } }, options);
    }
  }
}
