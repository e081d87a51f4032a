import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  decideAct,
  decideEnd,
  decideOurs,
  decideTimeOut,
  type EpisodeStep,
} from '../../../../src/controller/shadow/decide-episode.ts';
import { actOf, type Episode, type Matter, type Party } from '../../../../src/controller/shadow/episode.ts';

const toleranceMs = 10_000;
const limits = { standing: false, toleranceMs };

function act(episode: Episode | undefined, party: Party, value: boolean, atMs: number): EpisodeStep {
  return decideAct(episode, { party, value, atMs }, limits);
}

const opened = (by: Party, sinceMs = 0): Episode => ({ by, value: true, sinceMs, told: false });

test('the first act opens an episode, and doing what is done already does not', () => {
  assert.deepEqual(act(undefined, 'us', true, 7), { episode: opened('us', 7), verdict: undefined });
  assert.deepEqual(act(undefined, 'them', true, 7), { episode: opened('them', 7), verdict: undefined });
  assert.deepEqual(act(undefined, 'us', false, 7), { episode: undefined, verdict: undefined });
});

test('the same act again is folded into the episode', () => {
  const episode = opened('us');
  assert.deepEqual(act(episode, 'us', true, 5_000), { episode, verdict: undefined });
  assert.deepEqual(act(episode, 'them', false, 5_000), { episode, verdict: undefined });
});

test('acts within the tolerance agree, whoever was first, and one more millisecond does not', () => {
  for (const [by, other] of [
    ['us', 'them'],
    ['them', 'us'],
  ] as const) {
    const close = act(opened(by), other, true, toleranceMs);
    assert.equal(close.verdict?.outcome, 'agree');
    assert.equal(close.episode, undefined);
    const apart = act(opened(by), other, true, toleranceMs + 1);
    assert.equal(apart.verdict?.outcome, by === 'us' ? 'earlier' : 'later');
    assert.deepEqual(apart.verdict, {
      outcome: by === 'us' ? 'earlier' : 'later',
      ending: 'followed',
      first: by,
      firstAtMs: 0,
      secondAtMs: toleranceMs + 1,
    });
  }
});

test('an act that is taken back before the other follows was one side alone', () => {
  assert.deepEqual(act(opened('us'), 'us', false, 3_000), {
    episode: undefined,
    verdict: { outcome: 'only_us', ending: 'taken-back', first: 'us', firstAtMs: 0, secondAtMs: undefined },
  });
  assert.equal(act(opened('them'), 'them', false, 3_000).verdict?.outcome, 'only_them');
});

test('when the cause goes away the act was one side alone', () => {
  assert.equal(decideEnd(opened('us')).verdict?.outcome, 'only_us');
  assert.equal(decideEnd(opened('them')).verdict?.ending, 'cause-gone');
});

test('nobody is waited for longer than that; what we alone did stays done for us, what they did is so', () => {
  assert.equal(decideTimeOut(opened('us'), 599_999, 600_000), undefined);
  const ours = decideTimeOut(opened('us'), 600_000, 600_000);
  assert.equal(ours?.verdict?.outcome, 'only_us');
  assert.deepEqual(ours?.episode, { ...opened('us'), told: true });
  const theirs = decideTimeOut(opened('them'), 600_000, 600_000);
  assert.equal(theirs?.verdict?.outcome, 'only_them');
  assert.equal(theirs?.episode, undefined);
});

test('what was told is not told again, however it ends', () => {
  const told = { ...opened('us'), told: true };
  assert.deepEqual(act(told, 'them', true, 700_000), { episode: undefined, verdict: undefined });
  assert.deepEqual(act(told, 'us', false, 700_000), { episode: undefined, verdict: undefined });
  assert.equal(decideTimeOut(told, 9_000_000, 600_000), undefined);
  assert.equal(decideEnd(told).verdict, undefined);
});

test('for us it is what we made of it, and otherwise what it is', () => {
  assert.equal(decideOurs(undefined), undefined);
  assert.equal(decideOurs(opened('us')), true);
  assert.equal(decideOurs(opened('them')), false);
  assert.equal(decideOurs({ ...opened('them'), value: false }), true);
});

test('acts are named by what they do', () => {
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

test('whatever both do, there is an episode exactly while they differ, and each has one verdict at most', () => {
  const acts = fc.array(
    fc.record({ party: fc.constantFrom<Party>('us', 'them'), value: fc.boolean(), afterMs: fc.nat(20_000) }),
    { maxLength: 40 },
  );
  fc.assert(
    fc.property(acts, (story) => {
      const is = { us: false, them: false };
      let [episode, atMs, begun, told]: [Episode | undefined, number, number, number] = [undefined, 0, 0, 0];
      for (const { party, value, afterMs } of story) {
        atMs += afterMs;
        const standing = is.us;
        is[party] = value;
        const before = episode;
        const step = decideAct(episode, { party, value, atMs }, { standing, toleranceMs });
        episode = step.episode;
        if (before === undefined && episode !== undefined) begun += 1;
        if (step.verdict !== undefined) told += 1;
        assert.equal(episode !== undefined, is.us !== is.them);
        assert.equal(decideOurs(episode) ?? is.us, is.us);
        assert.equal(told, begun - (episode === undefined ? 0 : 1));
      }
    }),
  );
});
