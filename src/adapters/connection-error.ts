/** Where a setting stands: the file, or `(environment)`, and the field in it. */
export interface Place {
  readonly file: string;
  readonly field: string;
}

/** We do not know how to reach a server, or as whom: which file, which field of it, and what is wrong there. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  readonly file: string;
  readonly field: string;

  constructor(place: Place, problem: string, cause?: unknown) {
    super(`${place.file}: ${place.field}: ${problem}`, cause === undefined ? undefined : { cause });
    this.file = place.file;
    this.field = place.field;
  }
}
