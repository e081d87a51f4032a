import type { Pod } from '../../../machinery/api/pod.ts';
import type { Clock } from '../../../machinery/ports/clock.ts';
import type { Logger } from '../../../machinery/ports/logger.ts';
import type { ManifestFiles, ManifestText } from '../../../machinery/ports/static-pod-manifests.ts';
import { Backoff } from '../../../machinery/queueing/backoff.ts';
import { Alarm } from '../../../machinery/supervision/alarm.ts';
import { runTogether } from '../loops/loop-group.ts';
import { keyOf } from '../../../machinery/api/object-key.ts';
import { parseFilePod, type ManifestPods } from './parse-static-pod.ts';
import type { PodSource, SendPods } from '../pod-config/pod-update.ts';

/** Period in which everything is listed, regardless of watch events (kubelet `fileCheckFrequency`). */
export const fileCheckPeriodMs = 20_000;
/** Delay before the next watch, with backoff after failures (kubelet `config.retryPeriod`, `maxRetryPeriod`). */
const rewatchDelays = { delayMsMin: 1_000, delayMsMax: 20_000 } as const;

interface FileSourceOptions {
  readonly nodeName: string;
  readonly files: ManifestFiles;
  readonly text: ManifestText;
  readonly clock: Clock;
  readonly logger: Logger;
  /** {@link fileCheckPeriodMs} when absent. */
  readonly checkPeriodMs?: number;
}

/** Content of a file as of its last valid read. */
interface KnownFile {
  readonly digest: string;
  readonly pods: readonly Pod[];
}

/**
 * Static pods from a file, or from the files of a directory (kubelet `config.sourceFile`). Reads on watch events, and
 * lists every 20 s. A file that is invalid is logged; one that becomes invalid keeps its pod until the next listing,
 * which uses the current content only. Without a path an empty list is sent, and the source is ready.
 */
export class FileSource implements PodSource {
  readonly name = 'file';
  readonly #options: FileSourceOptions;
  readonly #alarm: Alarm;
  readonly #rewatch = new Backoff(rewatchDelays);
  readonly #touched = new Set<string>();
  /** The last logged problem of each invalid file: a repeated problem is logged at debug level. */
  readonly #loggedProblems = new Map<string, string>();
  /** Manifests of which it was logged that another file defines the same pod. */
  #loggedReplaced: ReadonlySet<string> = new Set();
  #known: ReadonlyMap<string, KnownFile> = new Map();
  #listAtMs = 0;

  constructor(options: FileSourceOptions) {
    this.#options = options;
    this.#alarm = new Alarm(options.clock);
  }

