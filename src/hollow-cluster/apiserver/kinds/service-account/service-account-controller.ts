/** Creates the service account `default` in every namespace (upstream `serviceaccount-controller`). */
import { textAt } from '../../../../machinery/api/select-field.ts';
import type { ControllerContext, ServerController } from '../../controllers/controller-loop.ts';

const accountName = 'default';

export class ServiceAccountController implements ServerController {
  readonly name = 'serviceaccount-controller';
  readonly tables = ['namespaces', 'serviceaccounts'];
  readonly #context: ControllerContext;

  constructor(context: ControllerContext) {
    this.#context = context;
  }

  sync(): undefined {
    const { store, registry, targets } = this.#context;
    const target = targets.of('', 'serviceaccounts');
    const options = { dryRun: false, fieldValidation: 'Strict', manager: 'kube-controller-manager' } as const;
    for (const { name: namespace, content } of store.table('namespaces').now().list()) {
      // Nothing can be created there.
      const isTerminating = textAt(content, 'status', 'phase') === 'Terminating';
      if (isTerminating || registry.exists({ ...target, namespace, name: accountName })) continue;
      registry.create({ ...target, namespace }, { metadata: { name: accountName } }, options);
    }
  }
}
