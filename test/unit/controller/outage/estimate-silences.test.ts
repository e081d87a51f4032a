import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  estimateSilenceMs,
  measureMarkDelays,
  type ObservedSilence,
} from '../../../../src/controller/outage/estimate-silences.ts';

const windowMs = 12_000;

type Case = readonly [title: string, silence: ObservedSilence, peers: readonly ObservedSilence[], expectedMs: number];

const found = (renewedAtMs: number | undefined, atMs: number): ObservedSilence => ({
  zone: 'a',
  atMs,
  renewedAtMs,
  isMarked: true,
});

const hourMs = 3_600_000;

const cases: readonly Case[] = [
  ['no lease: when Unknown was written', found(undefined, 90_000), [found(0, 50_000)], 90_000],
  ['the only one of its kind: when Unknown was written', found(0, 50_000), [], 50_000],
  [
    'written late: as long after its renewal as the peer that was written first',
    found(4_000, 110_000),
    [found(0, 50_000), found(8_000, 95_000)],
    54_000,
  ],
  ['renewed long before the peers: without a common peer', found(-hourMs, 110_000), [found(0, 50_000)], 110_000],
  ['all kubelets are an hour behind: the same', found(4_000 - hourMs, 110_000), [found(-hourMs, 50_000)], 54_000],
  [
    'a peer that was renewed after it became Unknown is no measure',
    found(4_000, 110_000),
    [found(5_000, 1_000)],
    110_000,
  ],
  [
    'not Unknown yet: falls with its peers, not at the end of a grace period that began with this process',
    { zone: 'a', atMs: 150_000, renewedAtMs: 4_000 },
    [found(0, 50_000)],
    54_000,
  ],
  [
    'not Unknown, and with a heartbeat observed: already exact',
    { zone: 'a', atMs: 150_000 },
    [found(0, 50_000)],
    150_000,
  ],
  [
    'never later than it is known to have been',
    { zone: 'a', atMs: 52_000, renewedAtMs: 4_000 },
    [found(0, 50_000)],
    52_000,
  ],
];

for (const [title, silence, peers, expectedMs] of cases) {
  test(`fall times: ${title}`, () => {
    const own = silence.isMarked === true ? [silence] : [];
    const delays = measureMarkDelays([...peers, ...own], windowMs);
    assert.equal(estimateSilenceMs(silence, delays, windowMs), expectedMs);
  });
}
