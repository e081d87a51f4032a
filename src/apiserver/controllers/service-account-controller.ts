/** Creates the service account `default` in every namespace (upstream `serviceaccount-controller`). */
import { ApiError } from '../../api/api-error.ts';
import { textAt } from '../select-field.ts';
import type { ObjectRegistry } from '../registry/object-registry.ts';
import type { Target } from '../registry/request-target.ts';
import type { VersionedStore } from '../storage/versioned-store.ts';
import type { ServerController } from './controller-loop.ts';

interface ServiceAccountOptions {
  readonly store: VersionedStore;
  readonly registry: ObjectRegistry;
  /** All service accounts. */
  readonly target: Target;
}

const accountName = 'default';
/** A quota that refused an account may have room for it later. */
const refusedMs = 5_000;

export class ServiceAccountController implements ServerController {
  readonly name = 'serviceaccount-controller';
  readonly tables = ['namespaces', 'serviceaccounts'];
  readonly #options: ServiceAccountOptions;

  constructor(options: ServiceAccountOptions) {
    this.#options = options;
  }

  sync(): number | undefined {
    const { store, registry, target } = this.#options;
    let isRefused = false;
    for (const { name: namespace, content } of store.table('namespaces').now().from('')) {
      // Nothing can be created there.
      const isTerminating = textAt(content, 'status', 'phase') === 'Terminating';
      if (isTerminating || registry.exists({ ...target, namespace, name: accountName })) continue;
      if (!this.#create(namespace)) isRefused = true;
    }
    return isRefused ? refusedMs : undefined;
  }

  /** Returns false if it is forbidden, as by a quota: other namespaces get it all the same. */
  #create(namespace: string): boolean {
    const { registry, target } = this.#options;
    const body = { metadata: { name: accountName } };
    const options = { dryRun: false, fieldValidation: 'Strict', manager: 'kube-controller-manager' } as const;
    try {
      registry.create({ ...target, namespace }, body, options);
      return true;
    } catch (error) {
      if (error instanceof ApiError && error.code === 403) return false;
      throw error;
    }
  }
}