  /** Each run starts from scratch: problems that an earlier run logged are logged again. */
  async run(send: SendPods, signal: AbortSignal): Promise<void> {
    this.#known = new Map();
    this.#loggedProblems.clear();
    this.#loggedReplaced = new Set();
    this.#listAtMs = this.#options.clock.monotonicMs();
    await runTogether(signal, [(signal) => this.#follow(send, signal), (signal) => this.#watch(signal)]);
  }

  async #follow(send: SendPods, signal: AbortSignal): Promise<void> {
    const { clock, checkPeriodMs = fileCheckPeriodMs } = this.#options;
    while (!signal.aborted) {
      const nowMs = clock.monotonicMs();
      if (nowMs >= this.#listAtMs) {
        this.#listAtMs = nowMs + checkPeriodMs;
        await this.#list(send, signal);
      } else if (this.#touched.size > 0) {
        await this.#reread(send, signal);
      }
      await this.#alarm.wait(Math.max(0, this.#listAtMs - clock.monotonicMs()), signal);
    }
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { files, clock, logger } = this.#options;
    const { path } = files;
    while (!signal.aborted) {
      const end = await files.watch(
        { onArmed: () => this.#onArmed(), onTouched: (name) => this.#onTouched(name) },
        signal,
      );
      if (signal.aborted) return;
      if (end.kind === 'failed') logger.error({ path, problem: end.problem }, 'failed to watch static pod manifests');
      await clock.sleep(end.kind === 'failed' ? this.#rewatch.nextMs(path) : rewatchDelays.delayMsMin, signal);
    }
  }

  /** A change before the watch was established shows only in a listing. */
  #onArmed(): void {
    this.#rewatch.forget(this.#options.files.path);
    this.#listAtMs = this.#options.clock.monotonicMs();
    this.#alarm.wakeUp();
  }

  #onTouched(name: string): void {
    if (name.startsWith('.')) return;
    this.#touched.add(name);
    this.#alarm.wakeUp();
  }

  async #list(send: SendPods, signal: AbortSignal): Promise<void> {
    const { files, logger } = this.#options;
    // A file that changes from now on may have been read before the change, so it is read again.
    this.#touched.clear();
    const place = await files.look();
    switch (place.kind) {
      case 'missing':
        this.#logProblem('', 'path does not exist');
        this.#known = new Map();
        break;
      case 'unusable':
        this.#logProblem('', place.problem);
        return;
      case 'file': {
        const known = await this.#read('');
        // An invalid file is not a missing one: its pod stays.
        if (known === 'kept') return;
        this.#known = known === 'gone' ? new Map() : new Map([['', known]]);
        break;
      }
      case 'folder':
        this.#known = await this.#readAll(place.names);
        break;
    }
    logger.debug({ path: files.path, files: this.#known.size }, 'static pod manifests listed');
    await this.#send(send, signal);
  }

  async #readAll(names: readonly string[]): Promise<ReadonlyMap<string, KnownFile>> {
    const all = new Map<string, KnownFile>();
    for (const name of this.#loggedProblems.keys()) if (!names.includes(name)) this.#loggedProblems.delete(name);
    for (const name of names.filter((name) => !name.startsWith('.')).sort()) {
      const known = await this.#read(name);
      if (typeof known === 'object') all.set(name, known);
    }
    return all;
  }

  async #reread(send: SendPods, signal: AbortSignal): Promise<void> {
    const names = [...this.#touched].sort();
    this.#touched.clear();
    const all = new Map(this.#known);
    let changed = false;
    for (const name of names) {
      const known = await this.#read(name);
      if (known === 'gone') changed = all.delete(name) || changed;
      else if (known !== 'kept' && known !== all.get(name)) {
        all.set(name, known);
        changed = true;
      }
    }
    this.#known = all;
    if (changed) await this.#send(send, signal);
  }

  /** `kept`: the file is invalid, which was logged. Returns the same object as before if the text is unchanged. */
  async #read(name: string): Promise<KnownFile | 'gone' | 'kept'> {
    const { files, text } = this.#options;
    const read = await files.read(name);
    if (read.kind === 'gone') {
      this.#loggedProblems.delete(name);
      return 'gone';
    }
    if (read.kind !== 'text') return this.#logProblem(name, read.problem);
    const digest = text.digest(read.text);
    const known = this.#known.get(name);
    if (known?.digest === digest) return known;
    const result = this.#parse(name, read.text);
    if ('problems' in result) return this.#logProblem(name, result.problems.join('; '));
    this.#loggedProblems.delete(name);
    return { digest, pods: result.pods };
  }

  #parse(name: string, written: string): ManifestPods {
    const { nodeName, files, text } = this.#options;
    const parsed = text.parse(written);
    if ('problem' in parsed) return { problems: [parsed.problem] };
    const place = name === '' ? files.path : `${files.path}/${name}`;
    return parseFilePod(parsed.document, { nodeName, source: 'file', place, digest: text.digest });
  }

  #logProblem(name: string, problem: string): 'kept' {
    const { files, logger } = this.#options;
    const level = this.#loggedProblems.get(name) === problem ? 'debug' : 'error';
    this.#loggedProblems.set(name, problem);
    logger[level]({ path: files.path, file: name, problem }, 'failed to read static pod manifest');
    return 'kept';
  }

  /** Logs it once, as long as it remains so. Returns its key. */
  #logReplaced(pod: string, ignored: string, file: string): string {
    const { files, logger } = this.#options;
    const key = JSON.stringify([pod, ignored, file]);
    const message = 'static pod manifest ignored, another file defines the same pod';
    if (!this.#loggedReplaced.has(key)) logger.warn({ path: files.path, pod, ignored, file }, message);
    return key;
  }

  async #send(send: SendPods, signal: AbortSignal): Promise<void> {
    // If two files define a pod of one name, the later file wins, be it a backup: `web.yaml.bak` comes after `web.yaml`.
    const pods = new Map<string, { readonly file: string; readonly pod: Pod }>();
    const replaced = new Set<string>();
    for (const file of [...this.#known.keys()].sort()) {
      for (const pod of this.#known.get(file)?.pods ?? []) {
        const key = keyOf(pod.metadata);
        const before = pods.get(key);
        if (before !== undefined) replaced.add(this.#logReplaced(key, before.file, file));
        pods.set(key, { file, pod });
      }
    }
    this.#loggedReplaced = replaced;
    await send(
      Array.from(pods.values(), ({ pod }) => pod),
      signal,
    );
  }
}
