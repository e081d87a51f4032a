import type { Node } from '../../../machinery/api/node.ts';
import type { Labels } from '../../../machinery/api/topology.ts';
import type { Clock } from '../../../machinery/ports/clock.ts';
import type { EventRecorder } from '../../../machinery/ports/event-recorder.ts';
import type { Logger } from '../../../machinery/ports/logger.ts';
import type { Random } from '../../../machinery/ports/random.ts';
import type { Semaphore } from '../loops/semaphore.ts';
import type { FakeMachine } from '../machine/fake-machine.ts';
import type { NodeApi } from '../network/fault-injecting-client.ts';
import type { KubeletProfile } from '../profile.ts';

/** The kubelet's cached copy of its own node. */
interface NodeLister {
  /** Undefined if there is no such node; `frozen` while the watch stalls, and the last returned state stays valid. */
  get(name: string): Node | 'frozen' | undefined;
}

/** Options of a node, of which each part of its kubelet takes those that it needs. */
export interface NodeOptions {
  readonly name: string;
  /** The kubelet's own labels, which override the defaults. */
  readonly labels: Labels;
  /** Outlives this kubelet; faults are injected here. */
  readonly machine: FakeMachine;
  readonly profile: KubeletProfile;
  readonly api: NodeApi;
  /** Lister for its own node. */
  readonly nodes: NodeLister;
  /** Shared by the fleet: limits the number of concurrent registrations. */
  readonly registrations: Semaphore;
  /** Called after the second and each further consecutive failed heartbeat: the connection may be at fault. */
  readonly onRepeatedFailure?: (() => void) | undefined;
  readonly recorder: EventRecorder;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}
