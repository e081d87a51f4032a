import type { Clock } from '../../../machinery/ports/clock.ts';
import type { ExpectationOutcome, Reporter } from './reporter.ts';
import type { Expectation, Scene, World } from './scenario.ts';

const pollEveryMs = 100;
/** Interval at which decisions are grouped and printed. */
const flushEveryMs = 1_000;

interface Stage {
  readonly world: World;
  readonly reporter: Reporter;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Runs the scenes in order and reports for each expectation whether it was met. When the signal aborts it ends early, and says
 * nothing about the expectations that were not decided until then.
 */
export async function runScenario(scenes: readonly Scene[], stage: Stage): Promise<readonly ExpectationOutcome[]> {
  const outcomes: ExpectationOutcome[] = [];
  for (const scene of scenes) {
    if (stage.signal.aborted) break;
    stage.reporter.scene(scene.title, scene.text);
    const startedAtMs = stage.clock.monotonicMs();
    scene.act(stage.world);
    for (const expectation of scene.expectations) {
      const found = await evaluate(expectation, stage, startedAtMs);
      if (stage.signal.aborted) return outcomes;
      const outcome = { scene: scene.title, what: expectation.what, met: found === undefined, found: found ?? '' };
      outcomes.push(outcome);
      stage.reporter.expectation(outcome);
    }
  }
  return outcomes;
}

/** Undefined if the expectation was met or the signal aborted, otherwise the observed state. */
async function evaluate(expectation: Expectation, stage: Stage, sceneStartedAtMs: number): Promise<string | undefined> {
  const { clock, signal, reporter, world } = stage;
  const checkStartMs = clock.monotonicMs();
  const untilMs = expectation.withinMs === undefined ? checkStartMs : sceneStartedAtMs + expectation.withinMs;
  const overMs = untilMs + (expectation.holdsForMs ?? 0);
  for (let flushedAtMs = checkStartMs; !signal.aborted; await clock.sleep(pollEveryMs, signal)) {
    if (clock.monotonicMs() - flushedAtMs >= flushEveryMs) {
      reporter.flush();
      flushedAtMs = clock.monotonicMs();
    }
    const missing = await expectation.missing(world);
    if (isDecided(expectation, missing) || clock.monotonicMs() >= overMs) return missing;
  }
  return undefined;
}

/** An expectation with a deadline is decided when it is met; one that must hold for a time, when it is not met. */
function isDecided({ withinMs }: Expectation, missing: string | undefined): boolean {
  return withinMs === undefined ? missing !== undefined : missing === undefined;
}
