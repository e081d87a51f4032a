// The published state of a dashboard: what clients have been sent, or are to be sent. Its size is bounded by the number of
// nodes and zones, and by the maxima below.
import type { Cluster, Delta, NodeCell, Sample, ServerInfo, TimelineLine, ZoneRow } from '../protocol.ts';
import { Ring } from '../../machinery/queueing/ring.ts';
import type { DashboardSource, SnapshotHead } from './dashboard-source.ts';

/** Number of nodes of one delta; a snapshot of many nodes is sent in pieces, a delta is not. */
export const deltaNodesMax = 2_000;
/** Publications that a client may miss and still get a delta. Fewer than there are between two samples. */
const publicationsKept = 8;
/** The points of one hour. */
const samplesMax = 360;

interface BoardOptions {
  readonly server: ServerInfo;
  /** The first watcher is there. */
  readonly onWatch?: () => void;
}

interface Publication {
  readonly version: number;
  /** Names of the nodes that changed or were removed; undefined: too many. */
  readonly nodes: ReadonlySet<string> | undefined;
  readonly hasCluster: boolean;
  readonly hasZones: boolean;
  readonly lines: readonly TimelineLine[];
  readonly sample: Sample | undefined;
}

/** What changed since the last publication. */
interface Pending {
  readonly nodes: Set<string>;
  hasCluster: boolean;
  hasZones: boolean;
  readonly lines: TimelineLine[];
  sample: Sample | undefined;
}

/** Fields that can be compared by themselves. */
const comparedFields = [
  'name',
  'state',
  'since',
  'zone',
  'policy',
  'pods',
  'held',
] as const satisfies readonly (keyof NodeCell)[];

export class DashboardBoard implements DashboardSource {
  readonly generation = 0;
  readonly #options: BoardOptions;
  readonly #watchers = new Set<() => void>();
  readonly #cells = new Map<string, NodeCell>();
  readonly #lines: Ring<TimelineLine>;
  readonly #samples = new Ring<Sample>(samplesMax);
  readonly #publications = new Ring<Publication>(publicationsKept);
  #cluster: Cluster | undefined;
  /** Text of the cluster without the time, which always differs. */
  #clusterText = '';
  #zones: readonly ZoneRow[] = [];
  #zonesText = '[]';
  #pending = nothing();
  #version = 0;
  #isPublished = false;

  constructor(options: BoardOptions) {
    this.#options = options;
    this.#lines = new Ring(options.server.timelineMax);
  }

  get version(): number {
    return this.#version;
  }

  get isWatched(): boolean {
    return this.#watchers.size > 0;
  }

  get isComplete(): boolean {
    return this.#isPublished && this.#cluster !== undefined;
  }

  /** Number of nodes, and of the other entries that are kept. */
  get size(): { readonly nodes: number; readonly others: number } {
    const names = this.#publications.values().reduce((sum, { nodes }) => sum + (nodes?.size ?? 0), 0);
    return {
      nodes: this.#cells.size,
      others: this.#lines.size + this.#samples.size + names + this.#pending.nodes.size,
    };
  }

