import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/logger.ts';
import type { ManifestText, ManifestUrl } from '../../ports/static-pod-manifests.ts';
import { every } from '../../supervision/every.ts';
import { deriveHttpPods, type ManifestPods } from './derive-static-pod.ts';
import type { PodSource, SendPods } from './pod-source.ts';

/** How often the URL is asked (kubelet `httpCheckFrequency`). */
export const httpCheckPeriodMs = 20_000;
/** So many failures in a row are told for everybody to see; after one more, which says so, they are told for debugging. */
const loudFailuresMax = 3;
const accepted = 200;

export interface HttpSourceOptions {
  readonly nodeName: string;
  readonly manifests: ManifestUrl;
  readonly text: ManifestText;
  readonly clock: Clock;
  readonly logger: Logger;
  /** {@link httpCheckPeriodMs} when absent. */
  readonly checkPeriodMs?: number;
}

/**
 * Static pods from a URL (kubelet `config.sourceURL`): one pod, or a list of them. A document that was looked at once is
 * not looked at again until another one comes, also where it could not be used.
 */
export class HttpSource implements PodSource {
  readonly name = 'http';
  readonly #options: HttpSourceOptions;
  /** Of the last document, whether or not it could be used. */
  #digest: string | undefined;
  #usable = true;
  #failures = 0;

  constructor(options: HttpSourceOptions) {
    this.#options = options;
  }

  /** Each run begins anew: what an earlier one sent is not known to whom this one sends. */
  async run(send: SendPods, signal: AbortSignal): Promise<void> {
    this.#digest = undefined;
    this.#usable = true;
    this.#failures = 0;
    const { clock, checkPeriodMs = httpCheckPeriodMs } = this.#options;
    await every(checkPeriodMs, clock, signal, async () => {
      const problem = await this.#poll(send, signal);
      if (!signal.aborted) this.#tell(problem);
    });
  }

  /** What went wrong; undefined where nothing did. */
  async #poll(send: SendPods, signal: AbortSignal): Promise<string | undefined> {
    const { manifests, text } = this.#options;
    const answer = await manifests.get(signal);
    if (answer.kind === 'failed') return answer.problem;
    if (answer.status !== accepted) return `status: got ${answer.status}; accepted: ${accepted}`;
    if (answer.text === '') {
      this.#digest = undefined;
      await send([], signal);
      return 'the document is empty';
    }
    const digest = text.digest(answer.text);
    if (digest === this.#digest) return undefined;
    this.#digest = digest;
    const result = this.#derive(answer.text);
    this.#usable = 'pods' in result;
    if ('flaws' in result) return result.flaws.join('; ');
    await send(result.pods, signal);
    return undefined;
  }

  #derive(written: string): ManifestPods {
    const { nodeName, manifests, text } = this.#options;
    const parsed = text.parse(written);
    if ('problem' in parsed) return { flaws: [parsed.problem] };
    return deriveHttpPods(parsed.document, { nodeName, source: 'http', place: manifests.url, digest: text.digest });
  }

  #tell(problem: string | undefined): void {
    const { logger, manifests } = this.#options;
    if (problem === undefined) {
      if (this.#failures > 0 && this.#usable)
        logger.info({ url: manifests.url }, 'static pods were read from the URL again');
      this.#failures = 0;
      return;
    }
    const quieter = this.#failures === loudFailuresMax ? '; from now on this is told at debug level only' : '';
    const level = this.#failures <= loudFailuresMax ? 'info' : 'debug';
    logger[level]({ url: manifests.url, problem }, `static pods could not be read from the URL${quieter}`);
    this.#failures += 1;
  }
}
