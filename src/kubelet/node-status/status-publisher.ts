import { ApiError } from '../../api/api-error.ts';
import { findCondition, listConditions } from '../../api/conditions.ts';
import type { Node } from '../../api/node.ts';
import type { Clock } from '../../ports/clock.ts';
import type { KubeReader } from '../../ports/kube-reader.ts';
import type { KubeWriter } from '../../ports/kube-writer.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Random } from '../../ports/random.ts';
import { deriveJittered, derivePhase } from '../derive-phase.ts';
import type { KubeletProfile } from '../profile.ts';
import { decideReport } from './decide-report.ts';
import { deriveNodeStatusPatch, diffNodeStatus } from './diff-node-status.ts';
import type { MachineHealth } from './machine-health.ts';
import type { NodeComposer } from './node-composer.ts';

/** Tries of one cycle, without a pause between them (kubelet `nodeStatusUpdateRetry`). */
const statusTriesMax = 5;
const statusJitterShare = 0.04;

/** The node's own copy of itself, kept by somebody's watch; undefined where it shows nothing now. */
export interface NodeLister {
  get(name: string): Node | undefined;
}

export interface StatusPublisherOptions {
  readonly name: string;
  readonly api: KubeReader & KubeWriter;
  readonly nodes: NodeLister;
  readonly composer: NodeComposer;
  readonly health: MachineHealth;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly profile: KubeletProfile;
}

/** Computes the node's status each period and writes it when it changed or when the last report has grown old. */
export class StatusPublisher {
  readonly #options: StatusPublisherOptions;
  #known: Node | undefined;
  #lastReportAtMs: number | undefined;
  #delayMs = 0;

  constructor(options: StatusPublisherOptions) {
    this.#options = options;
  }

  /** Does the node say, in its last status that arrived, that it is ready? */
  get isReady(): boolean {
    return this.#known !== undefined && readyStatus(this.#known) === 'True';
  }

  /** Publishes from `registered` on until the signal aborts: fast until the node is ready, then period by period. */
  async run(registered: Node, signal: AbortSignal): Promise<void> {
    const { clock, name, profile } = this.#options;
    this.#known = registered;
    const startedAtMs = clock.monotonicMs();
    let cycleAtMs = startedAtMs + profile.nodeStatusUpdateFrequencyMs * derivePhase(name);
    let starting = true;
    while (!signal.aborted) {
      const leftMs = Math.max(0, cycleAtMs - clock.monotonicMs());
      await clock.sleep(starting ? Math.min(leftMs, profile.fastStatusPeriodMs) : leftMs, signal);
      if (signal.aborted) return;
      if (clock.monotonicMs() >= cycleAtMs) {
        await this.publish(signal);
        cycleAtMs = clock.monotonicMs() + this.#periodMs();
      } else if (starting) {
        starting = !(await this.#publishOnceReady(startedAtMs, signal));
      }
    }
  }

  /** One cycle: up to 5 tries. Never rejects for what the API server answers: the next cycle tries again. */
  async publish(signal: AbortSignal): Promise<void> {
    const { logger, health, clock } = this.#options;
    health.checkRuntime(clock.monotonicMs());
    for (let tries = 0; tries < statusTriesMax && !signal.aborted; tries++) {
      if (await this.#try(tries, signal)) return;
    }
    if (!signal.aborted) logger.warn({ tries: statusTriesMax }, 'update node status exceeds retry count');
  }

  #periodMs(): number {
    const { profile, random } = this.#options;
    return deriveJittered(profile.nodeStatusUpdateFrequencyMs, statusJitterShare, random.next());
  }

  /**
   * A pass of the fast start: silent until the node would be ready, then says so at once. True when the fast start is
   * over (kubelet `fastStatusUpdateOnce`).
   */
  async #publishOnceReady(startedAtMs: number, signal: AbortSignal): Promise<boolean> {
    const { clock, health, composer, profile, logger } = this.#options;
    if (clock.monotonicMs() - startedAtMs >= profile.fastStatusMsMax) {
      logger.warn({ afterMs: profile.fastStatusMsMax }, 'Node not becoming ready in time after startup');
      return true;
    }
    const stored = this.#listed();
    if (stored === undefined) return false;
    if (readyStatus(stored) === 'True') return true;
    health.checkRuntime(clock.monotonicMs());
    if (readyStatus(composer.compose(stored)) !== 'True') return false;
    await this.publish(signal);
    return true;
  }

  async #try(tries: number, signal: AbortSignal): Promise<boolean> {
    try {
      const stored = (tries === 0 ? this.#listed() : undefined) ?? (await this.#read(signal));
      await this.#report(stored, signal);
      return true;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.#options.logger.debug({ reason: error.reason, tries }, 'the node status could not be written');
      return false;
    }
  }

  /** The first try of a cycle costs no request: the watched copy, or else what the last write returned. */
  #listed(): Node | undefined {
    return this.#options.nodes.get(this.#options.name) ?? this.#known;
  }

  async #read(signal: AbortSignal): Promise<Node> {
    const { api, name } = this.#options;
    return await api.get('nodes', { name }, { signal });
  }

  async #report(stored: Node, signal: AbortSignal): Promise<void> {
    const { api, clock, composer, name, profile, random } = this.#options;
    const computed = composer.compose(stored);
    const decision = decideReport({
      changed: diffNodeStatus(stored, computed),
      nowMs: clock.monotonicMs(),
      lastReportAtMs: this.#lastReportAtMs,
      delayMs: this.#delayMs,
      reportFrequencyMs: profile.nodeStatusReportFrequencyMs,
      chance: random.next(),
    });
    this.#delayMs = decision.delayMs;
    if (!decision.report) return;
    const patch = { type: 'strategic-merge', body: deriveNodeStatusPatch(stored, computed) } as const;
    this.#known = await api.patch('nodes', { name }, patch, { signal, subresource: 'status' });
    this.#lastReportAtMs = clock.monotonicMs();
  }
}

function readyStatus(node: Node): string | undefined {
  return findCondition(listConditions(node.status?.conditions), 'Ready')?.status;
}
