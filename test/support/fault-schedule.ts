import type { Random } from '../../src/machinery/ports/random.ts';
import type { Break, Ending, ErrorAnswer, Fate, Plan, ProxiedRequest } from './fault-proxy.ts';
import { SeededRandom } from './fakes.ts';

/** A fault of all connections at once. */
export interface Storm {
  readonly atMs: number;
  readonly how: Fate;
}

const endings: readonly Ending[] = ['clean', 'close', 'half-close', 'reset', 'freeze'];
const fates: readonly Fate[] = ['close', 'half-close', 'reset', 'freeze', 'goodbye'];
const codes = [410, 429, 500, 503] as const;
/** The last one is the result of a wrong clock. */
const retryAfterSeconds = [0, 1, 2, 3, 2, 1, 36_000] as const;
const lateMsMax = 60;
const slowMsMax = 6;
const linesMax = 12;
const stormsMax = 3;

/**
 * Faults and their times as a function of a seed. The plan of a request depends on its resource, its verb and the number of
 * equal requests before it, and on nothing that happens meanwhile: the same seed gives the same schedule, as far as
 * sockets allow.
 */
export class FaultSchedule {
  readonly #seed: number;
  /** Share of requests with faults. */
  readonly #share: number;
  readonly #streamsLists: boolean;
  readonly #pageObjects: number | undefined;
  readonly storms: readonly Storm[];

  /** `lastsMs`: connection faults occur within this time. */
  constructor(seed: number, lastsMs: number) {
    const random = new SeededRandom(mix(seed, 'schedule'));
    this.#seed = seed;
    this.#share = 0.3 + 0.6 * random.next();
    this.#streamsLists = random.next() < 0.7;
    this.#pageObjects = random.next() < 0.7 ? 1 + whole(random, 4) : undefined;
    this.storms = Array.from({ length: whole(random, stormsMax + 1) }, () => ({
      atMs: random.next() * lastsMs,
      how: pick(random, fates),
    }));
  }

  /** The plan of the proxy. */
  planFor(request: ProxiedRequest): Plan {
    const random = new SeededRandom(mix(this.#seed, `${request.verb} ${request.resource} ${request.ordinal}`));
    const pages = this.#pageObjects === undefined ? {} : { pageObjects: this.#pageObjects };
    if (request.initial && !this.#streamsLists) return { instead: { code: 422 } };
    if (random.next() >= this.#share) return pages;
    return {
      ...pages,
      ...stateEnd(random),
      ...onTheWay(random),
      ...(random.next() < 0.35 ? { instead: noAnswer(random) } : trouble(random)),
    };
  }
}

function stateEnd(random: Random): Plan {
  return random.next() < 0.5 ? { changesBeforeStateEnds: 1 + whole(random, 8) } : {};
}

function onTheWay(random: Random): Plan {
  return {
    ...(random.next() < 0.3 ? { lateMs: random.next() * lateMsMax } : {}),
    ...(random.next() < 0.2 ? { lastOnConnection: true } : {}),
  };
}

function noAnswer(random: Random): ErrorAnswer | Ending {
  if (random.next() < 0.3) return pick(random, ['close', 'half-close', 'reset', 'freeze'] as const);
  return {
    code: pick(random, codes),
    plain: random.next() < 0.3,
    ...(random.next() < 0.4 ? { retryAfterSeconds: pick(random, retryAfterSeconds) } : {}),
  };
}

/** Faults of a response that starts successfully; any combination. */
function trouble(random: Random): Plan {
  return {
    ...(random.next() < 0.3 ? { slowMs: random.next() * slowMsMax } : {}),
    ...(random.next() < 0.5
      ? { repeats: { every: 1 + whole(random, 5), lines: 1 + whole(random, 6), behind: whole(random, 4) } }
      : {}),
    ...(random.next() < 0.3 ? { chunkBytes: 30 + whole(random, 300) } : {}),
    ...(random.next() < 0.2
      ? { errorEvent: { afterLines: whole(random, linesMax), code: pick(random, [410, 429, 500]) } }
      : {}),
    ...(random.next() < 0.7 ? { breaks: aBreak(random) } : {}),
  };
}

function aBreak(random: Random): Break {
  if (random.next() < 0.2) return { afterLines: 0, midLine: false, how: pick(random, endings) };
  return { afterLines: whole(random, linesMax), midLine: random.next() < 0.4, how: pick(random, endings) };
}

/** A whole number from 0 to `below` - 1. */
export function whole(random: Random, below: number): number {
  return Math.floor(random.next() * below);
}

/** One of them, with equal probability. */
export function pick<T>(random: Random, choices: readonly T[]): T {
  const choice = choices[whole(random, choices.length)];
  if (choice === undefined) throw new RangeError('the list of choices is empty');
  return choice;
}

/** A separate seed for each purpose (FNV-1a). */
export function mix(seed: number, purpose: string): number {
  let hash = 0x811c9dc5 ^ seed;
  for (const letter of `${seed} ${purpose}`) hash = Math.imul(hash ^ letter.charCodeAt(0), 0x01000193);
  return hash >>> 0;
}
