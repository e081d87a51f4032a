import { ApiError } from '../../api/api-error.ts';
import { findCondition, listConditions } from '../../api/conditions.ts';
import type { Node } from '../../api/node.ts';
import type { Clock } from '../../ports/clock.ts';
import type { KubeReader } from '../../ports/kube-reader.ts';
import type { KubeWriter } from '../../ports/kube-writer.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Random } from '../../ports/random.ts';
import { deriveFirstWait, deriveJittered } from '../derive-phase.ts';
import type { NodeVolumes } from '../machine/node-volumes.ts';
import type { KubeletProfile } from '../profile.ts';
import { RestingLoop, runAlone } from '../resting-loop.ts';
import { Turnstile } from '../turnstile.ts';
import { decideReport } from './decide-report.ts';
import { deriveNodeStatusPatch, diffNodeStatus } from './diff-node-status.ts';
import type { NodeComposer } from './node-composer.ts';

/** Tries of one cycle, without a pause between them (kubelet `nodeStatusUpdateRetry`). */
const statusTriesMax = 5;
const statusJitterShare = 0.04;

/** The node's own copy of itself, kept by somebody's watch. */
export interface NodeLister {
  /** Undefined where there is no such node; `frozen` while the watch stands still, and what it last showed still holds. */
  get(name: string): Node | 'frozen' | undefined;
}

export interface StatusPublisherOptions {
  readonly name: string;
  readonly api: KubeReader & KubeWriter;
  readonly nodes: NodeLister;
  readonly composer: NodeComposer;
  /** Are told what the API server knows of them. */
  readonly volumes: NodeVolumes;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly profile: KubeletProfile;
  /** Called after the second and each further try that failed in one cycle: the connection may be at fault. */
  readonly onRepeatedFailure?: () => void;
}

/** What became of a look at a node that is not ready yet. */
type FastOutcome = 'wait' | 'over' | 'publish';

/**
 * Computes the node's status each period and writes it when it changed or when the last report has grown old; a classic
 * kubelet writes it each time.
 */
export class StatusPublisher extends RestingLoop {
  readonly #options: StatusPublisherOptions;
  /** One status at a time, whoever wants it told. */
  readonly #turn = new Turnstile(1);
  /** As last answered, for as long as the watch has not shown the node. */
  #known: Node | undefined;
  /** As the watch last showed it. */
  #listed: Node | undefined;
  #isReady = false;
  #isPaused = false;
  #lastReportAtMs: number | undefined;
  #delayMs = 0;
  #podSubnets = '';
  #isFirst = true;

  constructor(options: StatusPublisherOptions) {
    super(options.clock);
    this.#options = options;
  }

  /** Does the node say, in its last status that arrived, that it is ready? */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** While it is paused it computes and tells nothing; its periods go on. */
  pause(isPaused: boolean): void {
    this.#isPaused = isPaused;
  }

  /** The node as the API server has just answered: it counts until the watch shows the node. */
  adopt(node: Node): void {
    this.#note(node);
  }

  /** Publishes at once, and then period by period until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return runAlone(this, signal);
  }

  /** One cycle: up to 5 tries. Never rejects for what the API server answers: the next cycle tries again. */
  async publish(signal: AbortSignal): Promise<void> {
    if (!this.#isPaused) await this.#turn.pass(() => this.#cycle(signal));
  }

  /**
   * A look at a node that has not become ready yet: silent until it would be, then says so at once. True when there is
   * nothing more to wait for (kubelet `fastNodeStatusUpdate`).
   */
  async publishOnceReady(signal: AbortSignal): Promise<boolean> {
    if (this.#isPaused) return false;
    const outcome = await this.#turn.pass(() => this.#lookWhetherReady(signal));
    if (outcome === 'publish') await this.publish(signal);
    return outcome !== 'wait';
  }

  protected override get isDeaf(): boolean {
    return true;
  }

  protected override begin(): void {
    this.#isFirst = true;
  }

  protected override async turn(signal: AbortSignal): Promise<number> {
    await this.publish(signal);
    const firstWaitMs = this.#isFirst ? this.#firstWaitMs() : undefined;
    this.#isFirst = false;
    return firstWaitMs ?? this.#periodMs();
  }

  /** From the first status to the second; undefined: a period. */
  #firstWaitMs(): number | undefined {
    const { name, profile, random } = this.#options;
    const share = deriveFirstWait(profile.leasePhase, name, () => random.next());
    return share === undefined ? undefined : profile.nodeStatusUpdateFrequencyMs * share;
  }

  #periodMs(): number {
    const { profile, random } = this.#options;
    if (profile.kind === 'classic') return profile.nodeStatusUpdateFrequencyMs;
    return deriveJittered(profile.nodeStatusUpdateFrequencyMs, statusJitterShare, random.next());
  }

