import type { Actor, Stage } from './stage.ts';
import type { Story, Times } from './stories/story.ts';

/** A story, and with which controllers it is to run. */
export interface StoryTurn {
  readonly story: Story;
  readonly actor: Actor;
}

/** One run of a story. */
export interface StoryRun {
  readonly story: string;
  readonly actor: Actor;
  readonly times: Times;
  /** Why it did not hold; undefined: it did. */
  readonly failure: string | undefined;
}

/** Every round of the stories. Those of kube-controller-manager alternate with those of this controller. */
export function orderStories(plan: {
  readonly stories: readonly Story[];
  readonly rounds: number;
  readonly beside: boolean;
}): StoryTurn[] {
  const own = plan.stories.map((story): StoryTurn => ({ story, actor: 'node-lifecycle-controller' }));
  const inTree = plan.stories
    .filter(({ isComparable }) => isComparable)
    .map((story): StoryTurn => ({ story, actor: 'kube-controller-manager' }));
  return Array.from({ length: plan.rounds }, () => (plan.beside ? [...own, ...inTree] : own)).flat();
}

/** Takes stories from a queue, and runs them one after the other, each from a healthy cluster, until the queue is empty. */
export async function runStories(
  stage: Stage,
  queue: StoryTurn[],
  say: (text: string) => void,
): Promise<readonly StoryRun[]> {
  await stage.use('node-lifecycle-controller');
  await stage.addWorkload();
  const runs: StoryRun[] = [];
  for (let turn = queue.shift(); turn !== undefined; turn = queue.shift()) {
    const run = await runStory(stage, turn);
    runs.push(run);
    const times = Object.entries(run.times).map(([what, value]) => `${what} ${value}${what.endsWith(']') ? '' : ' s'}`);
    say(`${run.story} (${run.actor}): ${run.failure ?? 'held'}; ${times.join(', ')}`);
  }
  return runs;
}

async function runStory(stage: Stage, { story, actor }: StoryTurn): Promise<StoryRun> {
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
