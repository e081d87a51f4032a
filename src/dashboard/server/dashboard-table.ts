// The states of all nodes for the dashboard, each computed again when it is marked.
import type { NodeCell } from '../protocol.ts';
import type { CellTally, CountedCell } from './cell-tally.ts';
import { NodeMarks } from './node-marks.ts';
import { Sweep } from './sweep.ts';
import { type NodeRecord, readNodeRecord } from './dashboard-nodes.ts';
import { type DashboardSources, readSilence } from './dashboard-sources.ts';
import { readClusterEvidence, type ClusterEvidence } from './cluster-evidence.ts';

/** Every node is computed again in about so many seconds, whatever was missed. */
const sweepSeconds = 60;
/** Nodes that are not simply ready are computed again in about so many seconds. */
const activeSweepSeconds = 15;

interface DashboardTableOptions {
  readonly sources: DashboardSources;
  readonly tally: CellTally;
  readonly board: { set(cell: NodeCell): void; remove(name: string): void };
}

export class DashboardTable {
  readonly #options: DashboardTableOptions;
  readonly #marks = new NodeMarks();
  readonly #records = new Map<string, NodeRecord>();
  /** Nodes that are not ready, or for which something is held or expected. */
  readonly #active = new Set<string>();
  /** Nodes that are silent and not Unknown yet: a heartbeat alone ends that. */
  readonly #suspects = new Set<string>();
  readonly #sweeps: readonly Sweep[];
  /** What the nodes were computed with last. */
  #before: { readonly options: unknown; readonly leading: boolean; readonly fingerprint: string } | undefined;

  constructor(options: DashboardTableOptions) {
    this.#options = options;
    const { store } = options.sources.informers.nodes;
    const all = { names: () => this.#everyName(), size: () => store.size + this.#records.size, steps: sweepSeconds };
    const active = { names: () => this.#active, size: () => this.#active.size, steps: activeSweepSeconds };
    this.#sweeps = [new Sweep(all), new Sweep(active)];
  }

  /** Names of the nodes that exist, and then of those that are shown: one that is shown may not exist any more. */
  *#everyName(): Iterable<string> {
    yield* this.#options.sources.informers.nodes.store.keys();
    yield* this.#records.keys();
  }

  /** Number of nodes, and of marks. */
  get size(): { readonly nodes: number; readonly marks: number } {
    return { nodes: this.#records.size, marks: this.#marks.size };
  }

  mark(node: string): void {
    this.#marks.add(node);
  }

  /** A heartbeat was read, or not: the state may follow from time alone. */
  noteSilence(node: string, isSilent: boolean): void {
    const known = this.#records.get(node);
    if (known !== undefined && known.isSilent !== isSilent) this.#marks.add(node);
  }

  /** The nodes to be computed now: those that were marked, and those that current state or time marks. */
  take(around: ClusterEvidence): ReadonlySet<string> {
    this.#markByState(around);
    for (const sweep of this.#sweeps) {
      if (sweep.isOver) sweep.restart();
      this.#marks.addAll(sweep.next());
    }
    return this.#marks.take(around.cluster.now.monotonicMs);
  }

  #markByState(around: ClusterEvidence): void {
    const { options, informers, stages } = this.#options.sources;
    const before = this.#before;
    const { fingerprint } = around;
    const { leading, healthNowMs } = around.cluster;
    this.#before = { options: options.current(), leading, fingerprint };
    if (before === undefined || before.options !== options.current() || before.leading !== leading) {
      return this.#marks.addAll(informers.nodes.store.keys());
    }
    if (before.fingerprint !== fingerprint) this.#marks.addAll(this.#active);
    for (const suspect of stages.confirmer.suspects()) this.noteSilence(suspect, true);
    for (const suspect of this.#suspects) {
      const silence = readSilence(suspect, this.#options.sources, healthNowMs);
      if (silence?.isSilent !== true) this.#marks.add(suspect);
    }
  }

  /** Computes one node. */
  update(name: string, around: ClusterEvidence): void {
    const { board, sources, tally } = this.#options;
    const before = this.#records.get(name);
    const after = readNodeRecord(name, sources, around, before);
    tally.replace(before && toCounted(before), after && toCounted(after));
    if (after === undefined) return this.#forget(name);
    this.#records.set(name, after);
    setMember(this.#active, name, isActive(after.cell));
    setMember(this.#suspects, name, after.cell.state === 'suspect');
    this.#marks.markAt(name, after.endsAtMs);
    board.set(after.cell);
  }

  /** The state of a node as {@link update} would compute it now. For tests. */
  compute(name: string): NodeCell | undefined {
    const { sources } = this.#options;
    const { clock } = sources;
    const now = { monotonicMs: clock.monotonicMs(), wallMs: clock.nowMs() };
    return readNodeRecord(name, sources, readClusterEvidence(sources, now), this.#records.get(name))?.cell;
  }

  clear(): void {
    this.#marks.clear();
    this.#records.clear();
    this.#active.clear();
    this.#suspects.clear();
    this.#before = undefined;
    for (const sweep of this.#sweeps) sweep.restart();
  }

  #forget(name: string): void {
    this.#records.delete(name);
    this.#active.delete(name);
    this.#suspects.delete(name);
    this.#marks.markAt(name, undefined);
    this.#options.board.remove(name);
  }
}

function setMember(names: Set<string>, name: string, isMember: boolean): void {
  if (isMember) names.add(name);
  else names.delete(name);
}

function isActive({ state, held, next }: NodeCell): boolean {
  return state !== 'ready' || held !== null || next !== null;
}

function toCounted({ cell, isHealthy }: NodeRecord): CountedCell {
  return { zone: cell.zone, policy: cell.policy, isHealthy, isHeld: cell.held !== null };
}