  async #cycle(signal: AbortSignal): Promise<void> {
    const { logger, onRepeatedFailure } = this.#options;
    for (let tries = 0; tries < statusTriesMax && !signal.aborted; tries++) {
      if (await this.#try(tries, signal)) return;
      if (tries > 0 && !signal.aborted) onRepeatedFailure?.();
    }
    if (!signal.aborted) logger.warn({ tries: statusTriesMax }, 'update node status exceeds retry count');
  }

  async #lookWhetherReady(signal: AbortSignal): Promise<FastOutcome> {
    const stored = this.#look();
    const before = stored === undefined ? undefined : readyStatus(stored);
    if (stored === undefined || before === undefined) return 'wait';
    if (before === 'True') return 'over';
    const computed = await this.#options.composer.compose(stored);
    if (!this.#hasChanged(stored, computed) || readyStatus(computed) !== 'True') return 'wait';
    try {
      await this.#patch(stored, computed, signal);
      return 'over';
    } catch (error) {
      this.#expect(error);
      return 'publish';
    }
  }

  async #try(tries: number, signal: AbortSignal): Promise<boolean> {
    try {
      const stored = tries === 0 ? await this.#firstLook(signal) : await this.#read({ signal });
      if (stored === undefined) return false;
      await this.#report(stored, signal);
      return true;
    } catch (error) {
      this.#expect(error);
      return false;
    }
  }

  /** The first try of a cycle costs no request but of a classic kubelet, which takes what the API server has at hand. */
  async #firstLook(signal: AbortSignal): Promise<Node | undefined> {
    return this.#options.profile.kind === 'classic' ? await this.#read({ signal, resourceVersion: '0' }) : this.#look();
  }

  /** As the watch shows it; until it has shown the node once, and while it stands still, as it was last answered. */
  #look(): Node | undefined {
    const listed = this.#options.nodes.get(this.#options.name);
    if (listed === 'frozen') return this.#listed ?? this.#known;
    if (listed === undefined) return this.#known;
    this.#listed = listed;
    this.#known = undefined;
    return listed;
  }

  async #read(options: { readonly signal: AbortSignal; readonly resourceVersion?: string }): Promise<Node> {
    const { api, name } = this.#options;
    return await api.get('nodes', { name }, options);
  }

  async #report(stored: Node, signal: AbortSignal): Promise<void> {
    const { clock, composer, profile, random, volumes } = this.#options;
    const computed = await composer.compose(stored);
    const decision = decideReport({
      changed: this.#hasChanged(stored, computed),
      nowMs: clock.monotonicMs(),
      lastReportAtMs: this.#lastReportAtMs,
      delayMs: this.#delayMs,
      reportFrequencyMs: profile.nodeStatusReportFrequencyMs,
      chance: random.next(),
    });
    this.#delayMs = decision.delayMs;
    if (!decision.report && profile.kind === 'modern') {
      volumes.markReportedInUse(computed.status?.volumesInUse ?? []);
      return;
    }
    const updated = await this.#patch(stored, computed, signal);
    volumes.markReportedInUse(updated.status?.volumesInUse ?? []);
  }

  /** Somebody may also have given the node another range of pod addresses: that is worth a report. */
  #hasChanged(stored: Node, computed: Node): boolean {
    const subnets = stored.spec?.podCIDRs?.join(',') ?? this.#podSubnets;
    const moved = subnets !== this.#podSubnets;
    this.#podSubnets = subnets;
    return moved || diffNodeStatus(stored, computed);
  }

  async #patch(stored: Node, computed: Node, signal: AbortSignal): Promise<Node> {
    const { api, clock, name } = this.#options;
    const patch = { type: 'strategic-merge', body: deriveNodeStatusPatch(stored, computed) } as const;
    const updated: Node = await api.patch('nodes', { name }, patch, { signal, subresource: 'status' });
    this.#note(updated);
    this.#lastReportAtMs = clock.monotonicMs();
    return updated;
  }

  #note(answered: Node): void {
    this.#isReady = readyStatus(answered) === 'True';
    if (this.#listed === undefined) this.#known = answered;
  }

  /** What the API server may answer is part of the day; anything else is a defect and goes up. */
  #expect(error: unknown): void {
    if (!(error instanceof ApiError)) throw error;
    if (error.reason !== 'aborted') {
      this.#options.logger.debug({ reason: error.reason }, 'the node status could not be written');
    }
  }
}

function readyStatus(node: Node): string | undefined {
  return findCondition(listConditions(node.status?.conditions), 'Ready')?.status;
}
