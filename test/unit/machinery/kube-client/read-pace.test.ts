import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ReadPace,
  fullReadBytes,
  quietReadEveryMs,
  readEveryMs,
  undeciding,
} from '../../../../src/machinery/kube-client/read-pace.ts';

const eventBytes = 500;

/** A stream with `perSecond` events that is read as its pace says. Returns when each read began. */
function readsOf(
  perSecond: number,
  { decisionMs = Infinity, isQuiet = false }: { readonly decisionMs?: number; readonly isQuiet?: boolean } = {},
): readonly number[] {
  const pace = new ReadPace({ decidesBy: (atMs) => decisionMs <= atMs, isQuiet: () => isQuiet });
  const reads: number[] = [];
  let readBytes = 0;
  for (let nowMs = 0; nowMs < 10_000; ) {
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

for (const [isQuiet, perSecond] of [
  [false, 28],
  [true, 10],
] as const) {
  test(`a stream with ${perSecond} events per second is read for each of them, quiet: ${isQuiet}`, () => {
    assert.equal(perSecondAt(readsOf(perSecond, { isQuiet }), 5), perSecond);
  });
}

for (const [isQuiet, everyMs, rates] of [
  [false, readEveryMs, [40, 60, 200, 900]],
  [true, quietReadEveryMs, [16, 30, 60, 250]],
] as const) {
  for (const perSecond of rates) {
    test(`a stream with ${perSecond} events per second is read every ${everyMs} ms, and stays so`, () => {
      const reads = readsOf(perSecond, { isQuiet });
      const gaps = reads.slice(1).map((atMs, place) => atMs - (reads[place] ?? 0));
      const later = gaps.filter((_, place) => (reads[place] ?? 0) > 3_000);
      assert.ok(Math.max(...later) <= everyMs + 1_000 / perSecond, `${Math.max(...later)}`);
      assert.ok(Math.min(...later) >= everyMs, `${Math.min(...later)}`);
    });
  }
}

test('a stream is read more often as soon as its receiver is no longer quiet', () => {
  let isQuiet = true;
  const pace = new ReadPace({ decidesBy: () => false, isQuiet: () => isQuiet });
  pace.noteRead(1_000, 0);
  assert.equal(pace.waitMs(1_000, eventBytes), quietReadEveryMs);
  isQuiet = false;
  pace.noteRead(1_250, eventBytes);
  assert.equal(pace.waitMs(1_250, 2 * eventBytes), readEveryMs);
});

test('a stream that is no longer busy is read for each event again', () => {
  const pace = new ReadPace(undeciding);
  let bytes = 0;
  for (let nowMs = 0; nowMs <= 3_000; nowMs += 10) pace.isBusy(nowMs, (bytes += eventBytes));
  assert.equal(pace.isBusy(3_001, bytes), true);
  for (let nowMs = 3_100; nowMs <= 6_100; nowMs += 200) pace.isBusy(nowMs, (bytes += eventBytes));
  assert.equal(pace.isBusy(6_101, bytes), false);
});

test('before a decision a busy stream is read at once', () => {
  assert.equal(perSecondAt(readsOf(200, { decisionMs: 5_000 }), 3) < 15, true, 'long before');
  const pace = new ReadPace({ ...undeciding, decidesBy: (atMs) => atMs >= 1_050 });
  pace.noteRead(1_000, 0);
  assert.equal(pace.waitMs(1_010, eventBytes), 0);
});

test('the rest of a large read is read at once', () => {
  const pace = new ReadPace(undeciding);
  pace.noteRead(1_000, 0);
  assert.equal(pace.waitMs(1_001, fullReadBytes), 0);
  assert.equal(pace.waitMs(1_001, fullReadBytes - 1), readEveryMs - 1);
});

interface Stream {
  readonly totalBytes: number;
  readonly bytesPerMs: number;
  /** What the kernel buffers while it is not read. */
  readonly bufferBytes: number;
  readonly isQuiet: boolean;
}

/** Reads a stream. Returns how long it took. */
function readAll({ totalBytes, bytesPerMs, bufferBytes, isQuiet }: Stream): number {
  const pace = new ReadPace({ ...undeciding, isQuiet: () => isQuiet });
  let nowMs = 0;
  let buffered = 0;
  let sent = 0;
  const pass = (ms: number): void => {
    const added = Math.min(bufferBytes - buffered, ms * bytesPerMs, totalBytes - sent);
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

for (const [isQuiet, bufferKib, rates] of [
  [false, 128, [1_000, 5_000, 20_000]],
  [true, 128, [200, 1_000, 5_000, 20_000]],
  [true, 33, [150, 200, 300]],
] as const) {
  test(`a stream is not slowed down by a buffer of ${bufferKib} KiB, quiet: ${isQuiet}`, () => {
    for (const bytesPerMs of rates) {
      const stream = { totalBytes: bytesPerMs * 20_000, bytesPerMs, bufferBytes: bufferKib * 1024, isQuiet };
      const tookMs = readAll(stream);
      assert.ok(tookMs < 1.2 * 20_000, `${tookMs} ms at ${bytesPerMs} bytes/ms`);
    }
  });
}
