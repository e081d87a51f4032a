/** The resources that a server serves as targets of writes of the server itself. */
import { findServedResource, type ServedResource, tableOf } from '../resources.ts';
import type { Target } from './request-target.ts';
import type { Strategy } from '../kinds/strategy.ts';

export class ServedTargets {
  readonly #served: readonly ServedResource[];
  readonly #strategies: ReadonlyMap<string, Strategy>;

  constructor(served: readonly ServedResource[], strategies: ReadonlyMap<string, Strategy>) {
    this.#served = served;
    this.#strategies = strategies;
  }

  /** Throws for a resource that is not served: the names are those of this program. */
  of(group: string, plural: string): Target {
    const served = findServedResource(group, 'v1', plural, this.#served);
    if (served === undefined) throw new Error(`${plural} of ${JSON.stringify(group)} are not served`);
    return this.all(served);
  }

  /** Every namespaced resource that has objects which can be deleted; events of both groups are one. */
  namespaced(): readonly Target[] {
    const all = this.#served.filter(
      ({ namespaced, review, verbs }) => namespaced && !review && verbs.includes('delete'),
    );
    const targets = all.map((served) => this.all(served));
    return targets.filter(
      (target, index) => targets.findIndex(({ strategy }) => strategy === target.strategy) === index,
    );
  }

  /** The objects of a resource. */
  all(served: ServedResource): Target {
    const strategy = this.#strategies.get(tableOf(served));
    if (strategy === undefined) throw new Error(`no strategy for ${served.plural}`);
    return { served, strategy, namespace: undefined, name: undefined, endpoint: '' };
  }
}
