import type { KubeObject, ObjectReference } from './meta.ts';

export type EventType = 'Normal' | 'Warning';

/** A core/v1 Event as on the wire: something told to people. */
export interface Event extends KubeObject {
  readonly involvedObject: ObjectReference;
  readonly type: EventType;
  readonly reason: string;
  readonly message: string;
  readonly source: { readonly component: string; readonly host?: string };
  readonly firstTimestamp: string | null;
  readonly lastTimestamp: string | null;
  readonly count: number;
  readonly eventTime: string | null;
  readonly reportingComponent: string;
  readonly reportingInstance: string;
}

/** What a stage wants to tell; who and when are the recorder's business. */
export interface EventDraft {
  readonly about: ObjectReference;
  readonly type: EventType;
  readonly reason: string;
  readonly message: string;
}
