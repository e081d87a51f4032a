import { manifestText } from '../adapters/manifest-text.ts';
import { StaticPodFiles } from '../adapters/static-pod-files.ts';
import { StaticPodUrl } from '../adapters/static-pod-http.ts';
import { FileSource } from '../kubelet/pod-config/file-source.ts';
import { HttpSource } from '../kubelet/pod-config/http-source.ts';
import type { PodSource } from '../kubelet/pod-config/pod-source.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { FlagValues } from './flag-definition.ts';
import type { hollowNodesFlags } from './hollow-nodes-flags.ts';

type StaticPodValues = Pick<
  FlagValues<typeof hollowNodesFlags>,
  'podManifestPath' | 'fileCheckFrequency' | 'manifestUrl' | 'httpCheckFrequency'
>;

interface Means {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Where nodes have their static pods from: all from the same place, and each looks there by itself. */
export class StaticPodSources {
  readonly #values: StaticPodValues;
  readonly #means: Means;
  readonly #files: StaticPodFiles | undefined;
  readonly #url: StaticPodUrl | undefined;

  constructor(values: StaticPodValues, means: Means) {
    const { podManifestPath, manifestUrl } = values;
    this.#values = values;
    this.#means = means;
    this.#files = podManifestPath === undefined ? undefined : new StaticPodFiles(podManifestPath);
    this.#url = manifestUrl === undefined ? undefined : new StaticPodUrl({ url: manifestUrl });
  }

  /** A kubelet's own, made anew for each of its lives. */
  of(nodeName: string): readonly PodSource[] {
    const { fileCheckFrequency, httpCheckFrequency } = this.#values;
    const common = { ...this.#means, nodeName, text: manifestText };
    const sources: PodSource[] = [];
    if (this.#files !== undefined)
      sources.push(new FileSource({ ...common, files: this.#files, checkPeriodMs: fileCheckFrequency }));
    if (this.#url !== undefined)
      sources.push(new HttpSource({ ...common, manifests: this.#url, checkPeriodMs: httpCheckFrequency }));
    return sources;
  }

  async close(): Promise<void> {
    await this.#url?.close();
  }
}
