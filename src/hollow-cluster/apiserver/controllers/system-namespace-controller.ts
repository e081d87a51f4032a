/** Creates the namespaces of the system again when they are gone (upstream `controlplane/controller/systemnamespaces`). */
import { createSystemNamespaces } from '../registry/initial-objects.ts';
import type { ObjectRegistry } from '../registry/object-registry.ts';
import type { ServedTargets } from '../registry/served-targets.ts';
import type { StoreChange } from '../storage/store-change.ts';
import type { ServerController } from './controller-loop.ts';

export class SystemNamespaceController implements ServerController {
  readonly name = 'system-namespaces-controller';
  readonly tables = ['namespaces'];
  readonly #registry: ObjectRegistry;
  readonly #targets: ServedTargets;

  constructor(registry: ObjectRegistry, targets: ServedTargets) {
    this.#registry = registry;
    this.#targets = targets;
  }

  concerns(_table: string, { kind }: StoreChange): boolean {
    return kind === 'deleted';
  }

  sync(): undefined {
    createSystemNamespaces(this.#registry, this.#targets);
  }
}
