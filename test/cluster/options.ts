// The command line of `npm run test:cluster`.
import { parseArgs } from 'node:util';
import { stories } from './stories/stories.ts';
import type { Story } from './stories/story.ts';

export interface ClusterOptions {
  readonly stories: readonly Story[];
  /** Leave the cluster for a person. */
  readonly keep: boolean;
  /** Of the clusters that take the stories from one queue. */
  readonly prefixes: readonly string[];
  /** How often each story runs. */
  readonly rounds: number;
  /** Also with the controllers of kube-controller-manager, alternating. */
  readonly beside: boolean;
  /** A machine that cannot do it is no failure. */
  readonly optional: boolean;
  /** Builds what a later run needs, and ends. */
  readonly onlyBuild: boolean;
}

export const usage = `npm run test:cluster [-- OPTIONS]
  --story NAME    only this story; may be repeated: ${stories.map(({ name }) => name).join(', ')}
  --rounds N      how often each story runs (1)
  --beside        each story also with the controllers of kube-controller-manager, alternating
  --keep          leave the cluster for a person, and say how to use it
  --optional      skips all, and says why, where the machine cannot
  --only-build    builds the image and the programs, so that a later run finds them, and ends
  --clusters N    how many clusters share the stories (2; 1 with --beside or --keep, and for one story)
  --prefix NAME   of the names of the clusters, so that two commands run side by side (nlc)`;

/** Throws an error that names the option, its value and what is accepted. */
export function parseClusterOptions(args: readonly string[]): ClusterOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      story: { type: 'string', multiple: true, default: [] },
      rounds: { type: 'string', default: '1' },
      beside: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
      optional: { type: 'boolean', default: false },
      'only-build': { type: 'boolean', default: false },
      clusters: { type: 'string' },
      prefix: { type: 'string', default: 'nlc' },
    },
  });
  const { story, rounds, beside, keep, optional, prefix } = values;
  const chosen = story.map((name) => {
    const found = stories.find((each) => each.name === name);
    if (found !== undefined) return found;
    throw new Error(
      `--story: must be one of ${stories.map((each) => each.name).join(', ')} (got ${JSON.stringify(name)})`,
    );
  });
  if (!/^[1-9]\d?$/u.test(rounds))
    throw new Error(`--rounds: must be an integer from 1 to 99 (got ${JSON.stringify(rounds)})`);
  // Names of network namespaces are made of it.
  if (!/^[a-z][a-z0-9]{0,5}$/u.test(prefix))
    throw new Error(`--prefix: must be a letter and at most five letters or digits (got ${JSON.stringify(prefix)})`);
  const clusters = values.clusters ?? (beside || keep || chosen.length === 1 ? '1' : '2');
  if (!/^[1-4]$/u.test(clusters))
    throw new Error(`--clusters: must be an integer from 1 to 4 (got ${JSON.stringify(clusters)})`);
  return {
    stories: chosen.length === 0 ? stories : chosen,
    keep,
    prefixes: Array.from({ length: Number(clusters) }, (_, index) => `${prefix}${index === 0 ? '' : index + 1}`),
    rounds: Number(rounds),
    beside,
    optional,
    onlyBuild: values['only-build'],
  };
}
