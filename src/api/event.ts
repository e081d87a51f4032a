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

/** An events.k8s.io/v1 Event as on the wire: another form of the same object, which tells repeats as a series. */
export interface NewerEvent extends KubeObject {
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
  /** The first one included: 2 or more. */
  readonly count: number;
  readonly lastObservedTime: string;
}

/** What a stage wants to tell; who and when are the recorder's business. */
export interface EventDraft {
  readonly about: ObjectReference;
  readonly type: EventType;
  readonly reason: string;
  readonly message: string;
  /** What was done or tried, in one word. Told in events.k8s.io/v1 only, where the reason stands for it if it is absent. */
  readonly action?: string;
  /** Another object that had a part in it. Told in events.k8s.io/v1 only. */
  readonly related?: ObjectReference;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Wall time by the clock of whoever tells; the recorder's own when absent. */
  readonly toldAtMs?: number;
}
