import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ReadPace, fullReadBytes, readEveryMs } from '../../../../src/machinery/kube-client/read-pace.ts';

const eventBytes = 500;

/** A stream with `perSecond` events that is read as its pace says. Returns when each read began. */
function readsOf(
  perSecond: number,
  { seconds = 10, decisionMs = Infinity }: { readonly seconds?: number; readonly decisionMs?: number } = {},
): readonly number[] {
  const pace = new ReadPace({ decidesBy: (atMs) => decisionMs <= atMs });
  const reads: number[] = [];
  let readBytes = 0;
  for (let nowMs = 0; nowMs < seconds * 1_000; ) {
    const busy = pace.isBusy(nowMs, readBytes);
    if (busy) nowMs += Math.max(0, pace.waitMs(nowMs, readBytes));
    if (busy) pace.noteRead(nowMs, readBytes);
    reads.push(nowMs);
    const nextEventMs = (Math.floor(readBytes / eventBytes) + 1) * (1_000 / perSecond);
    nowMs = Math.max(nowMs, nextEventMs);
    readBytes = Math.floor((nowMs * perSecond) / 1_000 + 1e-6) * eventBytes;
  }
  return reads;
}

function perSecondAt(reads: readonly number[], second: number): number {
  return reads.filter((atMs) => Math.floor(atMs / 1_000) === second).length;
}

test('a stream with few events is read for each of them', () => {
  assert.equal(perSecondAt(readsOf(40), 5), 40);
});

for (const perSecond of [60, 200, 900]) {
  test(`a stream with ${perSecond} events per second is read ten times a second, and stays so`, () => {
    const reads = readsOf(perSecond);
    for (const second of [3, 5, 9]) assert.equal(Math.abs(perSecondAt(reads, second) - 10) <= 1, true, `${second}`);
    const gaps = reads.slice(1).map((atMs, place) => atMs - (reads[place] ?? 0));
    assert.equal(Math.max(...gaps.slice(200)) <= readEveryMs + 1_000 / perSecond, true);
  });
}

test('a stream that is no longer busy is read for each event again', () => {
  const pace = new ReadPace({ decidesBy: () => false });
  let bytes = 0;
  for (let nowMs = 0; nowMs <= 3_000; nowMs += 10) pace.isBusy(nowMs, (bytes += eventBytes));
  assert.equal(pace.isBusy(3_001, bytes), true);
  for (let nowMs = 3_100; nowMs <= 6_000; nowMs += 100) pace.isBusy(nowMs, (bytes += eventBytes));
  assert.equal(pace.isBusy(6_001, bytes), false);
});

test('before a decision a busy stream is read at once', () => {
  assert.equal(perSecondAt(readsOf(200, { decisionMs: 5_000 }), 3) < 15, true, 'long before');
  const pace = new ReadPace({ decidesBy: (atMs) => atMs >= 1_050 });
  pace.noteRead(1_000, 0);
  assert.equal(pace.waitMs(1_010, eventBytes), 0);
});

test('the rest of a large read is read at once', () => {
  const pace = new ReadPace({ decidesBy: () => false });
  pace.noteRead(1_000, 0);
  assert.equal(pace.waitMs(1_001, fullReadBytes), 0);
  assert.equal(pace.waitMs(1_001, fullReadBytes - 1), readEveryMs - 1);
});

/** Reads a stream of which the kernel buffers 128 KiB while it is not read. Returns how long it took. */
function readAll(totalBytes: number, bytesPerMs: number): number {
  const pace = new ReadPace({ decidesBy: () => false });
  let nowMs = 0;
  let buffered = 0;
  let sent = 0;
  const pass = (ms: number): void => {
    const added = Math.min(128 * 1024 - buffered, ms * bytesPerMs, totalBytes - sent);
    nowMs += ms;
    buffered += added;
    sent += added;
  };
  for (let readBytes = 0; readBytes < totalBytes; ) {
    if (pace.isBusy(nowMs, readBytes)) {
      pass(Math.max(0, pace.waitMs(nowMs, readBytes)));
      pace.noteRead(nowMs, readBytes);
    }
    // What arrives while the read is handled is read next.
    pass(0.5);
    const read = Math.min(64 * 1024, buffered);
    buffered -= read;
    readBytes += read;
  }
  return nowMs;
}

test('a stream that sends much is not slowed down by the size of the buffer', () => {
  for (const bytesPerMs of [1_000, 5_000, 20_000]) {
    const totalBytes = bytesPerMs * 20_000;
    const tookMs = readAll(totalBytes, bytesPerMs);
    assert.ok(tookMs < 1.2 * 20_000, `${tookMs} ms at ${bytesPerMs} bytes/ms`);
  }
});
