import { type EvictionView, targetKey } from '../../machinery/api/eviction.ts';
import type { ObjectKey } from '../../machinery/api/object-key.ts';
import type { Informer } from '../../machinery/informer/informer.ts';
import type { Clock } from '../../machinery/ports/clock.ts';
import { evictionsByTarget } from '../model/indexes.ts';
import { selectResponder, type WaitedResponder } from './select-responder.ts';

/** The API makes one Eviction for a pod; of more that others have made these are read. */
const evictionsMax = 16;

/** What is read of an informer of Evictions, with the index `evictionsByTarget`. */
export type EvictionSource = Pick<Informer<EvictionView>, 'store' | 'status'>;

interface EvictionRespondersOptions {
  readonly evictions: EvictionSource;
  readonly clock: Pick<Clock, 'nowMs'>;
}

/** Responders that help pods to leave, as the Evictions of lifecycle.k8s.io show them. */
export class EvictionResponders {
  readonly #options: EvictionRespondersOptions;

  constructor(options: EvictionRespondersOptions) {
    this.#options = options;
  }

  /** The first Evictions of this pod (`namespace/name`). */
  evictionsOf(pod: ObjectKey, uid: string): readonly EvictionView[] {
    return this.#options.evictions.store.byIndex(evictionsByTarget, targetKey(pod, uid)).slice(0, evictionsMax);
  }

  /** The responder for which this pod waits; undefined: none. */
  responderOf(pod: ObjectKey, uid: string, timeoutMs: number): WaitedResponder | undefined {
    return selectResponder(this.evictionsOf(pod, uid), { nowMs: this.#options.clock.nowMs(), timeoutMs });
  }

  /** Why Evictions cannot be read, such as an API that is not served; undefined: they can. No pod waits for what is not read. */
  problem(): string | undefined {
    const { state, synced, lastError } = this.#options.evictions.status();
    return synced && state !== 'backing-off' ? undefined : (lastError ?? 'not read yet');
  }
}
