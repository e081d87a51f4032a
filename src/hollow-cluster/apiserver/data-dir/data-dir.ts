/**
 * A folder in which an API server keeps its state: objects, the last revision, and its secrets, as one SQLite database.
 * Each write is a transaction that is handed to the operating system before the request is answered, so that it survives
 * the end of the process in any way; every second it is forced to the disk, so that a power failure loses a second.
 */
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../../machinery/ports/clock.ts';
import type { Logger } from '../../../machinery/ports/logger.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { StoreJournal } from '../storage/versioned-store.ts';
import { assessWal } from './assess-wal.ts';
import { DataDirError, explainSqliteError } from './data-dir-error.ts';
import { FolderLock, lockName } from './folder-lock.ts';
import { ObjectDatabase, type StoredRow } from './object-database.ts';

const databaseName = 'objects.db';
/** Files of the folder, with those that SQLite makes beside each of them. */
const ownFiles = new Set(
  [databaseName, lockName].flatMap((name) => ['', '-wal', '-shm', '-journal'].map((end) => name + end)),
);
/** Mode of the folder, which contains the admin token and private keys. */
const folderMode = 0o700;
const fileMode = 0o600;
const checkpointPeriodMs = 1_000;
/**
 * Added after a run that did not end properly: a version that a client saw, and that a power failure took, is not given
 * to another state.
 */
const revisionsSkipped = 100_000;

/** What a data dir contained when it was opened. */
interface StoredState {
  readonly revision: number;
  rows(): Iterable<StoredRow>;
}

export class DataDir implements StoreJournal {
  readonly folder: string;
  readonly #database: ObjectDatabase;
  readonly #lock: FolderLock;
  readonly #logger: Logger;
  #isFailing = false;

  private constructor(folder: string, database: ObjectDatabase, lock: FolderLock, logger: Logger) {
    this.folder = folder;
    this.#database = database;
    this.#lock = lock;
    this.#logger = logger;
  }

  /**
   * Creates the folder if it is missing. Rejects with a {@link DataDirError} if another process uses it, its format is
   * another one, or it is damaged.
   */
  static async open(folder: string, logger: Logger): Promise<DataDir> {
    // Loaded on first use: most commands need no database.
    const { DatabaseSync } = await import('node:sqlite');
    makeFolder(folder);
    const lock = FolderLock.acquire(DatabaseSync, folder);
    const file = join(folder, databaseName);
    try {
      recoverable(`${file}-wal`, logger);
      const database = explained(file, () => ObjectDatabase.open(DatabaseSync, file));
      return new DataDir(folder, database, lock, logger);
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  /** Content of the folder; undefined for a new one. Throws a {@link DataDirError} for a damaged object. */
  read(): StoredState | undefined {
    return explained(this.#database.file, () => {
      const revision = this.#database.lastRevision();
      if (revision === undefined) return undefined;
      const skipped = this.#database.endedProperly ? 0 : revisionsSkipped;
      if (skipped > 0) this.#logger.info({ folder: this.folder, skipped }, 'previous run did not end properly');
      return { revision: revision + skipped, rows: () => this.#database.rows() };
    });
  }

  /** Begins the use of the folder, after its state was read: from now on it counts as in use. */
  begin(revision: number): void {
    this.#write(() => {
      this.#database.begin(revision);
      // A power failure must not leave the proper end of the run before.
      this.#database.checkpoint();
    });
  }

  put(table: string, object: StoredObject): void {
    this.#write(() => this.#database.put(table, object));
  }

  remove(table: string, object: StoredObject): void {
    this.#write(() => this.#database.remove(table, object));
  }

  /** The secret of that name: the one that an earlier run made, otherwise a new one. */
  async keepSecret(name: string, make: () => string | Promise<string>): Promise<string> {
    const kept = this.#database.secret(name);
    if (kept !== undefined) return kept;
    const made = await make();
    this.replaceSecret(name, made);
    return made;
  }

  replaceSecret(name: string, value: string): void {
    this.#write(() => this.#database.keepSecret(name, value));
  }

  /** Forces writes to the disk each second, until the signal aborts. */
  async run(clock: Clock, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await clock.sleep(checkpointPeriodMs, signal);
      this.#checkpoint();
    }
  }

  /** No write may follow. Never throws: what cannot be written, as with a full disk, is logged. */
  close(): void {
    try {
      this.#database.end();
    } catch (error) {
      // The next start treats the run as one that was killed.
      this.#logger.warn({ error, file: this.#database.file }, 'cannot note the proper end of the run');
    }
    this.#database.close();
    this.#lock.release();
  }

  #checkpoint(): void {
    try {
      this.#database.checkpoint();
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#logger.error({ error, file: this.#database.file }, 'cannot force writes to the disk');
      this.#isFailing = true;
    }
  }

  #write(work: () => void): void {
    explained(this.#database.file, work);
  }
}

/** Only the user of the process may read the files and, unless it has files of others, the folder. */
function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: folderMode });
    for (const file of [databaseName, lockName].map((name) => join(folder, name))) {
      // An existing file is not opened: closing it would end the locks that another part of this process has on it.
      if (!existsSync(file)) closeSync(openSync(file, 'a', fileMode));
    }
    const names = readdirSync(folder);
    if (names.every((name) => ownFiles.has(name))) chmodSync(folder, folderMode);
    for (const name of names) if (ownFiles.has(name)) chmodSync(join(folder, name), fileMode);
  } catch (error) {
    throw new DataDirError(`cannot write to ${folder}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Logs what the end of a process interrupted; throws if more than that is damaged. */
function recoverable(walFile: string, logger: Logger): void {
  if (!existsSync(walFile)) return;
  const state = assessWal(readFileSync(walFile));
  if (state.kind === 'torn') {
    const { offset, bytes } = state;
    logger.warn({ file: walFile, offset, bytes }, 'dropped the last record, which was not written completely');
  }
  if (state.kind === 'corrupt') {
    const { offset, later } = state;
    const advice = `to continue with the state before it, copy the folder and then run: truncate --size=${offset} ${JSON.stringify(walFile)}`;
    throw new DataDirError(`${walFile}: the record at offset ${offset} is damaged (${later} follow); ${advice}`);
  }
}

function explained<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw explainSqliteError(file, error);
  }
}
