import { ApiError } from '../../api/api-error.ts';
import type { Pod } from '../../api/pod.ts';
import type { Clock } from '../../ports/clock.ts';
import type { KubeReader } from '../../ports/kube-reader.ts';
import type { KubeWriter } from '../../ports/kube-writer.ts';
import type { Logger } from '../../ports/logger.ts';
import { isMirrorPod } from '../pod-config/classify-pod.ts';
import type { PodManager } from '../pod-config/pod-manager.ts';
import type { PodStatus } from './derive-api-status.ts';
import { deriveStatusPatch, type StatusStyle } from './diff-api-status.ts';
import { mergeApiStatus } from './merge-api-status.ts';

/** A status that is to be told, as it was when it was decided upon. */
export interface Told {
  /** The pod's; of a static pod its own, not its mirror's. */
  readonly uid: string;
  readonly name: { readonly namespace: string; readonly name: string };
  readonly status: PodStatus;
  readonly version: number;
  /** Nothing of the pod runs and nothing will. */
  readonly finished: boolean;
}

/**
 * What came of one write. `written`: the API server says the same now. `kept`: so, but the pod could not be deleted.
 * `deleted`: the object is gone. `replaced`: another pod bears the name. `not-found`, `failed`: nothing was written.
 */
export type WriteOutcome = 'written' | 'kept' | 'deleted' | 'replaced' | 'not-found' | 'failed';

export interface StatusWriterOptions {
  readonly api: KubeReader & KubeWriter;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly pods: Pick<PodManager, 'translate'>;
  readonly style: StatusStyle;
  readonly mayRun: (uid: string) => boolean;
  /** May the object go now? `pod`: as the API server has it. */
  readonly canBeDeleted: (pod: Pod, told: Told) => boolean;
}

/** Brings one pod's status to the API server: a look, a write where something differs, and the deletion at the end. */
export class StatusWriter {
  readonly #options: StatusWriterOptions;

  constructor(options: StatusWriterOptions) {
    this.#options = options;
  }

  /** Never rejects for what the API server answers (kubelet status manager `syncPod`). */
  async write(told: Told, signal: AbortSignal): Promise<WriteOutcome> {
    try {
      return await this.#sync(told, signal);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const { namespace, name } = told.name;
      this.#options.logger.debug({ reason: error.reason, namespace, pod: name }, 'a pod status was not written');
      return error.reason === 'not-found' ? 'not-found' : 'failed';
    }
  }

  async #sync(told: Told, signal: AbortSignal): Promise<WriteOutcome> {
    const { api, clock, mayRun, canBeDeleted, pods } = this.#options;
    const stored: Pod = await api.get('pods', told.name, { signal });
    // Through the mirror, if it is one: the status is kept by the uid of the pod that it shows.
    if (pods.translate(stored.metadata.uid ?? '') !== told.uid) return 'replaced';
    const merged = mergeApiStatus({
      stored: stored.status ?? {},
      ours: told.status,
      mayRun: mayRun(told.uid),
      nowMs: clock.nowMs(),
    });
    const updated = await this.#put(stored, merged, told, signal);
    if (isMirrorPod(updated) || !canBeDeleted(updated, told)) return 'written';
    return await this.#delete(told, signal);
  }

  async #put(stored: Pod, status: PodStatus, told: Told, signal: AbortSignal): Promise<Pod> {
    const { api, style } = this.#options;
    if (style === 'classic') {
      return await api.replace('pods', { ...stored, status } as Pod, { signal, subresource: 'status' });
    }
    const changed = deriveStatusPatch(stored.status, status);
    if (changed === undefined) return stored;
    const body = { metadata: { uid: stored.metadata.uid }, status: changed };
    return await api.patch('pods', told.name, { type: 'strategic-merge', body }, { signal, subresource: 'status' });
  }

  async #delete(told: Told, signal: AbortSignal): Promise<WriteOutcome> {
    const { api, logger } = this.#options;
    try {
      await api.delete('pods', told.name, { uid: told.uid, gracePeriodSeconds: 0, signal });
      return 'deleted';
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      logger.debug({ reason: error.reason, pod: told.name.name }, 'a pod that has ended was not deleted');
      return 'kept';
    }
  }
}
