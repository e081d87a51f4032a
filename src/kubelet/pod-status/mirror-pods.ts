import { ApiError } from '../../api/api-error.ts';
import type { Node } from '../../api/node.ts';
import type { Pod } from '../../api/pod.ts';
import type { KubeReader } from '../../ports/kube-reader.ts';
import type { KubeWriter } from '../../ports/kube-writer.ts';
import type { Logger } from '../../ports/logger.ts';
import { configAnnotations, mirrorHash } from '../pod-config/classify-pod.ts';
import { decideMirrorWork } from './decide-mirror-work.ts';
import { deriveMirror } from './derive-mirror.ts';

export interface MirrorPodsOptions {
  readonly api: Pick<KubeReader, 'get'> & Pick<KubeWriter, 'create' | 'delete'>;
  /** The kubelet's own node as it was last seen; undefined while the API server has none. */
  readonly node: () => Node | undefined;
  readonly logger: Logger;
}

/** Shows static pods to the API server, and takes those pictures away again (kubelet `pod.MirrorClient`). */
export class MirrorPods {
  readonly #options: MirrorPodsOptions;

  constructor(options: MirrorPodsOptions) {
    this.#options = options;
  }

  /**
   * Sees to it that a static pod's mirror shows it as it is: one that shows something else, or is being deleted, goes
   * first (kubelet `tryReconcileMirrorPods`). `mirror` is the one known now. What fails is logged, and tried again when
   * the pod is looked at again.
   */
  async reconcile(pod: Pod, mirror: Pod | undefined, signal: AbortSignal): Promise<void> {
    const work = decideMirrorWork(pod, mirror, this.#options.node());
    if (work.deletes && mirror !== undefined && !(await this.delete(mirror, signal))) return;
    if (work.creates) await this.#tryCreate(pod, signal);
  }

  /**
   * Creates the mirror of a static pod, owned by the node. True when the API server has it now, made by us or found as
   * it should be; false while the node is not known, without which there is no owner. Rejects with the ApiError that the
   * API server answered, also where another pod has the name.
   */
  async create(pod: Pod, signal: AbortSignal): Promise<boolean> {
    const { api, node: find } = this.#options;
    const node = find();
    if (node?.metadata.uid === undefined) return false;
    try {
      await api.create('pods', deriveMirror(pod, node), { signal });
    } catch (error) {
      if (!(error instanceof ApiError) || error.reason !== 'already-exists') throw error;
      if (!(await this.#isThere(pod, signal))) throw error;
    }
    return true;
  }

  /**
   * Deletes a mirror at once, and only the one with this uid. True when it was there. That it is gone, or that another
   * one took its place, is no failure; other failures are logged, and whoever looks again tries again.
   */
  async delete(mirror: Pod, signal: AbortSignal): Promise<boolean> {
    const { api, logger } = this.#options;
    const { uid = '', namespace = '', name = '' } = mirror.metadata;
    try {
      await api.delete('pods', { namespace, name }, { uid, gracePeriodSeconds: 0, signal });
      return true;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const expected = ['not-found', 'conflict', 'aborted'].includes(error.reason);
      if (!expected) logger.error({ reason: error.reason, namespace, pod: name }, 'a mirror pod was not deleted');
      return false;
    }
  }

  async #tryCreate(pod: Pod, signal: AbortSignal): Promise<void> {
    try {
      await this.create(pod, signal);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const { namespace, name } = pod.metadata;
      const fields = { reason: error.reason, namespace, pod: name };
      if (error.reason !== 'aborted') this.#options.logger.error(fields, 'a mirror pod was not created');
    }
  }

  async #isThere(pod: Pod, signal: AbortSignal): Promise<boolean> {
    const { namespace = '', name = '' } = pod.metadata;
    const stored = await this.#options.api.get('pods', { namespace, name }, { signal });
    return stored.metadata.annotations?.[configAnnotations.mirror] === mirrorHash(pod);
  }
}
