/** Location of a setting: the file, or `(environment)`, and the field in it. */
export interface ConfigLocation {
  readonly file: string;
  readonly field: string;
}

/** The connection settings are unusable: the file, the field, and what is wrong. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  readonly file: string;
  readonly field: string;

  constructor(place: ConfigLocation, problem: string, cause?: unknown) {
    super(`${place.file}: ${place.field}: ${problem}`, cause === undefined ? undefined : { cause });
    this.file = place.file;
    this.field = place.field;
  }
}
