import type { KubeObject, ObjectReference } from './meta.ts';

export type EventType = 'Normal' | 'Warning';

/** A core/v1 Event as on the wire. */
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

/** An events.k8s.io/v1 Event as on the wire: another form of the same object, with repeats as a series. */
export interface EventV1 extends KubeObject {
  readonly eventTime: string;
  readonly series?: EventSeries;
  readonly reportingController: string;
  readonly reportingInstance: string;
  readonly action: string;
  readonly reason: string;
  readonly regarding: ObjectReference;
  readonly related?: ObjectReference;
  readonly note: string;
  readonly type: EventType;
}

export interface EventSeries {
  /** Includes the first occurrence: 2 or more. */
  readonly count: number;
  readonly lastObservedTime: string;
}

/** The content of an Event; the recorder adds the source and the timestamps. */
export interface EventDraft {
  readonly about: ObjectReference;
  readonly type: EventType;
  readonly reason: string;
  readonly message: string;
  /** Action in one word. Only in events.k8s.io/v1, where it defaults to the reason. */
  readonly action?: string;
  /** A secondary object. Only in events.k8s.io/v1. */
  readonly related?: ObjectReference;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Wall time by the reporter's clock; defaults to the recorder's clock. */
  readonly reportedAtMs?: number;
}
