/** A broken promise of the controller. */
export interface Violation {
  /** Virtual time. */
  readonly atMs: number;
  /** The invariant, as a short name: a run that is shrunk has to break the same one. */
  readonly invariant: string;
  /** The node, pod or replica. */
  readonly subject: string;
  readonly text: string;
}

export type Report = (invariant: string, subject: string, text: string) => void;
