import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { TokenFile } from '../../../src/adapters/token-file.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { KeepingLogger } from '../../support/quiet.ts';

describe('a token in a file', () => {
  let folder: string;
  let path: string;
  let clock: ManualClock;
  let logger: KeepingLogger;
  let file: TokenFile;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'nlc-token-'));
    path = join(folder, 'token');
    clock = new ManualClock();
    logger = new KeepingLogger();
    file = new TokenFile({ path, clock, logger });
    writeFileSync(path, 'one\n');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  test('is used for 50 s and then read again, without the white space around it', async () => {
    assert.equal(file.current(), 'one');
    writeFileSync(path, '\n two \n');
    await clock.advance(49_999);
    assert.equal(file.current(), 'one');
    await clock.advance(1);
    assert.equal(file.current(), 'two');
  });

  test('stays while the file is missing or empty, and that is said once', async () => {
    assert.equal(file.current(), 'one');
    for (const breaking of [() => rmSync(path), () => writeFileSync(path, ' \n')]) {
      breaking();
      await clock.advance(60_000);
      assert.equal(file.current(), 'one');
    }
    assert.equal(logger.lines.length, 1);
    writeFileSync(path, 'two');
    assert.equal(file.current(), 'two', 'as soon as it can be read, not after another 50 s');
  });

  test('is an error where there never was one', () => {
    writeFileSync(path, '\n');
    assert.throws(() => file.current(), /is empty/);
    rmSync(path);
    assert.throws(() => file.current(), { code: 'ENOENT' });
  });

  test('is read again at once when the server refuses it, unless another one is in use already', async () => {
    assert.equal(file.current(), 'one');
    writeFileSync(path, 'two');
    file.refused('one');
    assert.equal(file.current(), 'two');
    writeFileSync(path, 'three');
    file.refused('one');
    assert.equal(file.current(), 'two', 'the answer to an older request says nothing about this token');
  });
});
