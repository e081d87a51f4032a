// Tells what happens while it happens. Decisions come in crowds; what is alike and at the same moment is told once, with
// the number of the others, so that a reader can follow sixty nodes and three hundred pods.
import type { NotedDecision } from '../../controller/decision-log.ts';
import type { Decision } from '../../controller/decisions.ts';
import { describeDecision } from '../../controller/describe-decision.ts';

export interface Narrator {
  scene(title: string, text: string): void;
  say(text: string): void;
  decision(noted: NotedDecision): void;
  expectation(outcome: ExpectationOutcome): void;
  end(outcomes: readonly ExpectationOutcome[]): void;
  flush(): void;
}

export interface ExpectationOutcome {
  readonly scene: string;
  readonly what: string;
  readonly met: boolean;
  /** What was there instead. */
  readonly found: string;
}

type Print = (text: string) => void;

const untold: ReadonlySet<Decision['kind']> = new Set(['node-registered', 'taint-queued']);
const alikeToldMax = 2;

/** One readable line each, with the seconds since the start in front. */
export class TextNarrator implements Narrator {
  readonly #print: Print;
  readonly #elapsedMs: () => number;
  readonly #waiting: Decision[] = [];

  constructor(print: Print, elapsedMs: () => number) {
    this.#print = print;
    this.#elapsedMs = elapsedMs;
  }

  scene(title: string, text: string): void {
    this.flush();
    this.#print(`\n== ${title}\n`);
    this.say(text);
  }

  say(text: string): void {
    this.#line(' ', text);
  }

  decision({ decision }: NotedDecision): void {
    if (!untold.has(decision.kind)) this.#waiting.push(decision);
  }

  expectation({ what, met, found }: ExpectationOutcome): void {
    this.flush();
    this.#line(met ? 'ok' : 'FAILED', met ? what : `${what}; found: ${found}`);
  }

  end(outcomes: readonly ExpectationOutcome[]): void {
    this.flush();
    const failed = outcomes.filter(({ met }) => !met);
    this.#print(`\n${outcomes.length - failed.length} of ${outcomes.length} expectations of the story were met.\n`);
    for (const { scene, what, found } of failed) this.#print(`  not met, in "${scene}": ${what}; found: ${found}\n`);
  }

  flush(): void {
    for (const group of groupAlike(this.#waiting.splice(0))) this.#tell(group);
  }

  #tell(group: readonly Decision[]): void {
    for (const decision of group.slice(0, alikeToldMax)) this.#line(wordFor(decision), describeDecision(decision));
    const more = group.length - alikeToldMax;
    const [first] = group;
    if (more > 0 && first !== undefined) this.#line(wordFor(first), `... and ${more} more like these`);
  }

  #line(word: string, text: string): void {
    const seconds = (this.#elapsedMs() / 1_000).toFixed(1).padStart(6);
    this.#print(`${seconds}s ${word.padEnd(8)} ${text}\n`);
  }
}

/** What a decision is about, as the word in front of its line. */
function wordFor(decision: Decision): string {
  if ('pod' in decision) return 'pod';
  if ('node' in decision) return decision.kind.startsWith('taint') ? 'taint' : 'node';
  if ('zone' in decision) return 'zone';
  return decision.kind === 'write-failed' ? 'write' : 'cluster';
}

function groupAlike(decisions: readonly Decision[]): readonly (readonly Decision[])[] {
  const groups = new Map<string, Decision[]>();
  for (const decision of decisions) {
    const group = groups.get(likeness(decision)) ?? [];
    group.push(decision);
    groups.set(likeness(decision), group);
  }
  return [...groups.values()];
}

function likeness(decision: Decision): string {
  const why = 'why' in decision && typeof decision.why === 'string' ? decision.why : '';
  const zone = 'zone' in decision ? decision.zone : '';
  return `${decision.kind}|${zone}|${why}`;
}

/** One JSON object a line; every decision, none folded. */
export class JsonNarrator implements Narrator {
  readonly #print: Print;
  readonly #elapsedMs: () => number;

  constructor(print: Print, elapsedMs: () => number) {
    this.#print = print;
    this.#elapsedMs = elapsedMs;
  }

  scene(title: string, text: string): void {
    this.#line({ type: 'scene', title, text });
  }

  say(text: string): void {
    this.#line({ type: 'note', text });
  }

  decision({ atMs, decision }: NotedDecision): void {
    const at = new Date(atMs).toISOString();
    this.#line({ type: 'decision', at, text: describeDecision(decision), decision });
  }

  expectation(outcome: ExpectationOutcome): void {
    this.#line({ type: 'expectation', ...outcome });
  }

  end(outcomes: readonly ExpectationOutcome[]): void {
    const failed = outcomes.filter(({ met }) => !met);
    this.#line({ type: 'end', expectations: outcomes.length, failed });
  }

  flush(): void {
    // Nothing waits: each line is printed as it comes.
  }

  #line(fields: object): void {
    this.#print(`${JSON.stringify({ elapsedMs: Math.round(this.#elapsedMs()), ...fields })}\n`);
  }
}
