/** Everything the controller may ask of the world. A command is a value: it can be printed, counted, compared, refused. */
import type { ApiReason } from '../api/api-error.ts';
import type { Condition } from '../api/conditions.ts';
import type { NodeView } from '../api/node.ts';
import type { PodView } from '../api/pod.ts';
import type { Taint } from '../api/taints.ts';
import type { Labels } from '../api/topology.ts';

export type Command =
  | {
      readonly kind: 'set-node-conditions';
      /** The node as it was judged. Another version on the server refuses the write. */
      readonly node: NodeView;
      readonly conditions: readonly Condition[];
    }
  | {
      readonly kind: 'change-taints';
      readonly node: NodeView;
      readonly add: readonly Taint[];
      readonly remove: readonly Taint[];
      readonly urgency: 'untaint' | 'no-execute' | 'other';
    }
  | { readonly kind: 'set-node-labels'; readonly node: NodeView; readonly labels: Labels }
  | { readonly kind: 'mark-pod-not-ready'; readonly pod: PodView; readonly atMs: number }
  | { readonly kind: 'mark-pod-disrupted'; readonly pod: PodView; readonly atMs: number }
  | {
      readonly kind: 'mark-pod-failed';
      readonly pod: PodView;
      readonly atMs: number;
      /** Said with it as DisruptionTarget=True, where somebody should learn why. */
      readonly disruption: DisruptionWords | undefined;
    }
  /** Its status says that its node was given up. */
  | { readonly kind: 'mark-pod-lost'; readonly pod: PodView }
  | {
      readonly kind: 'delete-pod';
      readonly pod: PodView;
      /** Absent: the pod's own. 0 does not wait for a kubelet. */
      readonly gracePeriodSeconds?: number;
    };

/** Reason and message of a DisruptionTarget condition. */
export interface DisruptionWords {
  readonly reason: string;
  readonly message: string;
}

/** What became of a command. `gone`: its object no longer exists, so there is nothing left to want. */
export type WriteOutcome =
  | { readonly result: 'written' }
  | { readonly result: 'gone' }
  | { readonly result: 'not-leader' }
  | { readonly result: 'failed'; readonly reason: ApiReason; readonly retryAfterMs: number | undefined };

/** The one hand that writes, as the stages see it. Never rejects. */
export interface CommandWriter {
  carryOut(command: Command): Promise<WriteOutcome>;
}

/** The same, for whoever starts and ends it. */
export interface ClosableWriter extends CommandWriter {
  /** Lets what was sent come to its end and sends nothing more. What still waits is answered as if we did not lead. */
  close(): void;
  /** Resolves when nothing waits to be written and nothing is under way. */
  drained(): Promise<void>;
}

/** Reading nodes so that our own writes show at once, even before the watch brings them back. */
export interface NodeSource {
  get(name: string): NodeView | undefined;
}