  watch(onTick: () => void): () => void {
    const watcher = (): void => onTick();
    this.#watchers.add(watcher);
    if (this.#watchers.size === 1) this.#options.onWatch?.();
    return () => void this.#watchers.delete(watcher);
  }

  set(cell: NodeCell): void {
    const known = this.#cells.get(cell.name);
    if (known !== undefined && isSameCell(known, cell)) return;
    this.#cells.set(cell.name, cell);
    this.#pending.nodes.add(cell.name);
  }

  remove(name: string): void {
    if (this.#cells.delete(name)) this.#pending.nodes.add(name);
  }

  setCluster(cluster: Cluster): void {
    const text = JSON.stringify({ ...cluster, at: '' });
    if (text === this.#clusterText) return;
    this.#cluster = cluster;
    this.#clusterText = text;
    this.#pending.hasCluster = true;
  }

  setZones(zones: readonly ZoneRow[]): void {
    const text = JSON.stringify(zones);
    if (text === this.#zonesText) return;
    this.#zones = zones;
    this.#zonesText = text;
    this.#pending.hasZones = true;
  }

  /** New lines of the timeline, oldest first. Kept in the number of the timeline, watched or not. */
  addLines(lines: readonly TimelineLine[]): void {
    for (const line of lines) this.#lines.add(line);
    if (this.isWatched) this.#pending.lines.push(...lines);
  }

  /** The next point of the plots. Kept for an hour, watched or not. */
  addSample(sample: Sample): void {
    this.#samples.add(sample);
    if (this.isWatched) this.#pending.sample = sample;
  }

  /** What was set since the last call is the next version. Calls the watchers. */
  publish(): void {
    if (hasChanges(this.#pending)) {
      this.#version += 1;
      this.#publications.add(toPublication(this.#version, this.#pending));
      this.#pending = nothing();
    }
    this.#isPublished = true;
    for (const onTick of Array.from(this.#watchers)) onTick();
  }

  /** Forgets all but the timeline and the samples. */
  clear(): void {
    this.#cells.clear();
    this.#publications.clear();
    this.#cluster = undefined;
    this.#clusterText = '';
    this.#zones = [];
    this.#zonesText = '[]';
    this.#pending = nothing();
    this.#version += 1;
    this.#isPublished = false;
  }

  head(): SnapshotHead {
    if (this.#cluster === undefined) throw new Error('no snapshot before the first publication');
    return {
      server: this.#options.server,
      cluster: this.#cluster,
      zones: this.#zones,
      timeline: this.#lines.values(),
      samples: this.#samples.values(),
    };
  }

  names(): readonly string[] {
    return [...this.#cells.keys()];
  }

  node(name: string): NodeCell | undefined {
    return this.#cells.get(name);
  }

  changes(since: number): Delta | undefined {
    const missed = this.#publications.values().filter(({ version }) => version > since);
    if (since > this.#version || missed.length < this.#version - since) return undefined;
    const samples = missed.flatMap(({ sample }) => sample ?? []);
    const names = mergeNames(missed);
    if (names === undefined || samples.length > 1) return undefined;
    const lines = missed.flatMap((publication) => publication.lines);
    const [sample] = samples;
    return {
      ...(missed.some(({ hasCluster }) => hasCluster) && this.#cluster !== undefined ? { cluster: this.#cluster } : {}),
      ...(missed.some(({ hasZones }) => hasZones) ? { zones: this.#zones } : {}),
      ...this.#nodeChanges(names),
      ...(lines.length === 0 ? {} : { timeline: lines }),
      ...(sample === undefined ? {} : { sample }),
    };
  }

  #nodeChanges(names: ReadonlySet<string>): Pick<Delta, 'nodes' | 'removedNodes'> {
    const nodes = [...names].flatMap((name) => this.#cells.get(name) ?? []);
    const removedNodes = [...names].filter((name) => !this.#cells.has(name));
    return { ...(nodes.length === 0 ? {} : { nodes }), ...(removedNodes.length === 0 ? {} : { removedNodes }) };
  }
}

function nothing(): Pending {
  return { nodes: new Set(), hasCluster: false, hasZones: false, lines: [], sample: undefined };
}

function hasChanges({ nodes, hasCluster, hasZones, lines, sample }: Pending): boolean {
  return nodes.size > 0 || hasCluster || hasZones || lines.length > 0 || sample !== undefined;
}

function toPublication(version: number, { nodes, ...others }: Pending): Publication {
  return { version, nodes: nodes.size > deltaNodesMax ? undefined : nodes, ...others };
}

/** Undefined: too many. */
function mergeNames(publications: readonly Publication[]): ReadonlySet<string> | undefined {
  const names = new Set<string>();
  for (const { nodes } of publications) {
    if (nodes === undefined) return undefined;
    for (const name of nodes) names.add(name);
  }
  return names.size > deltaNodesMax ? undefined : names;
}

/** Two cells are equal if they show the same. */
function isSameCell(a: NodeCell, b: NodeCell): boolean {
  return comparedFields.every((field) => a[field] === b[field]) && isSameStep(a.next, b.next);
}

function isSameStep(a: NodeCell['next'], b: NodeCell['next']): boolean {
  return a?.what === b?.what && a?.at === b?.at;
}
