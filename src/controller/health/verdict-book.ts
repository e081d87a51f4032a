import type { NodeView } from '../../api/node.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Meter } from '../../ports/meter.ts';
import type { BootEvidence, DecisionSink } from '../decisions.ts';
import { missing } from './assess-node.ts';
import { deriveBootEvidence } from './derive-boot-evidence.ts';
import type { HealthRecord } from './health-record.ts';
import type { HealthVerdict } from './health-table.ts';
import { detectionLatency, recoveredNodes, verdictsTotal } from './metrics.ts';

export interface VerdictBookOptions {
  readonly decisions: DecisionSink;
  readonly meter: Meter;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

/** What a monitor pass concluded of one node. */
export interface Conclusion {
  readonly verdict: HealthVerdict;
  /** The Ready answer that counts. */
  readonly ready: string;
  /** No pass has looked at this very node before. */
  readonly isNew: boolean;
  readonly record: HealthRecord | undefined;
}

const verdictWords = ['silent', 'never-posted', 'withheld', 'not-ready', 'ready'] as const;
const bootWords = ['same', 'changed', 'unknown'] as const satisfies readonly BootEvidence[];
type VerdictWord = (typeof verdictWords)[number];

interface Unwell {
  /** When we first said so; undefined where it was so before we looked, or its taint has been written. */
  readonly judgedAtMs: number | undefined;
  /** While it is silent: the boot ID that it had then. */
  readonly silence: { readonly bootID: string } | undefined;
}

/** Follows the verdicts on nodes that are not Ready, to count and to time what comes of them. A node that is well costs nothing. */
export class VerdictBook {
  readonly #options: VerdictBookOptions;
  readonly #unwell = new Map<string, Unwell>();
  readonly #withheld = new Set<string>();

  constructor(options: VerdictBookOptions) {
    this.#options = options;
    // A counter that begins with its first event hides it: what was not there cannot have increased.
    for (const verdict of verdictWords) options.meter.add(verdictsTotal, 0, { verdict });
    for (const boot of bootWords) options.meter.add(recoveredNodes, 0, { boot });
  }

  /** To be told of every look that a pass takes at a node. */
  conclude(node: NodeView, conclusion: Conclusion): void {
    const { ready, verdict } = conclusion;
    if (verdict.kind !== 'suspect') this.#withheld.delete(node.name);
    if (ready === 'Unknown') return this.fallSilent(node, verdict);
    const wasSilent = this.#comeBack(node, conclusion);
    if (ready === 'True') this.#becomeReady(node.name);
    else if (ready === missing) this.#unwell.delete(node.name);
    else this.#becomeNotReady(node.name, { wasSilent, isNew: conclusion.isNew });
  }

  /**
   * The node is silent from now on, if it was not: we say so, be it between two passes, or whoever led before us did. Then
   * its conditions say so already.
   */
  fallSilent({ name, bootID }: NodeView, verdict: HealthVerdict): void {
    const known = this.#unwell.get(name);
    if (known?.silence !== undefined) return;
    const isOurs = verdict.kind === 'silent' && verdict.conditions.length > 0;
    if (isOurs) {
      this.#count(verdict.rule === 'startup' ? 'never-posted' : 'silent');
      this.#options.meter.observe(detectionLatency, verdict.silentMs / 1_000);
    }
    const judgedAtMs = known === undefined && isOurs ? this.#options.clock.monotonicMs() : known?.judgedAtMs;
    this.#unwell.set(name, { judgedAtMs, silence: { bootID } });
  }

  /** It looks silent, and the API server itself does not say so. */
  withhold(node: string): void {
    if (this.#withheld.has(node)) return;
    this.#withheld.add(node);
    this.#count('withheld');
  }

  forget(node: string): void {
    this.#unwell.delete(node);
    this.#withheld.delete(node);
  }

  /** How many nodes are remembered: those that are not well. */
  get unwell(): number {
    return this.#unwell.size;
  }

  /** Nodes that look silent and about which nothing could be said yet. */
  get withheld(): number {
    return this.#withheld.size;
  }

  /** How long ago this node was first judged not to be well. Answers once for each time that it was. */
  takeVerdictAgeMs(node: string): number | undefined {
    const known = this.#unwell.get(node);
    if (known?.judgedAtMs === undefined) return undefined;
    this.#unwell.set(node, { ...known, judgedAtMs: undefined });
    return this.#options.clock.monotonicMs() - known.judgedAtMs;
  }

  /** When an outage ends everybody counts as heard; that alone brings nobody back. */
  #comeBack({ name, bootID }: NodeView, { record }: Conclusion): boolean {
    const known = this.#unwell.get(name);
    if (known?.silence === undefined) return false;
    this.#unwell.set(name, { ...known, silence: undefined });
    if (record?.channel === 'outage-end') return true;
    const boot = deriveBootEvidence(known.silence.bootID, bootID);
    this.#options.meter.add(recoveredNodes, 1, { boot });
    this.#options.decisions.note({ kind: 'node-recovered', node: name, boot });
    return true;
  }

  #becomeReady(node: string): void {
    if (this.#unwell.delete(node)) this.#count('ready');
  }

  #becomeNotReady(node: string, { wasSilent, isNew }: { readonly wasSilent: boolean; readonly isNew: boolean }): void {
    const known = this.#unwell.get(node);
    const judgedAtMs = isNew ? undefined : this.#options.clock.monotonicMs();
    if (known === undefined) this.#unwell.set(node, { judgedAtMs, silence: undefined });
    if (wasSilent || (known === undefined && !isNew)) this.#count('not-ready');
  }

  #count(verdict: VerdictWord): void {
    this.#options.meter.add(verdictsTotal, 1, { verdict });
  }
}
