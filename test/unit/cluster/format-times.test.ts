import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatTimes } from '../../cluster/format-times.ts';
import type { StoryRun } from '../../cluster/run-stories.ts';

function run(actor: StoryRun['actor'], unknown: number, failure?: string): StoryRun {
  return { story: 'cable', actor, times: { unknown }, failure };
}

test('median, least and most of each time, beside each other', () => {
  const runs = [
    run('node-lifecycle-controller', 43.2),
    run('node-lifecycle-controller', 41.1),
    run('node-lifecycle-controller', 42),
    run('kube-controller-manager', 46),
    run('kube-controller-manager', 45),
  ];
  assert.equal(
    formatTimes(runs),
    [
      '| story | seconds until | node-lifecycle-controller | kube-controller-manager |',
      '| --- | --- | ---: | ---: |',
      '| cable | unknown | 42.0 (41.1 to 43.2, 3) | 45.5 (45.0 to 46.0, 2) |',
    ].join('\n'),
  );
});

test('a time over its limit counts, and a run that ended early has none', () => {
  const late = run('node-lifecycle-controller', 90, 'unknown after 90 s, at most 52');
  const ended: StoryRun = { story: 'cable', actor: 'kube-controller-manager', times: {}, failure: 'not within 90 s' };
  const without: StoryRun = { story: 'daemons', actor: 'node-lifecycle-controller', times: {}, failure: undefined };
  assert.match(formatTimes([late, ended, without]), /\| cable \| unknown \| 90\.0 \| - \|$/u);
  assert.equal(formatTimes([without]), '');
});
