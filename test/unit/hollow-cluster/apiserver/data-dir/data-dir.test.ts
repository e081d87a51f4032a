import assert from 'node:assert/strict';
import { chmodSync, copyFileSync, cpSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { DataDir } from '../../../../../src/hollow-cluster/apiserver/data-dir/data-dir.ts';
import { DataDirError } from '../../../../../src/hollow-cluster/apiserver/data-dir/data-dir-error.ts';
import { ObjectDatabase } from '../../../../../src/hollow-cluster/apiserver/data-dir/object-database.ts';
import { StoredObject } from '../../../../../src/hollow-cluster/apiserver/storage/stored-object.ts';
import { RecordingLogger, silentLogger } from '../../../../support/fakes.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';
import { tempFolder } from '../../../../support/temp-folder.ts';

function object(name: string, revision: number, text = ''): StoredObject {
  const located = { key: name, namespace: '', name, uid: `uid-${name}`, revision, labels: {}, fields: {} };
  return new StoredObject(located, { metadata: { name, resourceVersion: String(revision) }, text });
}

function contentOf(dir: DataDir): { readonly revision: number | undefined; readonly names: readonly string[] } {
  const state = dir.read();
  const names = [...(state?.rows() ?? [])].map(({ table, key, revision }) => `${table} ${key}@${revision}`);
  return { revision: state?.revision, names };
}

/** A data dir as a process leaves it that is killed: files are copied while it is open. */
async function killed(write: (dir: DataDir) => void): Promise<string> {
  const folder = tempFolder();
  const dir = await DataDir.open(folder, silentLogger);
  dir.begin(1_000);
  write(dir);
  const copy = tempFolder();
  cpSync(folder, copy, { recursive: true });
  dir.close();
  return copy;
}

test('objects, the last revision and secrets are those of the previous run', async () => {
  const folder = tempFolder();
  const first = await DataDir.open(folder, silentLogger);
  assert.equal(first.read(), undefined);
  first.begin(1_000);
  first.put('nodes', object('a', 1_001));
  first.put('nodes', object('b', 1_002));
  first.put('nodes', object('a', 1_003, 'changed'));
  first.remove('nodes', object('b', 1_004));
  assert.equal(await first.keepSecret('token', () => 'made'), 'made');
  first.close();
  const second = await DataDir.open(folder, silentLogger);
  assert.deepEqual(contentOf(second), { revision: 1_004, names: ['nodes a@1003'] });
  const [row] = second.read()?.rows() ?? [];
  assert.deepEqual(JSON.parse(row?.json ?? ''), { metadata: { name: 'a', resourceVersion: '1003' }, text: 'changed' });
  assert.equal(await second.keepSecret('token', () => 'another'), 'made');
  second.close();
  assert.equal(statSync(join(folder, 'objects.db')).mode & 0o077, 0, 'others may read the secrets');
});

test('an existing folder and its files are readable by the user of the process only', async () => {
  const folder = tempFolder();
  const modeOf = (name: string): string => (statSync(join(folder, name)).mode & 0o777).toString(8);
  chmodSync(folder, 0o755);
  (await DataDir.open(folder, silentLogger)).close();
  assert.deepEqual(['.', 'lock', 'objects.db'].map(modeOf), ['700', '600', '600']);
  for (const name of ['.', 'lock', 'objects.db']) chmodSync(join(folder, name), 0o755);
  (await DataDir.open(folder, silentLogger)).close();
  assert.deepEqual(['.', 'lock', 'objects.db'].map(modeOf), ['700', '600', '600']);
});

test('a folder that has files of others keeps its mode', async () => {
  const folder = tempFolder();
  writeFileSync(join(folder, 'other'), '');
  chmodSync(folder, 0o755);
  chmodSync(join(folder, 'other'), 0o644);
  (await DataDir.open(folder, silentLogger)).close();
  const modes = ['.', 'other', 'lock', 'objects.db'].map((name) => statSync(join(folder, name)).mode & 0o777);
  assert.deepEqual(modes, [0o755, 0o644, 0o600, 0o600]);
});

test('after a kill every write is there, and versions that clients may have seen are not used again', async () => {
  const folder = await killed((dir) => {
    for (let revision = 1_001; revision <= 1_050; revision += 1) dir.put('pods', object(`p-${revision % 7}`, revision));
  });
  const dir = await DataDir.open(folder, silentLogger);
  const { revision = 0, names } = contentOf(dir);
  assert.deepEqual(
    names.map((name) => Number(name.split('@')[1])).toSorted((a, b) => a - b),
    Array.from({ length: 7 }, (_, index) => 1_044 + index),
  );
  assert.ok(revision > 100_000, `revision ${revision}`);
  dir.close();
});

test('a second process is refused while the first uses the folder', async () => {
  const folder = tempFolder();
  const dir = await DataDir.open(folder, silentLogger);
  await assert.rejects(DataDir.open(folder, silentLogger), { name: 'DataDirError', message: /is in use by another/ });
  dir.close();
  (await DataDir.open(folder, silentLogger)).close();
});

test('a last record that was not written completely is dropped with a log line', async () => {
  const folder = await killed((dir) => {
    dir.put('pods', object('a', 1_001));
    dir.put('pods', object('b', 1_002));
  });
  const wal = join(folder, 'objects.db-wal');
  const bytes = readFileSync(wal);
  writeFileSync(wal, bytes.subarray(0, bytes.length - 500));
  const logger = new RecordingLogger();
  const dir = await DataDir.open(folder, logger);
  const [line] = logger.at('warn');
  assert.match(line?.message ?? '', /not written completely/);
  assert.equal(line?.fields['file'], wal);
  assert.deepEqual(contentOf(dir).names, ['pods a@1001']);
  dir.close();
});

test('a damaged record in the middle of the log is an error with file and offset, and truncating there repairs it', async () => {
  const folder = await killed((dir) => {
    for (const index of [1, 2, 3, 4]) dir.put('pods', object(`p${index}`, 1_000 + index));
  });
  const wal = join(folder, 'objects.db-wal');
  const bytes = readFileSync(wal);
  const offset = bytes.length - 2 * 4_120;
  bytes.writeUInt8(bytes.readUInt8(offset + 200) ^ 1, offset + 200);
  writeFileSync(wal, bytes);
  await assert.rejects(DataDir.open(folder, silentLogger), (error: unknown) => {
    assert.ok(error instanceof DataDirError);
    assert.ok(error.message.includes(wal) && error.message.includes(`offset ${offset} is damaged`), error.message);
    return true;
  });
  assert.deepEqual(readFileSync(wal), bytes, 'the evidence was changed');
  writeFileSync(wal, bytes.subarray(0, offset));
  const dir = await DataDir.open(folder, silentLogger);
  assert.ok(contentOf(dir).names.length >= 2);
  dir.close();
});

test('damage in the database is an error that names file and object, or file and offset', async () => {
  const folder = tempFolder();
  const first = await DataDir.open(folder, silentLogger);
  first.begin(1_000);
  for (let index = 0; index < 200; index += 1)
    first.put('pods', object(`p${index}`, 1_001 + index, 'needle'.repeat(50)));
  first.close();
  const file = join(folder, 'objects.db');
  const intact = join(folder, 'intact');
  copyFileSync(file, intact);
  const bytes = readFileSync(file);
  bytes.writeUInt8(0x58, bytes.indexOf('needle', bytes.length / 2));
  writeFileSync(file, bytes);
  const dir = await DataDir.open(folder, silentLogger);
  assert.throws(() => contentOf(dir), {
    name: 'DataDirError',
    message: /objects\.db: pods p\d+ is damaged \(checksum\)/,
  });
  dir.close();

  const structure = readFileSync(intact);
  const page = Math.floor(structure.indexOf('needle', structure.length / 2) / 4_096);
  structure.fill(0xee, page * 4_096, page * 4_096 + 64);
  writeFileSync(file, structure);
  await assert.rejects(DataDir.open(folder, silentLogger), { name: 'DataDirError', message: /objects\.db is damaged/ });
});

test('a file of another program, and one of a later format version, are refused', async () => {
  const folder = tempFolder();
  writeFileSync(join(folder, 'objects.db'), 'some text that is not a database, longer than a header of one'.repeat(20));
  await assert.rejects(DataDir.open(folder, silentLogger), { name: 'DataDirError', message: /is not a database/ });

  const other = tempFolder();
  const database = new DatabaseSync(join(other, 'objects.db'));
  database.exec('CREATE TABLE a (b)');
  database.close();
  await assert.rejects(DataDir.open(other, silentLogger), { message: /was not written by nlc apiserver/ });

  const later = tempFolder();
  (await DataDir.open(later, silentLogger)).close();
  const newer = new DatabaseSync(join(later, 'objects.db'));
  newer.exec('PRAGMA user_version = 7');
  newer.close();
  await assert.rejects(DataDir.open(later, silentLogger), {
    message: /has format version 7; this program reads version 1/,
  });
});

test('its size follows the objects, not the writes', async () => {
  const folder = tempFolder();
  const clock = new ManualClock();
  const dir = await DataDir.open(folder, silentLogger);
  dir.begin(1_000);
  const running = new AbortController();
  const loop = dir.run(clock, running.signal);
  const text = 'x'.repeat(2_000);
  const sizes: number[] = [];
  for (let round = 0, revision = 1_001; round < 12; round += 1) {
    for (let index = 0; index < 1_500; index += 1) dir.put('pods', object(`p${round}-${index}`, revision++, text));
    for (let index = 0; index < 1_500; index += 1) dir.remove('pods', object(`p${round}-${index}`, revision++, text));
    await clock.advance(1_000);
    sizes.push(statSync(join(folder, 'objects.db')).size + statSync(join(folder, 'objects.db-wal')).size);
  }
  assert.ok(Math.max(...sizes) < 48 * 1_024 * 1_024, sizes.join(' '));
  running.abort();
  await loop;
  dir.close();
  assert.ok(statSync(join(folder, 'objects.db')).size < 8 * 1_024 * 1_024);
});

test('the log has only what is not yet in the database: it is empty once writes were forced to the disk', async () => {
  const folder = tempFolder();
  const clock = new ManualClock();
  const dir = await DataDir.open(folder, silentLogger);
  dir.begin(1_000);
  const running = new AbortController();
  const loop = dir.run(clock, running.signal);
  dir.put('pods', object('a', 1_001));
  assert.notEqual(statSync(join(folder, 'objects.db-wal')).size, 0);
  await clock.advance(1_000);
  assert.equal(statSync(join(folder, 'objects.db-wal')).size, 0);
  running.abort();
  await loop;
  dir.close();
});

test('writes that could not be forced to the disk are forced by the next attempt, without another write', () => {
  const file = join(tempFolder(), 'objects.db');
  let failures = 1;
  class FullDisk extends DatabaseSync {
    override exec(sql: string): void {
      if (sql.includes('wal_checkpoint') && failures-- > 0) throw new Error('the disk is full');
      super.exec(sql);
    }
  }
  const database = ObjectDatabase.open(FullDisk, file);
  database.put('pods', object('a', 1_001));
  assert.throws(() => database.checkpoint(), /the disk is full/);
  database.checkpoint();
  assert.equal(statSync(`${file}-wal`).size, 0);
  database.close();
});

test('a damaged secret or last revision is an error that names it', async () => {
  for (const name of ['revision', 'secret/token']) {
    const folder = tempFolder();
    const first = await DataDir.open(folder, silentLogger);
    first.begin(1_000);
    await first.keepSecret('token', () => 'made');
    first.close();
    const database = new DatabaseSync(join(folder, 'objects.db'));
    database.prepare("UPDATE meta SET value = value || 'x' WHERE name = ?").run(name);
    database.close();
    const dir = await DataDir.open(folder, silentLogger);
    const read = async (): Promise<void> => {
      dir.read();
      await dir.keepSecret('token', () => 'another');
    };
    await assert.rejects(read, { name: 'DataDirError', message: new RegExp(`objects\\.db: ${name} is damaged`) });
    dir.close();
  }
});

test('a lock that cannot be opened is an error that names the folder', async () => {
  const folder = tempFolder();
  mkdirSync(join(folder, 'lock'));
  await assert.rejects(DataDir.open(folder, silentLogger), { name: 'DataDirError', message: /cannot be opened/ });
});
