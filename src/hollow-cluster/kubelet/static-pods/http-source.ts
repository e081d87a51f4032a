import type { Clock } from '../../../machinery/ports/clock.ts';
import type { Logger } from '../../../machinery/ports/logger.ts';
import type { ManifestText, ManifestUrl } from '../../../machinery/ports/static-pod-manifests.ts';
import { every } from '../../../machinery/supervision/every.ts';
import { parseHttpPods, type ManifestPods } from './parse-static-pod.ts';
import type { PodSource, SendPods } from '../pod-config/pod-update.ts';

/** Period in which the URL is read (kubelet `httpCheckFrequency`). */
export const httpCheckPeriodMs = 20_000;
/**
 * Consecutive failures that are logged at info level; later ones are logged at debug level, which the last info line
 * announces.
 */
const infoFailuresMax = 3;
const accepted = 200;
const readFailure = 'failed to read static pods from URL';
const lastLoudFailure = 'failed to read static pods from URL; further failures are logged at debug level';

interface HttpSourceOptions {
  readonly nodeName: string;
  readonly manifests: ManifestUrl;
  readonly text: ManifestText;
  readonly clock: Clock;
  readonly logger: Logger;
  /** {@link httpCheckPeriodMs} when absent. */
  readonly checkPeriodMs?: number;
}

/**
 * Static pods from a URL (kubelet `config.sourceURL`): one pod, or a list of them. A document is processed once, valid
 * or not, until its content changes.
 */
export class HttpSource implements PodSource {
  readonly name = 'http';
  readonly #options: HttpSourceOptions;
  /** Digest of the last document, valid or not. */
  #digest: string | undefined;
  #usable = true;
  #failures = 0;

  constructor(options: HttpSourceOptions) {
    this.#options = options;
  }

  /** Each run starts from scratch: its receiver has nothing of what an earlier run sent. */
  async run(send: SendPods, signal: AbortSignal): Promise<void> {
    this.#digest = undefined;
    this.#usable = true;
    this.#failures = 0;
    const { clock, checkPeriodMs = httpCheckPeriodMs } = this.#options;
    await every(checkPeriodMs, clock, signal, async () => {
      const problem = await this.#poll(send, signal);
      if (!signal.aborted) this.#logResult(problem);
    });
  }

  /** The problem of this poll; undefined on success. */
  async #poll(send: SendPods, signal: AbortSignal): Promise<string | undefined> {
    const { manifests, text } = this.#options;
    const response = await manifests.get(signal);
    if (response.kind === 'failed') return response.problem;
    if (response.status !== accepted) return `status: must be ${accepted} (got ${response.status})`;
    if (response.text === '') {
      this.#digest = undefined;
      await send([], signal);
      return 'document is empty';
    }
    const digest = text.digest(response.text);
    if (digest === this.#digest) return undefined;
    this.#digest = digest;
    const result = this.#parse(response.text);
    this.#usable = 'pods' in result;
    if ('problems' in result) return result.problems.join('; ');
    await send(result.pods, signal);
    return undefined;
  }

  #parse(written: string): ManifestPods {
    const { nodeName, manifests, text } = this.#options;
    const parsed = text.parse(written);
    if ('problem' in parsed) return { problems: [parsed.problem] };
    return parseHttpPods(parsed.document, { nodeName, source: 'http', place: manifests.url, digest: text.digest });
  }

  #logResult(problem: string | undefined): void {
    const { logger, manifests } = this.#options;
    if (problem === undefined) {
      if (this.#failures > 0 && this.#usable) logger.info({ url: manifests.url }, 'static pods read from URL again');
      this.#failures = 0;
      return;
    }
    const level = this.#failures <= infoFailuresMax ? 'info' : 'debug';
    const message = this.#failures === infoFailuresMax ? lastLoudFailure : readFailure;
    logger[level]({ url: manifests.url, problem }, message);
    this.#failures += 1;
  }
}
