// The small world with a shadow beside it. They, the controllers that act, are the world's own controller when it is started,
// or the test; we are a second one with options of its own, that writes nothing.
import { formatTime } from '../../src/api/timestamps.ts';
import type { NotedDecision } from '../../src/controller/decision-log.ts';
import { describeDecision } from '../../src/controller/describe-decision.ts';
import { NodeLifecycle, podsByNode } from '../../src/controller/node-lifecycle.ts';
import {
  type ControllerOptions,
  type ControllerSelection,
  defaultControllerOptions,
  defaultControllerSelection,
  defaultPodGcOptions,
  runningParts,
} from '../../src/controller/options.ts';
import type { EpisodeReport } from '../../src/controller/shadow/report.ts';
import { ShadowMode } from '../../src/controller/shadow/shadow-mode.ts';
import { ControllerWorld } from './controller-world.ts';
import { OpenLanes } from './open-lanes.ts';
import { KeepingLogger, KeepingMeter } from './quiet.ts';

export const unreachable = 'node.kubernetes.io/unreachable';

const refuse = (): Promise<never> => Promise.reject(new Error('a shadow tried to write'));

export class ShadowWorld {
  /** As it is, and as they make it. */
  readonly world: ControllerWorld;
  readonly mode: ShadowMode;
  readonly ours: NodeLifecycle;
  readonly logger = new KeepingLogger();
  readonly meter = new KeepingMeter();
  readonly decisions: NotedDecision[] = [];
  readonly #stop = new AbortController();
  #running: Promise<unknown> | undefined;

  constructor(
    ours: Partial<ControllerOptions> = {},
    theirs: Partial<ControllerOptions> = {},
    selection: Partial<ControllerSelection> = {},
    before: (world: ControllerWorld) => void = () => undefined,
  ) {
    this.world = new ControllerWorld(theirs);
    before(this.world);
    const options = { ...defaultControllerOptions, ...ours };
    const controllers = { ...defaultControllerSelection, ...selection };
    const { clock, nodes, leases, pods } = this.world;
    const means = { clock, logger: this.logger, meter: this.meter };
    this.mode = new ShadowMode({
      ...means,
      informers: { nodes, leases, pods },
      podsByNode,
      options,
      runs: runningParts(controllers, options),
      decisionsOf: (subject) =>
        this.ours.stages.decisions.of(subject).map((noted) => ({ ...noted, text: describeDecision(noted.decision) })),
    });
    this.ours = new NodeLifecycle({
      ...means,
      options,
      controllers,
      podGc: defaultPodGcOptions,
      informers: this.mode.informers,
      api: { get: refuse, patch: refuse, delete: refuse },
      writer: this.mode.writer,
      liveLeases: {
        read: (names) => {
          const found = names
            .map((name) => leases.get(`kube-node-lease/${name}`))
            .filter((lease) => lease !== undefined);
          return Promise.resolve(new Map(found.map((lease) => [lease.name, lease])));
        },
        probe: () => Promise.resolve(),
      },
      lanes: new OpenLanes(),
      leadership: { holds: () => true },
      recorders: { nodes: { record: () => undefined }, evictions: { record: () => undefined } },
    });
    this.ours.stages.decisions.onDecision((noted) => this.decisions.push(noted));
  }

  start(): void {
    this.#running = Promise.all([this.ours.lead(this.#stop.signal), this.mode.run(this.#stop.signal)]);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.world.clock.advance(0);
    await this.#running;
  }

  /** Three nodes in each of two zones, all alive; one pod on a0 for each of these tolerations of its taint, in seconds. */
  populate(pods: Readonly<Record<string, number | undefined>> = {}): void {
    for (const zone of ['a', 'b']) {
      for (const place of [0, 1, 2]) this.world.addNode(`${zone}${place}`, { zone });
    }
    this.world.renewing('a0', 'a1', 'a2', 'b0', 'b1', 'b2');
    for (const [name, seconds] of Object.entries(pods)) {
      const toleration = { key: unreachable, operator: 'Exists', effect: 'NoExecute' } as const;
      const tolerations = seconds === undefined ? [] : [{ ...toleration, tolerationSeconds: seconds }];
      this.world.addPod(name, 'a0', tolerations);
    }
  }

  advance(seconds: number): Promise<void> {
    return this.world.advance(seconds);
  }

  // --- what they do ---

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

  /** With the condition that says who does it, and no more than that if there is no kubelet to end it. */
  theyDelete(name: string, reason: string | undefined, { isGone = true } = {}): void {
    const at = formatTime(this.world.clock.nowMs());
    this.world.changePod(name, (pod) => {
      const said = reason === undefined ? [] : [{ type: 'DisruptionTarget', status: 'True', reason }];
      const conditions = [...(pod.status?.conditions ?? []), ...said];
      return { ...pod, metadata: { ...pod.metadata, deletionTimestamp: at }, status: { ...pod.status, conditions } };
    });
    if (isGone) this.world.removePod(name);
  }

  // --- what came out ---

  /** Oldest first. */
  episodes(): readonly EpisodeReport[] {
    return this.mode.report().episodes.toReversed();
  }

  /** `act subject outcome`, and how far they are apart where both acted, in whole seconds. */
  outcomes(): readonly string[] {
    return this.episodes().map(({ act, subject, outcome, differenceSeconds }) => {
      const by = differenceSeconds === null ? '' : ` ${Math.round(differenceSeconds)} s`;
      return `${act} ${subject} ${outcome}${by}`;
    });
  }
}
