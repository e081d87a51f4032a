import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  decideAct,
  decideEnd,
  decideShadowValue,
  decideTimeOut,
  type EpisodeStep,
} from '../../../../src/controller/shadow/decide-episode.ts';
import { actOf, type Episode, type Matter, type Party } from '../../../../src/controller/shadow/episode.ts';

const toleranceMs = 10_000;
const limits = { standing: false, toleranceMs };

function act(episode: Episode | undefined, party: Party, value: boolean, atMs: number): EpisodeStep {
  return decideAct(episode, { party, value, atMs }, limits);
}

const opened = (by: Party, sinceMs = 0): Episode => ({ by, value: true, sinceMs, counted: false });

test('the first action opens an episode, and an action without effect does not', () => {
  assert.deepEqual(act(undefined, 'shadow', true, 7), { episode: opened('shadow', 7), result: undefined });
  assert.deepEqual(act(undefined, 'cluster', true, 7), { episode: opened('cluster', 7), result: undefined });
  assert.deepEqual(act(undefined, 'shadow', false, 7), { episode: undefined, result: undefined });
});

test('the same action again is folded into the episode', () => {
  const episode = opened('shadow');
  assert.deepEqual(act(episode, 'shadow', true, 5_000), { episode, result: undefined });
  assert.deepEqual(act(episode, 'cluster', false, 5_000), { episode, result: undefined });
});

test('actions within the tolerance agree, whichever was first, and one more millisecond does not', () => {
  for (const [by, other] of [
    ['shadow', 'cluster'],
    ['cluster', 'shadow'],
  ] as const) {
    const close = act(opened(by), other, true, toleranceMs);
    assert.deepEqual([close.result?.outcome, close.episode], ['agree', undefined]);
    const apart = act(opened(by), other, true, toleranceMs + 1);
    assert.equal(apart.result?.outcome, by === 'shadow' ? 'earlier' : 'later');
    assert.deepEqual(apart.result, {
      outcome: by === 'shadow' ? 'earlier' : 'later',
      ending: 'followed',
      first: by,
      firstAtMs: 0,
      secondAtMs: toleranceMs + 1,
    });
  }
});

test('an action that is reverted before the other follows was by one side alone', () => {
  assert.deepEqual(act(opened('shadow'), 'shadow', false, 3_000), {
    episode: undefined,
    result: { outcome: 'only_shadow', ending: 'taken-back', first: 'shadow', firstAtMs: 0, secondAtMs: undefined },
  });
  assert.equal(act(opened('cluster'), 'cluster', false, 3_000).result?.outcome, 'only_cluster');
});

test('when the cause ends the action was by one side alone', () => {
  assert.equal(decideEnd(opened('shadow')).result?.outcome, 'only_shadow');
  assert.equal(decideEnd(opened('cluster')).result?.ending, 'cause-gone');
});

test('after the maximum wait an action of the shadow stays applied for the shadow, and one of the cluster applies to both', () => {
  assert.equal(decideTimeOut(opened('shadow'), 599_999, 600_000), undefined);
  const ofShadow = decideTimeOut(opened('shadow'), 600_000, 600_000);
  assert.equal(ofShadow?.result?.outcome, 'only_shadow');
  assert.deepEqual(ofShadow?.episode, { ...opened('shadow'), counted: true });
  const ofCluster = decideTimeOut(opened('cluster'), 600_000, 600_000);
  assert.deepEqual([ofCluster?.result?.outcome, ofCluster?.episode], ['only_cluster', undefined]);
});

test('a counted outcome is not counted again, however the episode ends', () => {
  const counted = { ...opened('shadow'), counted: true };
  assert.deepEqual(act(counted, 'cluster', true, 700_000), { episode: undefined, result: undefined });
  assert.deepEqual(act(counted, 'shadow', false, 700_000), { episode: undefined, result: undefined });
  assert.equal(decideTimeOut(counted, 9_000_000, 600_000), undefined);
  assert.equal(decideEnd(counted).result, undefined);
});

test('the value for the shadow is its own, and otherwise that of the cluster', () => {
  assert.equal(decideShadowValue(undefined), undefined);
  assert.equal(decideShadowValue(opened('shadow')), true);
  assert.equal(decideShadowValue(opened('cluster')), false);
  assert.equal(decideShadowValue({ ...opened('cluster'), value: false }), true);
});

test('actions are named by their effect', () => {
  const table: readonly (readonly [Matter, boolean, string])[] = [
    ['unknown', true, 'node-unknown'],
    ['not-ready', true, 'pod-not-ready'],
    ['eviction', true, 'pod-eviction'],
    ['k:NoSchedule', true, 'no-schedule-taint'],
    ['k:NoSchedule', false, 'no-schedule-untaint'],
    ['k:NoExecute', true, 'no-execute-taint'],
    ['k:NoExecute', false, 'no-execute-untaint'],
  ];
  for (const [matter, value, name] of table) assert.equal(actOf(matter, value), name);
});

test('random actions: an episode is open exactly while both sides differ, and each has one outcome at most', () => {
  const acts = fc.array(
    fc.record({ party: fc.constantFrom<Party>('shadow', 'cluster'), value: fc.boolean(), afterMs: fc.nat(20_000) }),
    { maxLength: 40 },
  );
  fc.assert(
    fc.property(acts, (story) => {
      const is = { shadow: false, cluster: false };
      let [episode, atMs, begun, counted]: [Episode | undefined, number, number, number] = [undefined, 0, 0, 0];
      for (const { party, value, afterMs } of story) {
        atMs += afterMs;
        const standing = is.shadow;
        is[party] = value;
        const before = episode;
        const step = decideAct(episode, { party, value, atMs }, { standing, toleranceMs });
        episode = step.episode;
        if (before === undefined && episode !== undefined) begun += 1;
        if (step.result !== undefined) counted += 1;
        assert.equal(episode !== undefined, is.shadow !== is.cluster);
        assert.equal(decideShadowValue(episode) ?? is.shadow, is.shadow);
        assert.equal(counted, begun - (episode === undefined ? 0 : 1));
      }
    }),
  );
});
