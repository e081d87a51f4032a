import { manifestText } from './manifests/manifest-text.ts';
import { StaticPodFiles } from './manifests/files.ts';
import { StaticPodUrl } from './manifests/http.ts';
import { FileSource } from '../../../hollow-cluster/kubelet/static-pods/file-source.ts';
import { HttpSource } from '../../../hollow-cluster/kubelet/static-pods/http-source.ts';
import type { PodSource } from '../../../hollow-cluster/kubelet/pod-config/pod-update.ts';
import type { Clock } from '../../../machinery/ports/clock.ts';
import type { Logger } from '../../../machinery/ports/logger.ts';
import type { FlagValues } from '../../flags/flag-definition.ts';
import type { hollowNodesFlags } from './flags.ts';

type StaticPodValues = Pick<
  FlagValues<typeof hollowNodesFlags>,
  'podManifestPath' | 'fileCheckFrequencyMs' | 'manifestUrl' | 'httpCheckFrequencyMs'
>;

interface Dependencies {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The static pod sources of the nodes: the same file or URL for all nodes, read by each node separately. */
export class StaticPodSources {
  readonly #values: StaticPodValues;
  readonly #dependencies: Dependencies;
  readonly #files: StaticPodFiles | undefined;
  readonly #url: StaticPodUrl | undefined;

  constructor(values: StaticPodValues, dependencies: Dependencies) {
    const { podManifestPath, manifestUrl } = values;
    this.#values = values;
    this.#dependencies = dependencies;
    this.#files = podManifestPath === undefined ? undefined : new StaticPodFiles(podManifestPath);
    this.#url = manifestUrl === undefined ? undefined : new StaticPodUrl({ url: manifestUrl });
  }

  /** The sources of one kubelet, created again at each restart. */
  of(nodeName: string): readonly PodSource[] {
    const { fileCheckFrequencyMs, httpCheckFrequencyMs } = this.#values;
    const common = { ...this.#dependencies, nodeName, text: manifestText };
    const sources: PodSource[] = [];
    if (this.#files !== undefined)
      sources.push(new FileSource({ ...common, files: this.#files, checkPeriodMs: fileCheckFrequencyMs }));
    if (this.#url !== undefined)
      sources.push(new HttpSource({ ...common, manifests: this.#url, checkPeriodMs: httpCheckFrequencyMs }));
    return sources;
  }

  async close(): Promise<void> {
    await this.#url?.close();
  }
}
