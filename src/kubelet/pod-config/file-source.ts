import type { Pod } from '../../api/pod.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/logger.ts';
import type { ManifestFiles, ManifestText } from '../../ports/static-pod-manifests.ts';
import { Backoff } from '../../queueing/backoff.ts';
import { Alarm } from '../../supervision/alarm.ts';
import { runTogether } from '../run-together.ts';
import { deriveCurrentPods } from './derive-current-pods.ts';
import { deriveFilePod, type ManifestPods } from './derive-static-pod.ts';
import type { PodSource, SendPods } from './pod-source.ts';

/** How often everything is listed, whatever the watch said (kubelet `fileCheckFrequency`). */
export const fileCheckPeriodMs = 20_000;
/** Between two watches; after failures more and more (kubelet `config.retryPeriod`, `maxRetryPeriod`). */
const rewatchDelays = { delayMsMin: 1_000, delayMsMax: 20_000 } as const;

export interface FileSourceOptions {
  readonly nodeName: string;
  readonly files: ManifestFiles;
  readonly text: ManifestText;
  readonly clock: Clock;
  readonly logger: Logger;
  /** {@link fileCheckPeriodMs} when absent. */
  readonly checkPeriodMs?: number;
}

/** What one file gave when it was last read all right. */
interface KnownFile {
  readonly digest: string;
  readonly pods: readonly Pod[];
}

/**
 * Static pods from a file, or from the files of a folder (kubelet `config.sourceFile`). It looks when a watch says that
 * something happened, and every 20 s all the same. A file that cannot be used is told of; a touched one keeps its pod
 * until the next listing, which goes by what there is then. Who has no path sends an empty list, and is ready too.
 */
export class FileSource implements PodSource {
  readonly name = 'file';
  readonly #options: FileSourceOptions;
  readonly #alarm: Alarm;
  readonly #rewatch = new Backoff(rewatchDelays);
  readonly #touched = new Set<string>();
  /** What was said of each file that cannot be used: once is enough. */
  readonly #complaints = new Map<string, string>();
  #known: ReadonlyMap<string, KnownFile> = new Map();
  #listAtMs = 0;

  constructor(options: FileSourceOptions) {
    this.#options = options;
    this.#alarm = new Alarm(options.clock);
  }

  /** Each run begins anew: what an earlier one knew of broken files is told again. */
  async run(send: SendPods, signal: AbortSignal): Promise<void> {
    this.#known = new Map();
    this.#complaints.clear();
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
      if (end.kind === 'failed') logger.error({ path, problem: end.problem }, 'static pod manifests cannot be watched');
      await clock.sleep(end.kind === 'failed' ? this.#rewatch.nextMs(path) : rewatchDelays.delayMsMin, signal);
    }
  }

  /** What happened before the watch was there shows only in a listing. */
  #onArmed(): void {
    this.#rewatch.forget(this.#options.files.path);
    this.#listAtMs = this.#options.clock.monotonicMs();
    this.#alarm.ring();
  }

  #onTouched(name: string): void {
    if (name.startsWith('.')) return;
    this.#touched.add(name);
    this.#alarm.ring();
  }

  async #list(send: SendPods, signal: AbortSignal): Promise<void> {
    const { files, logger } = this.#options;
    // What is touched from now on may have been read before, so it is read again.
    this.#touched.clear();
    const place = await files.look();
    switch (place.kind) {
      case 'missing':
        this.#complain('', 'the path does not exist');
        this.#known = new Map();
        break;
      case 'unusable':
        this.#complain('', place.problem);
        return;
      case 'file': {
        const known = await this.#read('');
        // A broken file is not a missing one: its pod stays.
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
    for (const name of this.#complaints.keys()) if (!names.includes(name)) this.#complaints.delete(name);
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

  /** `kept`: it cannot be used, which has been told. The very same as before where the text is the same. */
  async #read(name: string): Promise<KnownFile | 'gone' | 'kept'> {
    const { files, text } = this.#options;
    const read = await files.read(name);
    if (read.kind === 'gone') {
      this.#complaints.delete(name);
      return 'gone';
    }
    if (read.kind !== 'text') return this.#complain(name, read.problem);
    const digest = text.digest(read.text);
    const known = this.#known.get(name);
    if (known?.digest === digest) return known;
    const result = this.#derive(name, read.text);
    if ('flaws' in result) return this.#complain(name, result.flaws.join('; '));
    this.#complaints.delete(name);
    return { digest, pods: result.pods };
  }

  #derive(name: string, written: string): ManifestPods {
    const { nodeName, files, text } = this.#options;
    const parsed = text.parse(written);
    if ('problem' in parsed) return { flaws: [parsed.problem] };
    const place = name === '' ? files.path : `${files.path}/${name}`;
    return deriveFilePod(parsed.document, { nodeName, source: 'file', place, digest: text.digest });
  }

  #complain(name: string, problem: string): 'kept' {
    const { files, logger } = this.#options;
    const level = this.#complaints.get(name) === problem ? 'debug' : 'error';
    this.#complaints.set(name, problem);
    logger[level]({ path: files.path, file: name, problem }, 'a static pod manifest cannot be used');
    return 'kept';
  }

  async #send(send: SendPods, signal: AbortSignal): Promise<void> {
    await send(deriveCurrentPods(this.#known), signal);
  }
}
