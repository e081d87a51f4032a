import type { Clock } from '../../ports/clock.ts';
import {
  type ActOnMatter,
  decideAct,
  decideEnd,
  decideOurs,
  decideTimeOut,
  type EpisodeStep,
} from './decide-episode.ts';
import { type Act, actOf, type Episode, type Matter, type Party, type Subject, type Verdict } from './episode.ts';

/** An episode whose outcome is known. */
export interface ClosedEpisode extends Verdict {
  readonly subject: Subject;
  readonly act: Act;
}

/** One whose outcome is not known yet. */
export interface OpenEpisode {
  readonly subject: Subject;
  readonly act: Act;
  readonly by: Party;
  readonly sinceMs: number;
}

export interface EpisodeLedgerOptions {
  readonly clock: Clock;
  /** Asked at each act: it follows from a setting that may change while we run. */
  readonly toleranceMs: () => number;
  readonly waitMsMax: number;
  readonly onClosed: (closed: ClosedEpisode) => void;
  /** An object went while nobody can say what the other would have done. */
  readonly onUndecided: () => void;
}

interface Page {
  readonly subject: Subject;
  readonly episodes: Map<Matter, Episode>;
}

/** All episodes that are not over, by the uid of their object. What both have done the same needs no memory. */
export class EpisodeLedger {
  readonly #options: EpisodeLedgerOptions;
  readonly #pages = new Map<string, Page>();

  constructor(options: EpisodeLedgerOptions) {
    this.#options = options;
  }

  /** Of those whose outcome is open. */
  get openCount(): number {
    let count = 0;
    for (const { episodes } of this.#pages.values()) for (const { told } of episodes.values()) if (!told) count += 1;
    return count;
  }

  /** The first of them, as they were met. */
  open(countMax: number): readonly OpenEpisode[] {
    const found: OpenEpisode[] = [];
    for (const { subject, episodes } of this.#pages.values()) {
      for (const [matter, { by, value, sinceMs, told }] of episodes) {
        if (found.length >= countMax) return found;
        if (!told) found.push({ subject, act: actOf(matter, value), by, sinceMs });
      }
    }
    return found;
  }

  get(uid: string, matter: Matter): Episode | undefined {
    return this.#pages.get(uid)?.episodes.get(matter);
  }

  /** What this is for us; `standing` while both are one. */
  ours(uid: string, matter: Matter, standing: boolean): boolean {
    return decideOurs(this.get(uid, matter)) ?? standing;
  }

  matters(uid: string): Iterable<Matter> {
    return [...(this.#pages.get(uid)?.episodes.keys() ?? [])];
  }

  /** `standing`: what it is for both, if there is no episode. */
  act(subject: Subject, matter: Matter, act: Omit<ActOnMatter, 'atMs'> & { readonly standing: boolean }): void {
    const { clock, toleranceMs } = this.#options;
    const before = this.get(subject.uid, matter);
    const limits = { standing: act.standing, toleranceMs: toleranceMs() };
    this.#apply(subject, matter, before, decideAct(before, { ...act, atMs: clock.monotonicMs() }, limits));
  }

  /** The matter is settled without either of them. */
  settle(uid: string, matter: Matter): void {
    const page = this.#pages.get(uid);
    const episode = page?.episodes.get(matter);
    if (page !== undefined && episode !== undefined) this.#apply(page.subject, matter, episode, decideEnd(episode));
  }

  /** Somebody else's doing, of which neither of them can be judged. */
  discard(uid: string, matter: Matter): void {
    const page = this.#pages.get(uid);
    const episode = page?.episodes.get(matter);
    if (page === undefined || episode === undefined) return;
    this.#put(page.subject, matter, undefined);
    if (!episode.told) this.#options.onUndecided();
  }

  /** The object is gone. */
  forget(uid: string): void {
    for (const matter of this.matters(uid)) this.discard(uid, matter);
  }

  /** Ends the waiting of those that waited for too long. Returns whom that concerns. */
  endWaiting(): readonly Subject[] {
    const nowMs = this.#options.clock.monotonicMs();
    const ended: Subject[] = [];
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

  #apply(subject: Subject, matter: Matter, before: Episode | undefined, { episode, verdict }: EpisodeStep): void {
    this.#put(subject, matter, episode);
    if (verdict === undefined || before === undefined) return;
    this.#options.onClosed({ subject, act: actOf(matter, before.value), ...verdict });
  }

  #put(subject: Subject, matter: Matter, episode: Episode | undefined): void {
    const page = this.#pages.get(subject.uid) ?? { subject, episodes: new Map<Matter, Episode>() };
    if (episode === undefined) page.episodes.delete(matter);
    else page.episodes.set(matter, episode);
    if (page.episodes.size === 0) this.#pages.delete(subject.uid);
    else this.#pages.set(subject.uid, page);
  }
}
