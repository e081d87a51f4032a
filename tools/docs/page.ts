/** A file that is generated, relative to the root. */
export interface Page {
  readonly path: string;
  readonly text: string;
}
