// Reports the decisions of the demo as they happen. As text, similar decisions of the same moment are grouped: the first
// ones and the number of the others, so that 60 nodes and 300 pods stay readable.
import type { NotedDecision } from '../../../controller/decision-log/decision-log.ts';
import type { Decision } from '../../../controller/model/decisions.ts';
import { describeDecision } from '../../../controller/decision-log/describe-decision.ts';

export interface Reporter {
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
  /** The observed state if the expectation was not met. */
  readonly found: string;
}

type Print = (text: string) => void;

const hiddenKinds: ReadonlySet<Decision['kind']> = new Set(['node-registered', 'taint-queued']);
const similarShownMax = 2;

/** One line per entry, prefixed with the seconds since the start. */
export class TextReporter implements Reporter {
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
    if (!hiddenKinds.has(decision.kind)) this.#waiting.push(decision);
  }

  expectation({ what, met, found }: ExpectationOutcome): void {
    this.flush();
    this.#line(met ? 'ok' : 'FAILED', met ? what : `${what}; found: ${found}`);
  }

  end(outcomes: readonly ExpectationOutcome[]): void {
    this.flush();
    const failed = outcomes.filter(({ met }) => !met);
    this.#print(`\n${outcomes.length - failed.length} of ${outcomes.length} expectations were met.\n`);
    for (const { scene, what, found } of failed) this.#print(`  not met, in "${scene}": ${what}; found: ${found}\n`);
  }

  flush(): void {
    for (const group of Map.groupBy(this.#waiting.splice(0), similarityKey).values()) this.#printGroup(group);
  }

  #printGroup(group: readonly Decision[]): void {
    for (const decision of group.slice(0, similarShownMax)) this.#line(wordFor(decision), describeDecision(decision));
    const more = group.length - similarShownMax;
    const [first] = group;
    if (more > 0 && first !== undefined) this.#line(wordFor(first), `... and ${more} more of this kind`);
  }

  #line(word: string, text: string): void {
    const seconds = (this.#elapsedMs() / 1_000).toFixed(1).padStart(6);
    this.#print(`${seconds}s ${word.padEnd(8)} ${text}\n`);
  }
}

/** The subject of a decision, as the prefix of its line. */
function wordFor(decision: Decision): string {
  if ('pod' in decision) return 'pod';
  if ('node' in decision) return decision.kind.startsWith('taint') ? 'taint' : 'node';
  if ('zone' in decision) return 'zone';
  return decision.kind === 'write-failed' ? 'write' : 'cluster';
}

function similarityKey(decision: Decision): string {
  const why = 'why' in decision && typeof decision.why === 'string' ? decision.why : '';
  const zone = 'zone' in decision ? decision.zone : '';
  return `${decision.kind}|${zone}|${why}`;
}

/** One JSON object per line, with every decision, ungrouped. */
export class JsonReporter implements Reporter {
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
    // Lines are printed immediately.
  }

  #line(fields: object): void {
    this.#print(`${JSON.stringify({ elapsedMs: Math.round(this.#elapsedMs()), ...fields })}\n`);
  }
}
