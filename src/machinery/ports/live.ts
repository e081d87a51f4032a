/**
 * A value that may be replaced while the process runs, always as a whole: a reader never sees a partial change. Code calls
 * `current()` at each decision and keeps no part of the result.
 */
export interface Live<T> {
  current(): T;
}
