import { ApiError } from '../../api/api-error.ts';
import type { Pod } from '../../api/pod.ts';
import type { Clock } from '../../ports/clock.ts';
import type { KubeReader } from '../../ports/kube-reader.ts';
import type { KubeWriter } from '../../ports/kube-writer.ts';
import type { Logger } from '../../ports/logger.ts';
import { Alarm } from '../../supervision/alarm.ts';
import { isTerminal, isTerminating } from '../decide-pod-work.ts';
import { sameJson } from '../diff-json.ts';
import type { PodStatus } from './derive-pod-status.ts';
import { agreesWithApi, derivePodStatusPatch } from './diff-pod-status.ts';
import { mergePodStatus } from './merge-pod-status.ts';

export interface StatusManagerOptions {
  readonly api: KubeReader & KubeWriter;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How often what the API server says is compared with what we said, so that others' edits do not last. */
  readonly passPeriodMs: number;
}

interface Entry {
  /** The pod as last seen from the API server. */
  pod: Pod;
  status: PodStatus;
  /** Grows with each change of the status; it is written while `writtenVersion` lags behind. */
  version: number;
  writtenVersion: number;
  /** Nothing of it runs and nothing will: its object may go when it is being deleted. */
  finished: boolean;
  /** The API server no longer has it: nothing is left to write. */
  gone: boolean;
}

/**
 * Tells the API server how the pods are, pod after pod, and finishes their deletion. It writes only what is newer than
 * what it wrote, and once in a while looks whether somebody else has overwritten it (kubelet `status.manager`).
 */
export class StatusManager {
  readonly #options: StatusManagerOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #alarm: Alarm;

  constructor(options: StatusManagerOptions) {
    this.#options = options;
    this.#alarm = new Alarm(options.clock);
  }

  /** Takes note of a pod's status, and of the pod as last seen. What says nothing new costs nothing. */
  set(pod: Pod, derived: PodStatus, finished: boolean): void {
    const entry = this.#entryOf(pod);
    const couldGo = canGo(entry);
    entry.pod = pod;
    entry.finished ||= finished;
    const status = mergePodStatus(entry.status, derived, this.#options.clock.nowMs());
    const changed = entry.version === 0 || !sameJson(status, entry.status);
    if (!changed && canGo(entry) === couldGo) return;
    entry.status = status;
    entry.version += 1;
    this.#alarm.ring();
  }

  /** What the API server says of a pod is what we said of it in an earlier life: times go on from there. */
  #entryOf(pod: Pod): Entry {
    const uid = pod.metadata.uid ?? '';
    const known = this.#entries.get(uid);
    if (known !== undefined) return known;
    const entry = { pod, status: pod.status ?? {}, version: 0, writtenVersion: 0, finished: false, gone: false };
    this.#entries.set(uid, entry);
    return entry;
  }

  /** What was last said of a pod; undefined for one nobody spoke of. */
  status(uid: string): PodStatus | undefined {
    return this.#entries.get(uid)?.status;
  }

  forget(uid: string): void {
    this.#entries.delete(uid);
  }

  /** Statuses that the API server has not confirmed yet. */
  get pending(): number {
    return [...this.#entries.values()].filter(needsWrite).length;
  }

  /** Writes what is new as it comes, and compares everything each period, until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, passPeriodMs } = this.#options;
    let passAtMs = clock.monotonicMs() + passPeriodMs;
    while (!signal.aborted) {
      await this.#alarm.wait(Math.max(0, passAtMs - clock.monotonicMs()), signal);
      const full = clock.monotonicMs() >= passAtMs;
      await this.writePending(full, signal);
      if (full) passAtMs = clock.monotonicMs() + passPeriodMs;
    }
  }

  /** One batch. A full one also repairs what others wrote over. Never rejects for what the API server answers. */
  async writePending(full: boolean, signal: AbortSignal): Promise<void> {
    for (const entry of this.#entries.values()) {
      if (signal.aborted) return;
      if (needsWrite(entry) || (full && needsRepair(entry))) await this.#write(entry, signal);
    }
  }

  async #write(entry: Entry, signal: AbortSignal): Promise<void> {
    try {
      await this.#sync(entry, signal);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // A conflict need not mean another uid: the next look at the stored pod tells.
      if (error.reason === 'not-found') entry.gone = true;
      else this.#options.logger.debug({ reason: error.reason, pod: entry.pod.metadata.name }, 'a pod was not told of');
    }
  }

  async #sync(entry: Entry, signal: AbortSignal): Promise<void> {
    const { api } = this.#options;
    const { version, status } = entry;
    const name = nameOf(entry.pod);
    const uid = entry.pod.metadata.uid ?? '';
    let stored: Pod = await api.get('pods', name, { signal });
    if (stored.metadata.uid !== uid) {
      entry.gone = true;
      return;
    }
    const changed = derivePodStatusPatch(stored.status, status);
    if (changed !== undefined) {
      const patch = { type: 'strategic-merge', body: { metadata: { uid }, status: changed } } as const;
      stored = await api.patch('pods', name, patch, { signal, subresource: 'status' });
    }
    entry.writtenVersion = version;
    if (!entry.finished || !isTerminating(stored) || !isTerminal(stored.status?.phase)) return;
    await api.delete('pods', name, { uid, gracePeriodSeconds: 0, signal });
    entry.gone = true;
  }
}

function needsWrite(entry: Entry): boolean {
  if (entry.gone) return false;
  return entry.writtenVersion < entry.version || canGo(entry);
}

/** Its deletion was asked for and its end has come. */
function canGo(entry: Entry): boolean {
  return entry.finished && isTerminating(entry.pod);
}

function needsRepair(entry: Entry): boolean {
  return !entry.gone && !agreesWithApi(entry.pod.status, entry.status);
}

function nameOf(pod: Pod): { readonly namespace: string; readonly name: string } {
  return { namespace: pod.metadata.namespace ?? '', name: pod.metadata.name ?? '' };
}
