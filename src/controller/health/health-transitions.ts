import type { NodeView } from '../../machinery/api/node.ts';
import type { BootEvidence } from '../model/decisions.ts';
import { missing } from './assess-node.ts';
import type { HealthRecord } from './health-record.ts';
import type { HealthAssessment } from './health-table.ts';
import { detectionLatency, recoveredNodes, transitionsTotal } from './metrics.ts';
import type { StageDependencies } from '../model/dependencies.ts';

type HealthTransitionsOptions = Pick<StageDependencies, 'decisions' | 'meter' | 'clock'>;

/** The result of a monitor pass for one node. */
interface Conclusion {
  readonly assessment: HealthAssessment;
  /** The effective Ready status. */
  readonly ready: string;
  /** No earlier pass has evaluated this node. */
  readonly isNew: boolean;
  readonly record: HealthRecord | undefined;
}

const transitionKinds = ['silent', 'never-posted', 'withheld', 'not-ready', 'ready'] as const;
const bootWords = ['same', 'changed', 'unknown'] as const satisfies readonly BootEvidence[];
type TransitionKind = (typeof transitionKinds)[number];

interface NotReady {
  /**
   * Time of the first assessment with this result; undefined where it was the result before, or the taint has been
   * written.
   */
  readonly assessedAtMs: number | undefined;
  /** While it is silent: its boot ID at the beginning. */
  readonly silence: { readonly bootID: string } | undefined;
}

/** Follows nodes that are not Ready, for counters and latencies. Ready nodes need no memory. */
export class HealthTransitions {
  readonly #options: HealthTransitionsOptions;
  readonly #notReady = new Map<string, NotReady>();
  readonly #withheld = new Set<string>();

  constructor(options: HealthTransitionsOptions) {
    this.#options = options;
    // Start all counters with 0: an increase from a missing series is not visible.
    for (const kind of transitionKinds) options.meter.add(transitionsTotal, 0, { assessment: kind });
    for (const boot of bootWords) options.meter.add(recoveredNodes, 0, { boot });
  }

  /** Notes the result of an evaluation of a node by a pass. */
  conclude(node: NodeView, conclusion: Conclusion): void {
    const { ready, assessment } = conclusion;
    if (assessment.kind !== 'suspect') this.#withheld.delete(node.name);
    if (ready === 'Unknown') return this.becomeSilent(node, assessment);
    const wasSilent = this.#comeBack(node, conclusion);
    if (ready === 'True') this.#becomeReady(node.name);
    else if (ready === missing) this.#notReady.delete(node.name);
    else this.#becomeNotReady(node.name, { wasSilent, isNew: conclusion.isNew });
  }

  /**
   * Records that the node is silent: assessed here, or by a previous leader or replica, in which case its conditions
   * are Unknown already.
   */
  becomeSilent({ name, bootID }: NodeView, assessment: HealthAssessment): void {
    const known = this.#notReady.get(name);
    if (known?.silence !== undefined) return;
    const isNewlyAssessed = assessment.kind === 'silent' && assessment.conditions.length > 0;
    if (isNewlyAssessed) {
      this.#count(assessment.rule === 'startup' ? 'never-posted' : 'silent');
      this.#options.meter.observe(detectionLatency, assessment.silentMs / 1_000);
    }
    const assessedAtMs =
      known === undefined && isNewlyAssessed ? this.#options.clock.monotonicMs() : known?.assessedAtMs;
    this.#notReady.set(name, { assessedAtMs, silence: { bootID } });
  }

  /** The node looks silent, and a live read does not confirm it. */
  withhold(node: string): void {
    if (this.#withheld.has(node)) return;
    this.#withheld.add(node);
    this.#count('withheld');
  }

  isWithheld(node: string): boolean {
    return this.#withheld.has(node);
  }

  forget(node: string): void {
    this.#notReady.delete(node);
    this.#withheld.delete(node);
  }

  /** Number of remembered nodes: those that are not Ready. */
  get notReadyCount(): number {
    return this.#notReady.size;
  }

  /** Nodes that look silent and are not confirmed. */
  get withheld(): ReadonlySet<string> {
    return this.#withheld;
  }

  /** How long ago this node was first assessed as not ready or silent. Returned once for each time that it was. */
  takeTransitionAgeMs(node: string): number | undefined {
    const known = this.#notReady.get(node);
    if (known?.assessedAtMs === undefined) return undefined;
    this.#notReady.set(node, { ...known, assessedAtMs: undefined });
    return this.#options.clock.monotonicMs() - known.assessedAtMs;
  }

  /** The end of a full disruption sets the heartbeat time of all nodes; that alone is no recovery. */
  #comeBack({ name, bootID }: NodeView, { record }: Conclusion): boolean {
    const known = this.#notReady.get(name);
    if (known?.silence === undefined) return false;
    this.#notReady.set(name, { ...known, silence: undefined });
    if (record?.channel === 'full-disruption-end') return true;
    const boot = classifyBoot(known.silence.bootID, bootID);
    this.#options.meter.add(recoveredNodes, 1, { boot });
    this.#options.decisions.note({ kind: 'node-recovered', node: name, boot });
    return true;
  }

  #becomeReady(node: string): void {
    if (this.#notReady.delete(node)) this.#count('ready');
  }

  #becomeNotReady(node: string, { wasSilent, isNew }: { readonly wasSilent: boolean; readonly isNew: boolean }): void {
    const known = this.#notReady.get(node);
    const assessedAtMs = isNew ? undefined : this.#options.clock.monotonicMs();
    if (known === undefined) this.#notReady.set(node, { assessedAtMs, silence: undefined });
    if (wasSilent || (known === undefined && !isNew)) this.#count('not-ready');
  }

  #count(kind: TransitionKind): void {
    this.#options.meter.add(transitionsTotal, 1, { assessment: kind });
  }
}

/** Whether the machine restarted between these two boot IDs. An empty one is no evidence. */
export function classifyBoot(before: string, after: string): BootEvidence {
  if (before === '' || after === '') return 'unknown';
  return before === after ? 'same' : 'changed';
}
