import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { TokenFile } from '../../../../src/machinery/kubeconfig/token-file.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { RecordingLogger } from '../../../support/fakes.ts';

describe('a token file', () => {
  let folder: string;
  let path: string;
  let clock: ManualClock;
  let logger: RecordingLogger;
  let file: TokenFile;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'nlc-token-'));
    path = join(folder, 'token');
    clock = new ManualClock();
    logger = new RecordingLogger();
    file = new TokenFile({ path, clock, logger });
    writeFileSync(path, 'one\n');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  test('is cached for 50 s and then read again, without surrounding white space', async () => {
    assert.equal(file.current(), 'one');
    writeFileSync(path, '\n two \n');
    await clock.advance(49_999);
    assert.equal(file.current(), 'one');
    await clock.advance(1);
    assert.equal(file.current(), 'two');
  });

  test('keeps the token while the file is missing or empty, and logs it once', async () => {
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

  test('throws if no token was ever read', () => {
    writeFileSync(path, '\n');
    assert.throws(() => file.current(), /is empty/);
    rmSync(path);
    assert.throws(() => file.current(), { code: 'ENOENT' });
  });

  test('is read again at once after the server rejected the token, unless a newer one is in use', async () => {
    assert.equal(file.current(), 'one');
    writeFileSync(path, 'two');
    file.refused('one');
    assert.equal(file.current(), 'two');
    writeFileSync(path, 'three');
    file.refused('one');
    assert.equal(file.current(), 'two', 'a response to an older request does not refer to this token');
  });
});
