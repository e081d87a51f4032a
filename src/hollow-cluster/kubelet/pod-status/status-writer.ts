import { ApiError } from '../../../machinery/api/api-error.ts';
import type { Pod } from '../../../machinery/api/pod.ts';
import type { Clock } from '../../../machinery/ports/clock.ts';
import type { NodeApi } from '../network/fault-injecting-client.ts';
import type { Logger } from '../../../machinery/ports/logger.ts';
import { isMirrorPod } from '../pod-config/classify-pod.ts';
import type { PodManager } from '../pod-config/pod-manager.ts';
import type { PodStatus } from './build-api-status.ts';
import { diffStatusPatch, mergeApiStatus } from './diff-api-status.ts';

/** A status to be written, as of the time it was set. */
export interface VersionedStatus {
  /** Uid of the pod; for a static pod its own, not its mirror's. */
  readonly uid: string;
  readonly name: { readonly namespace: string; readonly name: string };
  readonly status: PodStatus;
  readonly version: number;
  /** Nothing of the pod runs or will run. */
  readonly finished: boolean;
}

/**
 * Outcome of one write. `written`: the API server has this status. `kept`: the same, but the pod could not be deleted.
 * `deleted`: the object is deleted. `replaced`: another pod has the name. `not-found`, `failed`: nothing was written.
 */
type WriteOutcome = 'written' | 'kept' | 'deleted' | 'replaced' | 'not-found' | 'failed';

interface StatusWriterOptions {
  readonly api: NodeApi;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly pods: Pick<PodManager, 'translate'>;
  readonly mayRun: (uid: string) => boolean;
  /** True if the object may be deleted now. `pod`: as the API server has it. */
  readonly canBeDeleted: (pod: Pod, versioned: VersionedStatus) => boolean;
}

/** Writes one pod's status: GET, PATCH if something differs, and the final DELETE. */
export class StatusWriter {
  readonly #options: StatusWriterOptions;

  constructor(options: StatusWriterOptions) {
    this.#options = options;
  }

  /** Never rejects because of an API error (kubelet status manager `syncPod`). */
  async write(versioned: VersionedStatus, signal: AbortSignal): Promise<WriteOutcome> {
    try {
      return await this.#sync(versioned, signal);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const { namespace, name } = versioned.name;
      this.#options.logger.debug({ reason: error.reason, namespace, pod: name }, 'failed to update pod status');
      return error.reason === 'not-found' ? 'not-found' : 'failed';
    }
  }

  async #sync(versioned: VersionedStatus, signal: AbortSignal): Promise<WriteOutcome> {
    const { api, clock, mayRun, canBeDeleted, pods } = this.#options;
    const stored: Pod = await api.get('pods', versioned.name, { signal });
    // The stored pod may be a mirror: the status is kept under the uid of its static pod.
    if (pods.translate(stored.metadata.uid ?? '') !== versioned.uid) return 'replaced';
    const merged = mergeApiStatus({
      stored: stored.status ?? {},
      wanted: versioned.status,
      mayRun: mayRun(versioned.uid),
      nowMs: clock.nowMs(),
    });
    const updated = await this.#put(stored, merged, versioned, signal);
    if (isMirrorPod(updated) || !canBeDeleted(updated, versioned)) return 'written';
    return await this.#delete(versioned, signal);
  }

  async #put(stored: Pod, status: PodStatus, versioned: VersionedStatus, signal: AbortSignal): Promise<Pod> {
    const changed = diffStatusPatch(stored.status, status);
    if (changed === undefined) return stored;
    const body = { metadata: { uid: stored.metadata.uid }, status: changed };
    return await this.#options.api.patch(
      'pods',
      versioned.name,
      { type: 'strategic-merge', body },
      { signal, subresource: 'status' },
    );
  }

  async #delete(versioned: VersionedStatus, signal: AbortSignal): Promise<WriteOutcome> {
    const { api, logger } = this.#options;
    try {
      await api.delete('pods', versioned.name, { uid: versioned.uid, gracePeriodSeconds: 0, signal });
      return 'deleted';
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      logger.debug({ reason: error.reason, pod: versioned.name.name }, 'failed to delete terminated pod');
      return 'kept';
    }
  }
}
