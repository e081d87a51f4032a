/**
 * Keeps other processes from using a folder. Node.js has no file locks, SQLite has: an exclusive transaction on an empty
 * database, which the operating system ends with the process, whatever ends it.
 */
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { DataDirError, explainSqliteError } from './data-dir-error.ts';

/** The file of the database. */
export const lockName = 'lock';
const sqliteBusy = 5;

export class FolderLock {
  readonly #database: DatabaseSync;

  private constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Throws a {@link DataDirError} if another process, or another part of this one, has it. */
  static acquire(Database: typeof DatabaseSync, folder: string): FolderLock {
    let database: DatabaseSync | undefined;
    try {
      database = new Database(join(folder, lockName));
      database.exec('BEGIN EXCLUSIVE');
      return new FolderLock(database);
    } catch (error) {
      database?.close();
      if (!(error instanceof Error && 'errcode' in error && error.errcode === sqliteBusy)) {
        throw explainSqliteError(folder, error);
      }
      throw new DataDirError(`${folder} is in use by another process`);
    }
  }

  release(): void {
    this.#database.close();
  }
}
