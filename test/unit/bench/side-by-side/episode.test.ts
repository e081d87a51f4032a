import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Episode } from '../../../bench/side-by-side/episode.ts';

function completeEpisode(): Episode {
  const episode = new Episode(['a', 'b'], 1);
  episode.unknownAtMs.set('a', 20_100).set('b', 20_300);
  episode.noExecuteAtMs.set('a', 20_150).set('b', 20_900);
  episode.podAtMs.set('pod-a', 20_160).set('pod-b', 20_910);
  return episode;
}

test('an episode is complete with the last node, the last taint and the last pod', () => {
  assert.equal(completeEpisode().isComplete, true);
  for (const times of ['unknownAtMs', 'noExecuteAtMs', 'podAtMs'] as const) {
    const episode = completeEpisode();
    episode[times].delete([...episode[times].keys()][0]!);
    assert.equal(episode.isComplete, false, times);
  }
});

test('detection counts from the expiry of each node, the taint from Unknown', () => {
  const episode = completeEpisode();
  assert.deepEqual(episode.detectionMs({ a: 5_000, b: 5_200 }, 15_000), [100, 100]);
  assert.deepEqual(episode.taintingMs(), [50, 600]);
});

test('what is missing is described', () => {
  const episode = completeEpisode();
  episode.noExecuteAtMs.delete('b');
  assert.equal(episode.describe(), 'of 2 nodes 2 are Unknown and 1 have the NoExecute taint, of 2 pods 2 are NotReady');
});
