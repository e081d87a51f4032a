/**
 * The database of a data dir. Format version 1: `objects` has the JSON of each object, with a checksum, because SQLite
 * has none for its pages; `meta` has the last revision of a deletion, whether the last run ended properly, and secrets, with
 * checksums too.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import type { StoredObject } from '../storage/stored-object.ts';
import { DataDirError } from './data-dir-error.ts';

/** `nlc1`, as a number. */
const applicationId = 0x6e_6c_63_31;
const formatVersion = 1;
const pageBytes = 4_096;
/** Pages that deletions freed are given back, above this number, so many at once. */
const freePagesMax = 1_024;

const openingBrace = Buffer.from('{');
const noBytes = Buffer.alloc(0);

/** An object as it was written. */
export interface StoredRow {
  readonly table: string;
  readonly revision: number;
  readonly key: string;
  /** JSON of the object without kind and apiVersion. */
  readonly json: string;
}

export class ObjectDatabase {
  readonly file: string;
  /** Whether the previous run ended properly. */
  readonly endedProperly: boolean;
  readonly #database: DatabaseSync;
  readonly #put: StatementSync;
  readonly #remove: StatementSync;
  readonly #setMeta: StatementSync;
  readonly #getMeta: StatementSync;
  #hasChanged = false;

  private constructor(file: string, database: DatabaseSync) {
    this.file = file;
    this.#database = database;
    this.#put = database.prepare(
      'INSERT INTO objects (resource, key, revision, crc, json) VALUES (?, ?, ?, ?, ?) ' +
        'ON CONFLICT DO UPDATE SET revision = excluded.revision, crc = excluded.crc, json = excluded.json',
    );
    this.#remove = database.prepare('DELETE FROM objects WHERE resource = ? AND key = ?');
    this.#setMeta = database.prepare(
      'INSERT INTO meta (name, value, crc) VALUES (?, ?, ?) ' +
        'ON CONFLICT DO UPDATE SET value = excluded.value, crc = excluded.crc',
    );
    this.#getMeta = database.prepare('SELECT value, crc FROM meta WHERE name = ?');
    this.endedProperly = this.#meta('ended') !== 'no';
  }

  /** Creates the tables in an empty file. Throws a {@link DataDirError} for a file of another program or version. */
  static open(Database: typeof DatabaseSync, file: string): ObjectDatabase {
    const database = new Database(file);
    try {
      // Before the first access: without other processes it needs no memory shared with them.
      database.exec('PRAGMA locking_mode = EXCLUSIVE');
      assertFormat(database, file);
      assertIntact(database, file);
      database.exec(
        `PRAGMA page_size = ${pageBytes}; PRAGMA auto_vacuum = INCREMENTAL;` +
          'PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;' +
          'CREATE TABLE IF NOT EXISTS objects (resource TEXT, key TEXT, revision INTEGER, crc INTEGER, json BLOB,' +
          ' PRIMARY KEY (resource, key));' +
          'CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT, crc INTEGER);' +
          `PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${formatVersion}`,
      );
      return new ObjectDatabase(file, database);
    } catch (error) {
      database.close();
      throw error;
    }
  }

  /** Undefined before the first {@link begin}. Throws a {@link DataDirError} if it is damaged. */
  lastRevision(): number | undefined {
    const kept = this.#meta('revision');
    if (kept === undefined) return undefined;
    const row = this.#database.prepare('SELECT max(revision) AS revision FROM objects').get();
    return Math.max(Number(kept), Number(row?.['revision'] ?? 0));
  }

  /** Every object, in key order. Throws a {@link DataDirError} for one whose checksum is wrong. */
  *rows(): Generator<StoredRow> {
    const select = this.#database.prepare(
      'SELECT resource, key, revision, crc, json FROM objects ORDER BY resource, key',
    );
    for (const { resource, key, revision, crc, json } of select.iterate()) {
      const row = { table: String(resource), key: String(key), revision: Number(revision) };
      const bytes = json instanceof Uint8Array ? Buffer.from(json.buffer, json.byteOffset, json.byteLength) : noBytes;
      if (crcOf(row, bytes) !== crc)
        throw new DataDirError(`${this.file}: ${row.table} ${row.key} is damaged (checksum)`);
      yield { ...row, json: bytes.toString() };
    }
  }

  /** Notes that a run uses it, from this revision on. */
  begin(revision: number): void {
    this.#transaction(() => {
      this.#keepMeta('revision', String(revision));
      this.#keepMeta('ended', 'no');
    });
  }

  put(table: string, { key, revision, tail }: StoredObject): void {
    const json = Buffer.concat([openingBrace, ...tail]);
    this.#put.run(table, key, revision, crcOf({ table, key, revision }, json), json);
    this.#hasChanged = true;
  }

  remove(table: string, { key, revision }: StoredObject): void {
    this.#transaction(() => {
      this.#remove.run(table, key);
      this.#keepMeta('revision', String(revision));
    });
  }

  /** Throws a {@link DataDirError} if it is damaged. */
  secret(name: string): string | undefined {
    return this.#meta(`secret/${name}`);
  }

  keepSecret(name: string, value: string): void {
    this.#keepMeta(`secret/${name}`, value);
    this.#hasChanged = true;
  }

  /**
   * Forces all writes to the disk, and gives unused pages back. Does nothing if there was no write since it last succeeded.
   * The log is empty afterwards: it never has records that the database has too, which would be older where it has been
   * damaged.
   */
  checkpoint(): void {
    if (!this.#hasChanged) return;
    const free = Number(this.#database.prepare('PRAGMA freelist_count').get()?.['freelist_count'] ?? 0);
    if (free > freePagesMax) this.#database.exec(`PRAGMA incremental_vacuum(${freePagesMax})`);
    this.#database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    this.#hasChanged = false;
  }

  /** Notes that the run ends properly. */
  end(): void {
    this.#keepMeta('ended', 'yes');
  }

  close(): void {
    this.#database.close();
  }

  #meta(name: string): string | undefined {
    const row = this.#getMeta.get(name);
    if (row === undefined) return undefined;
    const value = String(row['value']);
    if (metaCrcOf(name, value) !== row['crc']) throw new DataDirError(`${this.file}: ${name} is damaged (checksum)`);
    return value;
  }

  #keepMeta(name: string, value: string): void {
    this.#setMeta.run(name, value, metaCrcOf(name, value));
  }

  #transaction(work: () => void): void {
    this.#database.exec('BEGIN');
    try {
      work();
      this.#database.exec('COMMIT');
      this.#hasChanged = true;
    } catch (error) {
      // SQLite itself rolls back after some errors.
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  }
}

