/** Writes the rules of ClusterRoles that collect those of others (upstream `clusterroleaggregation`). */
import { planAggregation } from './plan-aggregation.ts';
import type { ObjectRegistry } from '../../registry/object-registry.ts';
import type { Target } from '../../registry/request-target.ts';
import type { VersionedStore } from '../../storage/versioned-store.ts';
import type { ServerController } from '../../controllers/controller-loop.ts';

interface RoleAggregationOptions {
  readonly store: VersionedStore;
  readonly registry: ObjectRegistry;
  /** All ClusterRoles. */
  readonly target: Target;
}

const table = 'clusterroles.rbac.authorization.k8s.io';

export class RoleAggregationController implements ServerController {
  readonly name = 'clusterrole-aggregation-controller';
  readonly tables = [table];
  readonly #options: RoleAggregationOptions;

  constructor(options: RoleAggregationOptions) {
    this.#options = options;
  }

  /** A role that collects from another aggregated role is complete after the change of that one. */
  sync(): undefined {
    const { store, registry, target } = this.#options;
    for (const { name, rules } of planAggregation([...store.table(table).now().from('')])) {
      registry.amend({ ...target, name }, (draft) => Object.assign(draft, { rules }), false);
    }
  }
}
