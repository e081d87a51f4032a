import { ApiError } from '../../../machinery/api/api-error.ts';
import { findCondition, listConditions } from '../../../machinery/api/conditions.ts';
import type { Node } from '../../../machinery/api/node.ts';
import { LineLimit } from '../../../machinery/queueing/line-limit.ts';
import { planFirstWait, planJittered } from '../loops/plan-phase.ts';
import { RestingLoop } from '../loops/resting-loop.ts';
import { Semaphore } from '../loops/semaphore.ts';
import { decideReport } from './decide-report.ts';
import { diffNodeStatus, diffNodeStatusPatch } from './diff-node-status.ts';
import type { NodeComposer } from './node-composer.ts';
import type { NodeOptions } from './node-options.ts';

/** Tries of one cycle, without a pause between them (kubelet `nodeStatusUpdateRetry`). */
const statusTriesMax = 5;
const statusJitterShare = 0.04;
/** Two machines may overwrite each other's status every period: one line in this time says so. */
const otherLinesPeriodMs = 600_000;

type StatusPublisherOptions = Pick<
  NodeOptions,
  'name' | 'api' | 'nodes' | 'clock' | 'random' | 'logger' | 'profile' | 'onRepeatedFailure'
>;

/** Result of a fast-start check of a node that is not ready yet. */
type FastOutcome = 'wait' | 'over' | 'publish';

/**
 * Computes the node's status each period and writes it if it changed or if the last report is older than the report
 * frequency; kubelet v1.8 writes it each period.
 */
export class StatusPublisher extends RestingLoop {
  readonly #options: StatusPublisherOptions;
  readonly #composer: NodeComposer;
  /** One status update at a time, from the loop or the fast start. */
  readonly #semaphore = new Semaphore(1);
  /** The node of the last response, until the watch has delivered the node. */
  #known: Node | undefined;
  /** Node as last delivered by the watch. */
  #listed: Node | undefined;
  #isReady = false;
  /** The node had this machine's boot ID when it was last read. */
  #isShown = false;
  readonly #otherLines = new LineLimit(1, otherLinesPeriodMs);
  #lastReportAtMs: number | undefined;
  #delayMs = 0;
  #podSubnets = '';
  #isFirst = true;

  constructor(options: StatusPublisherOptions, composer: NodeComposer) {
    super(options.clock);
    this.#options = options;
    this.#composer = composer;
  }

  /** True if the last status that was written had Ready=True. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** The node from an API response: used until the watch delivers the node. */
  adopt(node: Node): void {
    this.#isReady = readyStatus(node) === 'True';
    if (this.#listed === undefined) this.#known = node;
  }

  /** One cycle: up to 5 tries. Never rejects because of an API error: the next cycle tries again. */
  async publish(signal: AbortSignal): Promise<void> {
    await this.#semaphore.pass(() => this.#cycle(signal));
  }

  /**
   * Checks a node that has not become ready yet: writes nothing until it is ready, then writes the status at once. True
   * when the fast start is over (kubelet `fastNodeStatusUpdate`).
   */
  async publishOnceReady(signal: AbortSignal): Promise<boolean> {
    const outcome = await this.#semaphore.pass(() => this.#publishIfReady(signal));
    if (outcome === 'publish') await this.publish(signal);
    return outcome !== 'wait';
  }

  protected override get neverRings(): boolean {
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
    const share = planFirstWait(profile.leasePhase, name, () => random.next());
    return share === undefined ? undefined : profile.nodeStatusUpdateFrequencyMs * share;
  }

  #periodMs(): number {
    const { profile, random } = this.#options;
    if (profile.kind === 'v1.8') return profile.nodeStatusUpdateFrequencyMs;
    return planJittered(profile.nodeStatusUpdateFrequencyMs, statusJitterShare, random.next());
  }

  async #cycle(signal: AbortSignal): Promise<void> {
    const { logger, onRepeatedFailure } = this.#options;
    for (let tries = 0; tries < statusTriesMax && !signal.aborted; tries++) {
      if (await this.#try(tries, signal)) return;
      if (tries > 0 && !signal.aborted) onRepeatedFailure?.();
    }
    if (!signal.aborted) logger.warn({ tries: statusTriesMax }, 'update node status exceeds retry count');
  }

