// The small world with a shadow controller beside it, which has its own options and writes nothing. The acting controllers
// are the world's own controller, if it is started, or the test.
import { formatTime } from '../../src/machinery/api/timestamps.ts';
import { selectControllers } from '../../src/cli/controller/rules.ts';
import type { NotedDecision } from '../../src/controller/decision-log/decision-log.ts';
import { describeDecision } from '../../src/controller/decision-log/describe-decision.ts';
import { NodeLifecycle } from '../../src/controller/node-lifecycle.ts';
import {
  type ControllerOptions,
  type ControllerSelection,
  defaultControllerOptions,
  defaultPodGcOptions,
  runningParts,
} from '../../src/controller/model/options.ts';
import type { EpisodeReport } from '../../src/controller/shadow/report.ts';
import { ShadowMode } from '../../src/controller/shadow/shadow-mode.ts';
import { ControllerWorld } from './controller-world.ts';
import { OpenLanes } from './open-lanes.ts';
import { RecordingLogger, RecordingMeter } from './fakes.ts';
import { liveLeases } from './live-leases.ts';

export const unreachable = 'node.kubernetes.io/unreachable';

const refuse = (): Promise<never> => Promise.reject(new Error('a shadow tried to write'));

export class ShadowWorld {
  /** The current state, as changed by the acting controllers. */
  readonly world: ControllerWorld;
  readonly mode: ShadowMode;
  readonly shadow: NodeLifecycle;
  readonly logger = new RecordingLogger();
  readonly meter = new RecordingMeter();
  readonly decisions: NotedDecision[] = [];
  readonly #stop = new AbortController();
  #running: Promise<unknown> | undefined;

  constructor(
    shadow: Partial<ControllerOptions> = {},
    actingOptions: Partial<ControllerOptions> = {},
    selection: Partial<ControllerSelection> = {},
    before: (world: ControllerWorld) => void = () => undefined,
  ) {
    this.world = new ControllerWorld(actingOptions);
    before(this.world);
    const options = { ...defaultControllerOptions, ...shadow };
    const controllers = { ...selectControllers('*'), ...selection };
    const { clock, nodes, leases, pods } = this.world;
    const dependencies = { clock, logger: this.logger, meter: this.meter };
    this.mode = new ShadowMode({
      ...dependencies,
      informers: { nodes, leases, pods },
      options: { current: () => options },
      runs: runningParts(controllers, options),
      decisionsOf: (subject) =>
        this.shadow.stages.decisions.of(subject).map((noted) => ({ ...noted, text: describeDecision(noted.decision) })),
    });
    this.shadow = new NodeLifecycle({
      ...dependencies,
      options: { current: () => options },
      controllers,
      podGc: { current: () => defaultPodGcOptions },
      informers: this.mode.informers,
      api: { get: refuse, patch: refuse, delete: refuse, evict: refuse },
      writer: this.mode.writer,
      liveLeases: liveLeases(() => Promise.resolve(new Map([...leases.values()].map((lease) => [lease.name, lease])))),
      lanes: new OpenLanes(),
      leadership: { holds: () => true },
      recorders: { nodes: { record: () => undefined }, evictions: { record: () => undefined } },
    });
    this.shadow.stages.decisions.onDecision((noted) => this.decisions.push(noted));
  }

  start(): void {
    this.#running = Promise.all([this.shadow.lead(this.#stop.signal), this.mode.run(this.#stop.signal)]);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.world.clock.advance(0);
    await this.#running;
  }

  /** Three nodes in each of two zones, all healthy; one pod on a0 for each of these tolerations of its taint, in seconds. */
  populate(pods: Readonly<Record<string, number | undefined>> = {}): void {
    for (const zone of ['a', 'b']) this.world.addNodes([`${zone}0`, `${zone}1`, `${zone}2`], { zone });
    for (const [name, seconds] of Object.entries(pods)) {
      const toleration = { key: unreachable, operator: 'Exists', effect: 'NoExecute' } as const;
      const tolerations = seconds === undefined ? [] : [{ ...toleration, tolerationSeconds: seconds }];
      this.world.addPod(name, 'a0', tolerations);
    }
  }

  advance(seconds: number): Promise<void> {
    return this.world.advance(seconds);
  }

  silentFor(seconds: number, ...names: readonly string[]): Promise<void> {
    return this.world.silentFor(seconds, ...names);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await this.world.stop();
  }

  // --- actions of the acting controllers ---

  theyCallUnknown(name: string): void {
    const node = this.world.node(name);
    const at = formatTime(this.world.clock.nowMs());
    const conditions = (node.status?.conditions ?? []).map((condition) => {
      return condition.type === 'Ready'
        ? { ...condition, status: 'Unknown', reason: 'NodeStatusUnknown', lastTransitionTime: at }
        : condition;
    });
    this.world.putNode({ ...node, status: { ...node.status, conditions } });
  }

  theyTaint(name: string, effect: 'NoSchedule' | 'NoExecute'): void {
    const taints = this.world.node(name).spec?.taints ?? [];
    const timeAdded = formatTime(this.world.clock.nowMs());
    this.world.setTaints(name, [...taints, { key: unreachable, effect, timeAdded }]);
  }

  theyUntaint(name: string): void {
    this.world.setTaints(name, []);
  }

  theyMark(name: string): void {
    const at = formatTime(this.world.clock.nowMs());
    this.world.changePod(name, (pod) => {
      return {
        ...pod,
        status: { ...pod.status, conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: at }] },
      };
    });
  }

  /** With the DisruptionTarget condition, and without a kubelet that ends the pod. */
  theyDelete(name: string, reason: string | undefined, { isGone = true } = {}): void {
    const at = formatTime(this.world.clock.nowMs());
    this.world.changePod(name, (pod) => {
      const said = reason === undefined ? [] : [{ type: 'DisruptionTarget', status: 'True', reason }];
      const conditions = [...(pod.status?.conditions ?? []), ...said];
      return { ...pod, metadata: { ...pod.metadata, deletionTimestamp: at }, status: { ...pod.status, conditions } };
    });
    if (isGone) this.world.removePod(name);
  }

  // --- results ---

  /** Oldest first. */
  episodes(): readonly EpisodeReport[] {
    return this.mode.report().episodes.toReversed();
  }

  /** `act subject outcome`, and the difference between both in whole seconds if both acted. */
  outcomes(): readonly string[] {
    return this.episodes().map(({ act, subject, outcome, differenceSeconds }) => {
      const by = differenceSeconds === null ? '' : ` ${Math.round(differenceSeconds)} s`;
      return `${act} ${subject} ${outcome}${by}`;
    });
  }
}
