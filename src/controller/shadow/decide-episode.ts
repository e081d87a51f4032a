// Two who decide the same thing, each at its own time: what their acts say of each other. The two are treated alike; only
// the words are seen from us.
import type { Ending, Episode, Outcome, Party, Verdict } from './episode.ts';

/** An act on a matter: from now on it is so, or is not. */
export interface ActOnMatter {
  readonly party: Party;
  readonly value: boolean;
  readonly atMs: number;
}

export interface EpisodeStep {
  /** Undefined: both have done the same. */
  readonly episode: Episode | undefined;
  /** Given once an episode, at most. */
  readonly verdict: Verdict | undefined;
}

/**
 * What an act makes of a matter. `standing` is what the matter is for both while there is no episode: to do what is done
 * already is no act, and neither is to do again what one has done.
 */
export function decideAct(
  episode: Episode | undefined,
  { party, value, atMs }: ActOnMatter,
  { standing, toleranceMs }: { readonly standing: boolean; readonly toleranceMs: number },
): EpisodeStep {
  if (episode === undefined) {
    const opened = value === standing ? undefined : { by: party, value, sinceMs: atMs, told: false };
    return { episode: opened, verdict: undefined };
  }
  const isFirst = party === episode.by;
  if ((value === episode.value) === isFirst) return { episode, verdict: undefined };
  if (isFirst) return end(episode, only(episode.by), { ending: 'taken-back' });
  return end(episode, followed(episode, atMs, toleranceMs), { ending: 'followed', secondAtMs: atMs });
}

/** Nobody can act on it any more: the node speaks for itself again, or nothing calls for the act. */
export function decideEnd(episode: Episode): EpisodeStep {
  return end(episode, only(episode.by), { ending: 'cause-gone' });
}

/**
 * After so long nobody waits for the other any more. What we alone did stays done for us, so that it is not wanted anew;
 * what they alone did is what the world is like from now on.
 */
export function decideTimeOut(episode: Episode, nowMs: number, waitMsMax: number): EpisodeStep | undefined {
  if (episode.told || nowMs - episode.sinceMs < waitMsMax) return undefined;
  const step = end(episode, only(episode.by), { ending: 'time-out' });
  return episode.by === 'us' ? { ...step, episode: { ...episode, told: true } } : step;
}

/** What the matter is for us; undefined: what it is for everybody. */
export function decideOurs(episode: Episode | undefined): boolean | undefined {
  if (episode === undefined) return undefined;
  return episode.by === 'us' ? episode.value : !episode.value;
}

function end(
  { by, told, sinceMs }: Episode,
  outcome: Outcome,
  { ending, secondAtMs }: { readonly ending: Ending; readonly secondAtMs?: number },
): EpisodeStep {
  const verdict = { outcome, ending, first: by, firstAtMs: sinceMs, secondAtMs };
  return { episode: undefined, verdict: told ? undefined : verdict };
}

function only(party: Party): Outcome {
  return party === 'us' ? 'only_us' : 'only_them';
}

function followed({ by, sinceMs }: Episode, atMs: number, toleranceMs: number): Outcome {
  if (atMs - sinceMs <= toleranceMs) return 'agree';
  return by === 'us' ? 'earlier' : 'later';
}
