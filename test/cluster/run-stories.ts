import type { Actor, Stage } from './stage.ts';
import type { Story, Times } from './stories/story.ts';

interface Plan {
  readonly stories: readonly Story[];
  readonly rounds: number;
  readonly beside: boolean;
}

/** One run of a story. */
export interface StoryRun {
  readonly story: string;
  readonly actor: Actor;
  readonly times: Times;
  /** Why it did not hold; undefined: it did. */
  readonly failure: string | undefined;
}

/** Runs stories one after the other, each from a healthy cluster. Those of kube-controller-manager alternate with those of this controller. */
export async function runStories(stage: Stage, plan: Plan, say: (text: string) => void): Promise<readonly StoryRun[]> {
  await stage.use('node-lifecycle-controller');
  await stage.addWorkload();
  const runs: StoryRun[] = [];
  for (const [story, actor] of order(plan)) {
    const run = await runStory(stage, story, actor);
    runs.push(run);
    const times = Object.entries(run.times).map(([what, value]) => `${what} ${value}${what.endsWith(']') ? '' : ' s'}`);
    say(`${story.name} (${actor}): ${run.failure ?? 'held'}; ${times.join(', ')}`);
  }
  return runs;
}

function order({ stories, rounds, beside }: Plan): readonly (readonly [Story, Actor])[] {
  const own = stories.map((story) => [story, 'node-lifecycle-controller'] as const);
  const inTree = stories
    .filter(({ isComparable }) => isComparable)
    .map((story) => [story, 'kube-controller-manager'] as const);
  return Array.from({ length: rounds }, () => (beside ? [...own, ...inTree] : own)).flat();
}

async function runStory(stage: Stage, story: Story, actor: Actor): Promise<StoryRun> {
  try {
    await stage.use(actor);
    await stage.reset();
    const times = await story.run(stage);
    const late =
      actor === 'kube-controller-manager'
        ? []
        : Object.entries(story.limits).filter(([what, most]) => (times[what] ?? 0) > most);
    const failure = late.map(([what, most]) => `${what} after ${times[what]} s, at most ${most}`).join('; ');
    return { story: story.name, actor, times, failure: failure === '' ? undefined : failure };
  } catch (error) {
    await stage.restore();
    return { story: story.name, actor, times: {}, failure: error instanceof Error ? error.message : String(error) };
  }
}
