import type { Clock } from '../../ports/clock.ts';
import type { ExpectationOutcome, Narrator } from './narrator.ts';
import type { Expectation, Scene, World } from './story.ts';

const lookEveryMs = 100;
/** Long enough for what belongs together to be told together. */
const tellEveryMs = 1_000;

export interface Stage {
  readonly world: World;
  readonly narrator: Narrator;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Plays the scenes in order and says of each expectation whether it was met. Ends early when the signal aborts. */
export async function play(scenes: readonly Scene[], stage: Stage): Promise<readonly ExpectationOutcome[]> {
  const outcomes: ExpectationOutcome[] = [];
  for (const scene of scenes) {
    if (stage.signal.aborted) break;
    stage.narrator.scene(scene.title, scene.text);
    const startedAtMs = stage.clock.monotonicMs();
    scene.act(stage.world);
    for (const expectation of scene.expectations) {
      const found = await judge(expectation, stage, startedAtMs);
      const outcome = { scene: scene.title, what: expectation.what, met: found === undefined, found: found ?? '' };
      outcomes.push(outcome);
      stage.narrator.expectation(outcome);
    }
  }
  return outcomes;
}

/** Undefined if the expectation was met, else what was there instead. */
async function judge(expectation: Expectation, stage: Stage, sceneStartedAtMs: number): Promise<string | undefined> {
  const { clock, signal, narrator, world } = stage;
  const turnMs = clock.monotonicMs();
  const untilMs = expectation.withinMs === undefined ? turnMs : sceneStartedAtMs + expectation.withinMs;
  const overMs = untilMs + (expectation.holdsForMs ?? 0);
  for (let toldAtMs = turnMs; !signal.aborted; await clock.sleep(lookEveryMs, signal)) {
    if (clock.monotonicMs() - toldAtMs >= tellEveryMs) {
      narrator.flush();
      toldAtMs = clock.monotonicMs();
    }
    const missing = await expectation.missing(world);
    if (isDecided(expectation, missing) || clock.monotonicMs() >= overMs) return missing;
  }
  return 'interrupted';
}

/** What must come true is decided when it is; what must stay true, when it is not. */
function isDecided({ withinMs }: Expectation, missing: string | undefined): boolean {
  return withinMs === undefined ? missing !== undefined : missing === undefined;
}
