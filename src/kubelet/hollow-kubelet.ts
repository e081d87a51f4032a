import type { Labels } from '../api/topology.ts';
import type { Clock } from '../ports/clock.ts';
import type { KubeReader } from '../ports/kube-reader.ts';
import type { KubeWriter } from '../ports/kube-writer.ts';
import type { Logger } from '../ports/logger.ts';
import type { Random } from '../ports/random.ts';
import { LeaseRenewer } from './lease/lease-renewer.ts';
import { MachineHealth } from './node-status/machine-health.ts';
import { NodeComposer } from './node-status/node-composer.ts';
import { Registrar } from './node-status/registrar.ts';
import { type NodeLister, StatusPublisher } from './node-status/status-publisher.ts';
import { type StatusSetter, statusSetters } from './node-status/status-setters.ts';
import type { PodSource } from './pod-config/api-source.ts';
import { StatusManager } from './pod-status/status-manager.ts';
import { type KubeletProfile, type Machine, renewIntervalMs } from './profile.ts';
import { runTogether } from './run-together.ts';
import { FakeRuntime } from './runtime/fake-runtime.ts';
import { SyncLoop } from './sync-loop.ts';
import type { Turnstile } from './turnstile.ts';

export interface HollowKubeletOptions {
  readonly name: string;
  readonly labels: Labels;
  readonly machine: Machine;
  readonly profile: KubeletProfile;
  readonly api: KubeReader & KubeWriter;
  /** Where its pods come from. */
  readonly pods: PodSource;
  /** Its own node as a watch shows it. */
  readonly nodes: NodeLister;
  /** Shared by the fleet: bounds how many register at once. */
  readonly registrations: Turnstile;
  /** Called once, when the API server knows the node. */
  readonly onRegistered?: () => void;
  /** Status setters of one's own; they run before Ready. */
  readonly setters?: readonly StatusSetter[];
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

export interface KubeletStatus {
  readonly name: string;
  readonly registered: boolean;
  /** Its last status that arrived said Ready. */
  readonly ready: boolean;
  /** Somebody made it unhealthy. */
  readonly broken: boolean;
  readonly pods: number;
  /** Pod statuses that the API server has not confirmed yet. */
  readonly unwrittenPods: number;
  /** Monotonic time of the last renewal that was confirmed. */
  readonly renewedAtMs: number | undefined;
}

/**
 * A kubelet without containers: it registers its node, heartbeats, reports the node's status, runs the pods bound to it
 * on a fake runtime and finishes their deletion. Real in all that an API server and its controllers see.
 */
export class HollowKubelet {
  readonly name: string;
  /** What is the matter with its machine; break it here. */
  readonly health = new MachineHealth();
  readonly #options: HollowKubeletOptions;
  readonly #registrar: Registrar;
  readonly #leases: LeaseRenewer;
  readonly #publisher: StatusPublisher;
  readonly #statuses: StatusManager;
  readonly #sync: SyncLoop;
  #registered = false;

  constructor(options: HollowKubeletOptions) {
    const { name, profile, machine, clock } = options;
    const common = { ...options, health: this.health, logger: options.logger.child({ node: name }) };
    const composer = new NodeComposer({ ...common, setters: statusSetters(options.setters) });
    const runtime = new FakeRuntime({
      clock,
      startDelayMs: profile.podStartDelayMs,
      stopDelayMs: profile.podStopDelayMs,
    });
    this.name = name;
    this.#options = options;
    this.#registrar = new Registrar({ ...common, composer });
    this.#leases = new LeaseRenewer({
      ...common,
      nodeName: name,
      leaseDurationSeconds: profile.leaseDurationSeconds,
      renewIntervalMs: renewIntervalMs(profile),
    });
    this.#publisher = new StatusPublisher({ ...common, composer });
    this.#statuses = new StatusManager({ ...common, passPeriodMs: profile.podStatusPassMs });
    this.#sync = new SyncLoop({
      ...common,
      source: options.pods,
      runtime,
      statuses: this.#statuses,
      machine,
      syncPeriodMs: profile.syncPeriodMs,
    });
  }

  /**
   * Lives until the signal aborts, through everything that the API server answers or does not. No good-byes: node, lease
   * and pods stay as they are, and look like those of a node that crashed.
   */
  async run(signal: AbortSignal): Promise<void> {
    const node = await this.#registrar.register(signal);
    if (node === undefined) return;
    this.#registered = true;
    this.#options.onRegistered?.();
    await runTogether(signal, [
      (signal) => this.#leases.run(signal),
      (signal) => this.#publisher.run(node, signal),
      (signal) => this.#sync.run(signal),
      (signal) => this.#statuses.run(signal),
    ]);
  }

  status(): KubeletStatus {
    return {
      name: this.name,
      registered: this.#registered,
      ready: this.#publisher.isReady,
      broken: this.health.isBroken,
      pods: this.#sync.pods,
      unwrittenPods: this.#statuses.pending,
      renewedAtMs: this.#leases.renewedAtMs,
    };
  }
}
