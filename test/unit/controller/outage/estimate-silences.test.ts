import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  estimateSilence,
  graceOfUnknown,
  measureRenewalDelays,
  type ObservedSilence,
} from '../../../../src/controller/outage/estimate-silences.ts';

const windowMs = 12_000;

type Case = readonly [title: string, silence: ObservedSilence, peers: readonly ObservedSilence[], expectedMs: number];

const found = (renewedAtMs: number | undefined, atMs: number, graceMs = 0): ObservedSilence => ({
  zone: 'a',
  atMs,
  graceMs,
  windowMs,
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
    { zone: 'a', graceMs: 0, windowMs, atMs: 150_000, renewedAtMs: 4_000 },
    [found(0, 50_000)],
    54_000,
  ],
  [
    'not Unknown, and with a heartbeat observed: already exact',
    { zone: 'a', graceMs: 0, windowMs, atMs: 150_000 },
    [found(0, 50_000)],
    150_000,
  ],
  ['a longer grace period than that of the peer', found(4_000, 300_000, 180_000), [found(0, 51_000, 50_000)], 185_000],
  [
    'a peer whose grace period was lengthened since is no measure',
    found(4_000, 110_000, 50_000),
    [found(0, 51_000, 50_000), found(2_000, 54_000, 600_000)],
    55_000,
  ],
  ['all kubelets are half a minute ahead', found(34_000, 60_000, 50_000), [found(30_000, 51_000, 50_000)], 55_000],
  [
    'never later than it is known to have been',
    { zone: 'a', graceMs: 0, windowMs, atMs: 52_000, renewedAtMs: 4_000 },
    [found(0, 50_000)],
    52_000,
  ],
];

for (const [title, silence, peers, expectedMs] of cases) {
  test(`silent since: ${title}`, () => {
    const own = silence.isMarked === true ? [silence] : [];
    const delays = measureRenewalDelays([...peers, ...own], windowMs);
    assert.equal(estimateSilence(silence, delays, windowMs).atMs, expectedMs);
  });
}

test('the last heartbeat of a node whose grace period was lengthened since is that of its peers', () => {
  const lengthened = found(2_000, 54_000, 600_000);
  const delays = measureRenewalDelays([lengthened, found(0, 51_000, 50_000)], windowMs);
  assert.deepEqual(estimateSilence(lengthened, delays, windowMs), { atMs: 54_000, heartbeatAtMs: 3_000 });
});

const graces: readonly (readonly [
  title: string,
  renewedAtMs: number | undefined,
  earliestMs: number | undefined,
  graceMs: number,
])[] = [
  ['without early detection: its grace period', 45_000, undefined, 40_000],
  ['without a lease: its grace period', undefined, 15_000, 40_000],
  ['shown by probes: the time since its last renewal', 43_000, 15_000, 17_000],
  ['not before probes may show it, if the clock of its kubelet is ahead', 55_000, 15_000, 15_000],
  ['written late: its grace period', 0, 15_000, 40_000],
];

for (const [title, renewedAtMs, earliestMs, expectedMs] of graces) {
  test(`the grace period after which a node was found Unknown: ${title}`, () => {
    assert.equal(graceOfUnknown({ atMs: 60_000, graceMs: 40_000, renewedAtMs }, earliestMs), expectedMs);
  });
}

test('a node that became Unknown early does not date the silence of its peers', () => {
  const early = { ...found(30_000, 45_000, 40_000), graceMs: graceOfUnknown(found(30_000, 45_000, 40_000), 15_000) };
  const peer = { zone: 'a', graceMs: 40_000, windowMs, atMs: 120_000, renewedAtMs: 31_000 };
  const delays = measureRenewalDelays([early, peer], windowMs);
  assert.deepEqual(estimateSilence(peer, delays, windowMs), { atMs: 71_000, heartbeatAtMs: 31_000 });
  assert.equal(estimateSilence(early, delays, windowMs).heartbeatAtMs, 30_000);
});
