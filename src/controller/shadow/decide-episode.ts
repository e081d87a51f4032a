// Compares two sides that decide the same matters, each at its own time. Both are handled alike; only the outcome names
// are from the point of view of the shadow.
import type { Ending, Episode, Agreement, Party, EpisodeResult } from './episode.ts';

/** An action on a matter: sets its value. */
export interface ActOnMatter {
  readonly party: Party;
  readonly value: boolean;
  readonly atMs: number;
}

export interface EpisodeStep {
  /** Undefined: both sides agree. */
  readonly episode: Episode | undefined;
  /** Result of the episode, at most once. */
  readonly result: EpisodeResult | undefined;
}

/**
 * Applies an action to a matter. `standing` is the value for both sides while there is no episode: an action that sets
 * the current value, or repeats an earlier action, has no effect.
 */
export function decideAct(
  episode: Episode | undefined,
  { party, value, atMs }: ActOnMatter,
  { standing, toleranceMs }: { readonly standing: boolean; readonly toleranceMs: number },
): EpisodeStep {
  if (episode === undefined) {
    const opened = value === standing ? undefined : { by: party, value, sinceMs: atMs, counted: false };
    return { episode: opened, result: undefined };
  }
  const isFirst = party === episode.by;
  if ((value === episode.value) === isFirst) return { episode, result: undefined };
  if (isFirst) return end(episode, only(episode.by), { ending: 'taken-back' });
  return end(episode, followed(episode, atMs, toleranceMs), { ending: 'followed', secondAtMs: atMs });
}

/** End of an episode on which neither side can act any more: the kubelet posted a status, or the cause ended. */
export function decideEnd(episode: Episode): EpisodeStep {
  return end(episode, only(episode.by), { ending: 'cause-gone' });
}

/**
 * Ends an episode after the maximum wait. An action of the shadow alone stays applied for the shadow, so that it is not
 * repeated; an action of the cluster alone becomes the value for both.
 */
export function decideTimeOut(episode: Episode, nowMs: number, waitMsMax: number): EpisodeStep | undefined {
  if (episode.counted || nowMs - episode.sinceMs < waitMsMax) return undefined;
  const step = end(episode, only(episode.by), { ending: 'time-out' });
  return episode.by === 'shadow' ? { ...step, episode: { ...episode, counted: true } } : step;
}

/** The value for the shadow; undefined: the same as in the cluster. */
export function decideShadowValue(episode: Episode | undefined): boolean | undefined {
  if (episode === undefined) return undefined;
  return episode.by === 'shadow' ? episode.value : !episode.value;
}

function end(
  { by, counted, sinceMs }: Episode,
  outcome: Agreement,
  { ending, secondAtMs }: { readonly ending: Ending; readonly secondAtMs?: number },
): EpisodeStep {
  const result = { outcome, ending, first: by, firstAtMs: sinceMs, secondAtMs };
  return { episode: undefined, result: counted ? undefined : result };
}

function only(party: Party): Agreement {
  return party === 'shadow' ? 'only_shadow' : 'only_cluster';
}

function followed({ by, sinceMs }: Episode, atMs: number, toleranceMs: number): Agreement {
  if (atMs - sinceMs <= toleranceMs) return 'agree';
  return by === 'shadow' ? 'earlier' : 'later';
}