  async #publishIfReady(signal: AbortSignal): Promise<FastOutcome> {
    const stored = this.#cachedNode();
    const before = stored === undefined ? undefined : readyStatus(stored);
    if (stored === undefined || before === undefined) return 'wait';
    if (before === 'True') return 'over';
    const computed = this.#composer.compose(stored);
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
      const stored = await this.#stored(tries, signal);
      if (stored === undefined) return false;
      await this.#report(stored, signal);
      return true;
    } catch (error) {
      this.#expect(error);
      return false;
    }
  }

  /**
   * The first try uses the cached node; kubelet v1.8 reads the node from the API server's cache (`resourceVersion: 0`).
   */
  async #stored(tries: number, signal: AbortSignal): Promise<Node | undefined> {
    const { api, name, profile } = this.#options;
    if (tries > 0) return await api.get('nodes', { name }, { signal });
    if (profile.kind === 'v1.37') return this.#cachedNode();
    return await api.get('nodes', { name }, { signal, resourceVersion: '0' });
  }

  /** From the watch; until the watch has delivered the node, and while it stalls, from the last response. */
  #cachedNode(): Node | undefined {
    const listed = this.#options.nodes.get(this.#options.name);
    if (listed === 'frozen') return this.#listed ?? this.#known;
    if (listed === undefined) return this.#known;
    this.#listed = listed;
    this.#known = undefined;
    return listed;
  }

  async #report(stored: Node, signal: AbortSignal): Promise<void> {
    const { clock, profile, random } = this.#options;
    const computed = this.#composer.compose(stored);
    this.#warnOfOther(stored, computed);
    const decision = decideReport({
      changed: this.#hasChanged(stored, computed),
      nowMs: clock.monotonicMs(),
      lastReportAtMs: this.#lastReportAtMs,
      delayMs: this.#delayMs,
      reportFrequencyMs: profile.nodeStatusReportFrequencyMs,
      chance: random.next(),
    });
    this.#delayMs = decision.delayMs;
    if (decision.report || profile.kind === 'v1.8') await this.#patch(stored, computed, signal);
  }

  /** Two machines under one name overwrite each other's status; one alone shows its own boot ID from its first post on. */
  #warnOfOther(stored: Node, computed: Node): void {
    const [posted, own] = [stored, computed].map((node) => node.status?.nodeInfo?.['bootID'] ?? '');
    const wasShown = this.#isShown;
    this.#isShown = posted === own;
    if (!wasShown || this.#isShown) return;
    const { clock, logger, name } = this.#options;
    const admitted = this.#otherLines.admit(clock.monotonicMs());
    const fields = { node: name, bootID: posted, own };
    if (admitted !== undefined)
      logger.warn({ ...fields, ...admitted }, 'another machine posts the status of this node');
  }

  /** A changed pod CIDR also requires a report. */
  #hasChanged(stored: Node, computed: Node): boolean {
    const subnets = stored.spec?.podCIDRs?.join(',') ?? this.#podSubnets;
    const moved = subnets !== this.#podSubnets;
    this.#podSubnets = subnets;
    return moved || diffNodeStatus(stored, computed);
  }

  async #patch(stored: Node, computed: Node, signal: AbortSignal): Promise<void> {
    const { api, clock, name } = this.#options;
    const patch = { type: 'strategic-merge', body: diffNodeStatusPatch(stored, computed) } as const;
    const updated: Node = await api.patch('nodes', { name }, patch, { signal, subresource: 'status' });
    this.adopt(updated);
    this.#lastReportAtMs = clock.monotonicMs();
  }

  /** API errors are expected and logged; anything else is a defect and is thrown. */
  #expect(error: unknown): void {
    if (!(error instanceof ApiError)) throw error;
    if (error.reason !== 'aborted') {
      this.#options.logger.debug({ reason: error.reason }, 'failed to update node status');
    }
  }
}

function readyStatus(node: Node): string | undefined {
  return findCondition(listConditions(node.status?.conditions), 'Ready')?.status;
}
