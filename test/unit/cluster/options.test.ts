// The command line of the stories on a real cluster, and the queue that it makes.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseClusterOptions } from '../../cluster/options.ts';
import { orderStories } from '../../cluster/run-stories.ts';
import { stories } from '../../cluster/stories/stories.ts';

describe('parseClusterOptions', () => {
  const prefixes = (...args: readonly string[]): readonly string[] => parseClusterOptions(args).prefixes;

  it('lets two clusters share several stories', () => {
    assert.deepEqual(prefixes(), ['nlc', 'nlc2']);
    assert.deepEqual(prefixes('--story', 'cable', '--story', 'power', '--prefix', 'x'), ['x', 'x2']);
  });

  it('uses one cluster where times are compared, for one story, and for a person', () => {
    for (const args of [['--beside'], ['--keep'], ['--story', 'cable']]) assert.deepEqual(prefixes(...args), ['nlc']);
  });

  it('uses as many as are asked for', () => {
    assert.deepEqual(prefixes('--clusters', '3', '--story', 'cable'), ['nlc', 'nlc2', 'nlc3']);
  });

  it('names option, value and what is accepted', () => {
    assert.throws(
      () => prefixes('--clusters', '0'),
      /^Error: --clusters: must be an integer from 1 to 4 \(got "0"\)$/u,
    );
    assert.throws(() => prefixes('--prefix', 'a-b'), /^Error: --prefix: must be a letter .* \(got "a-b"\)$/u);
    assert.throws(() => prefixes('--rounds', 'x'), /^Error: --rounds: must be an integer from 1 to 99 \(got "x"\)$/u);
    assert.throws(() => prefixes('--story', 'x'), /^Error: --story: must be one of cable, .* \(got "x"\)$/u);
  });
});

describe('orderStories', () => {
  it('has every story once', () => {
    const turns = orderStories(parseClusterOptions([]));
    assert.deepEqual(
      turns.map(({ story }) => story),
      stories,
    );
  });

  it('alternates with the controllers of kube-controller-manager in each round, where that means something', () => {
    const turns = orderStories(
      parseClusterOptions(['--story', 'cable', '--story', 'drain', '--rounds', '2', '--beside']),
    );
    const round = [
      'cable node-lifecycle-controller',
      'drain node-lifecycle-controller',
      'cable kube-controller-manager',
    ];
    assert.deepEqual(
      turns.map(({ story, actor }) => `${story.name} ${actor}`),
      [...round, ...round],
    );
  });
});
