/** A data dir cannot be used or written; the message says which file and why. */
export class DataDirError extends Error {
  override readonly name = 'DataDirError';
}

/** Primary result codes of SQLite (https://www.sqlite.org/rescode.html): the low byte of an extended one. */
const primaryMask = 0xff;
const causes: Readonly<Record<number, string>> = {
  5: 'is in use by another process',
  8: 'is read-only',
  10: 'cannot be read or written (disk I/O error)',
  11: 'is damaged',
  13: 'cannot be written: the disk is full',
  14: 'cannot be opened',
  26: 'is not a database',
};

/** An error of SQLite as one that names the file; any other error unchanged. */
export function explainSqliteError(file: string, error: unknown): unknown {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return error;
  const cause = causes[error.errcode & primaryMask] ?? 'failed';
  return new DataDirError(`${file} ${cause} (SQLite: ${error.message}, code ${error.errcode})`, { cause: error });
}
