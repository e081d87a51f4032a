/** One request of the table, in a form that both servers are sent. */
import type { Json } from '../client.ts';

export interface RequestRow {
  /** Unique: the recorded answer is found by it. */
  readonly name: string;
  /** Default: GET. */
  readonly method?: string;
  /** `$NS`, `$NODE` and `$UID` stand for the names and the uid of the objects of {@link Fixture}. */
  readonly path: string;
  /** An object is sent as JSON, a text as it is. */
  readonly body?: Json;
  /** Content type; default: JSON. */
  readonly type?: string;
  readonly accept?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Fields of the object that are compared if it succeeds. */
  readonly shows?: readonly string[];
}

/** What is compared of an answer. Of a success, the code, the warnings and the fields that the row shows. */
export interface RecordedAnswer {
  readonly code: number;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: Json;
  readonly warnings?: readonly string[];
  readonly shown?: Json;
  /** The body of an answer that is no Status. */
  readonly text?: string;
}

export const applyPatch = 'application/apply-patch+yaml';
