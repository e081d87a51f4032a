import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { assessWal } from '../../../../../src/hollow-cluster/apiserver/data-dir/assess-wal.ts';
import { tempFolder } from '../../../../support/temp-folder.ts';

const frameBytes = 24 + 4_096;
const headerBytes = 32;

/** The log that SQLite writes for some transactions, the last of which has several frames. */
function aLog(checkpointed = false): Buffer {
  const file = join(tempFolder(), 'a.db');
  const database = new DatabaseSync(file);
  database.exec(
    'PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; CREATE TABLE a (k INTEGER PRIMARY KEY, b BLOB)',
  );
  const insert = database.prepare('INSERT INTO a (b) VALUES (?)');
  for (let written = 0; written < 4; written += 1) insert.run(Buffer.alloc(3_000, written));
  if (checkpointed) database.exec('PRAGMA wal_checkpoint(RESTART)');
  insert.run(Buffer.alloc(12_000, 9));
  const log = readFileSync(`${file}-wal`);
  database.close();
  return log;
}

function flipped(log: Buffer, offset: number): Buffer {
  const copy = Buffer.from(log);
  copy.writeUInt8(copy.readUInt8(offset) ^ 0xff, offset);
  return copy;
}

test('a log as SQLite writes it is complete, also one that was begun again over older frames', () => {
  assert.deepEqual(assessWal(aLog()), { kind: 'complete' });
  assert.deepEqual(assessWal(aLog(true)), { kind: 'complete' });
  assert.deepEqual(assessWal(Buffer.alloc(0)), { kind: 'complete' });
});

test('wherever a log ends, at most its last transaction is missing, and nothing counts as damaged', () => {
  const log = aLog();
  const frames = (log.length - headerBytes) / frameBytes;
  assert.ok(frames >= 8, `${frames} frames`);
  for (let length = headerBytes; length < log.length; length += 509) {
    const state = assessWal(log.subarray(0, length));
    assert.notEqual(state.kind, 'corrupt', `cut at ${length}`);
  }
  const lastFrame = log.length - frameBytes;
  const cut = assessWal(log.subarray(0, lastFrame));
  assert.equal(cut.kind, 'torn');
});

test('a damaged frame at the end is torn, one with frames behind it corrupt, with its offset', () => {
  const log = aLog();
  const lastFrame = log.length - frameBytes;
  assert.deepEqual(assessWal(flipped(log, lastFrame + 100)).kind, 'torn');
  const frames = (log.length - headerBytes) / frameBytes;
  for (const index of [0, 1, frames - 2]) {
    const offset = headerBytes + index * frameBytes;
    assert.deepEqual(assessWal(flipped(log, offset + 1_000)), { kind: 'corrupt', offset, later: frames - index - 1 });
  }
});

test('a damaged header is corrupt if frames follow it', () => {
  const log = aLog();
  const state = assessWal(flipped(log, 12));
  assert.deepEqual([state.kind, 'offset' in state ? state.offset : undefined], ['corrupt', 0]);
  assert.equal(assessWal(flipped(log, 0)).kind, 'corrupt');
});

test('any damaged byte of the header of a frame in the middle is corrupt, with the offset of the frame', () => {
  const log = aLog();
  const frames = (log.length - headerBytes) / frameBytes;
  const offset = headerBytes + 2 * frameBytes;
  for (let at = offset; at < offset + 24; at += 1) {
    assert.deepEqual(
      assessWal(flipped(log, at)),
      { kind: 'corrupt', offset, later: frames - 3 },
      `byte ${at - offset}`,
    );
  }
  const zeroed = Buffer.from(log).fill(0, offset, offset + frameBytes);
  assert.deepEqual(assessWal(zeroed), { kind: 'corrupt', offset, later: frames - 3 });
});
