import type { EventType } from '../../../machinery/api/event.ts';
import type { Node } from '../../../machinery/api/node.ts';
import type { Labels } from '../../../machinery/api/topology.ts';
import { buildNodeReference } from '../../../machinery/events/build-reference.ts';
import type { Clock } from '../../../machinery/ports/clock.ts';
import type { EventRecorder } from '../../../machinery/ports/event-recorder.ts';
import type { Logger } from '../../../machinery/ports/logger.ts';
import type { Meter } from '../../../machinery/ports/meter.ts';
import { abortReason } from '../../../machinery/supervision/abort.ts';
import type { FakeMachine } from '../machine/fake-machine.ts';
import type { KubeletProfile } from '../profile.ts';
import { buildPlatform, withPlatformLabels } from './build-node.ts';
import { statusSetterSeconds } from './metrics.ts';
import type { NodeHealth, NodeVolumes, SetterContext, SetterMemory, StatusSetter } from './setter-context.ts';

interface NodeComposerOptions {
  readonly name: string;
  /** The kubelet's own labels, which override the defaults. */
  readonly labels: Labels;
  readonly setters: readonly StatusSetter[];
  readonly profile: KubeletProfile;
  readonly machine: FakeMachine;
  readonly health: NodeHealth;
  readonly volumes: NodeVolumes;
  readonly recorder: EventRecorder;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly meter: Meter | undefined;
}

/** Runs the chain of status setters over a node: for registration and for every status update. */
export class NodeComposer {
  readonly #options: NodeComposerOptions;
  readonly #memory: SetterMemory = { unschedulable: false, rebootReported: false };
  /** Monotonic times at which custom pressures were last observed. */
  #observed: Map<string, number> | undefined;

  constructor(options: NodeComposerOptions) {
    this.#options = options;
  }

  /** The node with its current status. A setter that fails, or times out, leaves the node as it was before it. */
  async compose(node: Node): Promise<Node> {
    const running = { setter: '' };
    const context = this.#context(node, running);
    let composed = withPlatformLabels(node, context.platform);
    for (const setter of this.#options.setters) {
      running.setter = setter.name;
      const result = this.#run(setter, composed, context);
      composed = result instanceof Promise ? await this.#within(setter, composed, result) : result;
    }
    return composed;
  }

  #run(setter: StatusSetter, node: Node, context: SetterContext): Node | Promise<Node> {
    try {
      return setter.set(node, context);
    } catch (error) {
      this.#logError(setter.name, String(error));
      return node;
    }
  }

  /** An asynchronous setter delays the heartbeat: it has a time limit. */
  async #within(setter: StatusSetter, node: Node, result: Promise<Node>): Promise<Node> {
    const { clock, profile, meter } = this.#options;
    const startedAtMs = clock.monotonicMs();
    const done = new AbortController();
    const late = clock.sleep(profile.statusSetterMsMax, done.signal).then(() => undefined);
    try {
      const composed = await Promise.race([result, late]);
      if (composed !== undefined) return composed;
      this.#logError(setter.name, `timed out after ${profile.statusSetterMsMax} ms`);
    } catch (error) {
      this.#logError(setter.name, String(error));
    } finally {
      done.abort(abortReason);
      meter?.observe(statusSetterSeconds, (clock.monotonicMs() - startedAtMs) / 1_000, { setter: setter.name });
    }
    return node;
  }

  #logError(setter: string, problem: string): void {
    this.#options.logger.error({ setter, error: problem }, 'failed to set some node status fields');
  }

  #context(node: Node, running: { readonly setter: string }): SetterContext {
    const { name, labels, profile, machine, health, volumes, recorder, clock } = this.#options;
    const nowMs = clock.nowMs();
    const about = buildNodeReference({ name, uid: node.metadata.uid }, profile.nodeEventUid);
    const record = (type: EventType, reason: string, message: string): void => {
      recorder.record({ about, type, reason, message });
    };
    return {
      nodeName: name,
      profile,
      machine,
      health,
      volumes,
      memory: this.#memory,
      platform: buildPlatform(labels),
      now: () => nowMs,
      recordNodeEvent: record,
      recordNodeStatusEvent: (type, reason) => record(type, reason, `Node ${name} status is now: ${reason}`),
      hold: (type, isUnderPressure) => this.#hold(type, isUnderPressure),
      report: (problem) => this.#logError(running.setter, problem),
    };
  }

  #hold(type: string, isUnderPressure: boolean): boolean {
    const { clock, profile } = this.#options;
    const nowMs = clock.monotonicMs();
    if (isUnderPressure) {
      this.#observed ??= new Map();
      this.#observed.set(type, nowMs);
      return true;
    }
    const observedAtMs = this.#observed?.get(type);
    return observedAtMs !== undefined && nowMs - observedAtMs < profile.evictionPressureTransitionPeriodMs;
  }
}
