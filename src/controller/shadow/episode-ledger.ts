import type { Clock } from '../../machinery/ports/clock.ts';
import {
  type ActOnMatter,
  decideAct,
  decideEnd,
  decideShadowValue,
  decideTimeOut,
  type EpisodeStep,
} from './decide-episode.ts';
import { type Act, actOf, type Episode, type Matter, type EpisodeSubject, type EpisodeResult } from './episode.ts';

/** An episode whose outcome is known. */
export interface ClosedEpisode extends EpisodeResult {
  readonly subject: EpisodeSubject;
  readonly act: Act;
}

/** An episode whose outcome is not known yet. */
interface OpenEpisode extends Pick<Episode, 'by' | 'sinceMs'> {
  readonly subject: EpisodeSubject;
  readonly act: Act;
}

interface EpisodeLedgerOptions {
  readonly clock: Clock;
  /** Read at each action: it depends on a setting that may change. */
  readonly toleranceMs: () => number;
  readonly waitMsMax: number;
  readonly onClosed: (closed: ClosedEpisode) => void;
  /** An object was deleted before the outcome was known. */
  readonly onUndecided: () => void;
}

interface Page {
  readonly subject: EpisodeSubject;
  readonly episodes: Map<Matter, Episode>;
}

/** All open episodes, by the uid of their object. Matters on which both sides agree need no memory. */
export class EpisodeLedger {
  readonly #options: EpisodeLedgerOptions;
  readonly #pages = new Map<string, Page>();

  constructor(options: EpisodeLedgerOptions) {
    this.#options = options;
  }

  /** Number of episodes whose outcome is open. */
  get openCount(): number {
    let count = 0;
    for (const { episodes } of this.#pages.values())
      for (const { counted } of episodes.values()) if (!counted) count += 1;
    return count;
  }

  /** The first of them, in order of insertion. */
  open(countMax: number): readonly OpenEpisode[] {
    const found: OpenEpisode[] = [];
    for (const { subject, episodes } of this.#pages.values()) {
      for (const [matter, { by, value, sinceMs, counted }] of episodes) {
        if (found.length >= countMax) return found;
        if (!counted) found.push({ subject, act: actOf(matter, value), by, sinceMs });
      }
    }
    return found;
  }

  get(uid: string, matter: Matter): Episode | undefined {
    return this.#pages.get(uid)?.episodes.get(matter);
  }

  /** The value for the shadow; `standing` if there is no episode. */
  shadowValue(uid: string, matter: Matter, standing: boolean): boolean {
    return decideShadowValue(this.get(uid, matter)) ?? standing;
  }

  matters(uid: string): Iterable<Matter> {
    return [...(this.#pages.get(uid)?.episodes.keys() ?? [])];
  }

  /** `standing`: the value for both sides if there is no episode. */
  act(subject: EpisodeSubject, matter: Matter, act: Omit<ActOnMatter, 'atMs'> & { readonly standing: boolean }): void {
    const { clock, toleranceMs } = this.#options;
    const before = this.get(subject.uid, matter);
    const limits = { standing: act.standing, toleranceMs: toleranceMs() };
    this.#apply(subject, matter, before, decideAct(before, { ...act, atMs: clock.monotonicMs() }, limits));
  }

  /** The matter was settled by neither side. */
  settle(uid: string, matter: Matter): void {
    const page = this.#pages.get(uid);
    const episode = page?.episodes.get(matter);
    if (page !== undefined && episode !== undefined) this.#apply(page.subject, matter, episode, decideEnd(episode));
  }

  /** Caused by another component, so that no outcome can be assigned. */
  discard(uid: string, matter: Matter): void {
    const page = this.#pages.get(uid);
    const episode = page?.episodes.get(matter);
    if (page === undefined || episode === undefined) return;
    this.#put(page.subject, matter, undefined);
    if (!episode.counted) this.#options.onUndecided();
  }

  /** The object was deleted. */
  forget(uid: string): void {
    for (const matter of this.matters(uid)) this.discard(uid, matter);
  }

  /** Ends episodes after the maximum wait. Returns their objects. */
  endWaiting(): readonly EpisodeSubject[] {
    const nowMs = this.#options.clock.monotonicMs();
    const ended: EpisodeSubject[] = [];
    for (const { subject, episodes } of this.#pages.values()) {
      for (const [matter, episode] of episodes) {
        const step = decideTimeOut(episode, nowMs, this.#options.waitMsMax);
        if (step === undefined) continue;
        this.#apply(subject, matter, episode, step);
        ended.push(subject);
      }
    }
    return ended;
  }

  #apply(subject: EpisodeSubject, matter: Matter, before: Episode | undefined, { episode, result }: EpisodeStep): void {
    this.#put(subject, matter, episode);
    if (result === undefined || before === undefined) return;
    this.#options.onClosed({ subject, act: actOf(matter, before.value), ...result });
  }

  #put(subject: EpisodeSubject, matter: Matter, episode: Episode | undefined): void {
    const page = this.#pages.get(subject.uid) ?? { subject, episodes: new Map<Matter, Episode>() };
    if (episode === undefined) page.episodes.delete(matter);
    else page.episodes.set(matter, episode);
    if (page.episodes.size === 0) this.#pages.delete(subject.uid);
    else this.#pages.set(subject.uid, page);
  }
}