function assertFormat(database: DatabaseSync, file: string): void {
  const id = Number(database.prepare('PRAGMA application_id').get()?.['application_id']);
  const version = Number(database.prepare('PRAGMA user_version').get()?.['user_version']);
  const tables = Number(database.prepare('SELECT count(*) AS tables FROM sqlite_schema').get()?.['tables']);
  if (id === 0 && version === 0 && tables === 0) return;
  if (id !== applicationId) throw new DataDirError(`${file} was not written by nlc apiserver`);
  if (version === formatVersion) return;
  throw new DataDirError(`${file} has format version ${version}; this program reads version ${formatVersion}`);
}

/** The structure of the file; the content of objects is checked when they are read. */
function assertIntact(database: DatabaseSync, file: string): void {
  const found = String(database.prepare('PRAGMA quick_check(1)').get()?.['quick_check']);
  if (found === 'ok') return;
  const page = /page (\d+)/.exec(found)?.[1];
  const where = page === undefined ? '' : ` at offset ${(Number(page) - 1) * pageBytes}`;
  throw new DataDirError(`${file} is damaged${where} (${found.replaceAll('\n', ' ')})`);
}

function metaCrcOf(name: string, value: string): number {
  return crc32(value, crc32(`${name} `));
}

function crcOf({ table, key, revision }: Omit<StoredRow, 'json'>, json: Buffer): number {
  return crc32(json, crc32(`${table} ${key} ${revision} `));
}
