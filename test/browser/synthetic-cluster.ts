// A cluster as the dashboard's protocol shows it, without a controller: a zone becomes silent, its nodes are tainted at a
// rate and emptied, and it recovers. One step is one second. For tests of the page with more nodes than a demo has.
import type { DashboardBoard } from '../../src/dashboard/server/dashboard-board.ts';
import type {
  Cluster,
  HoldBanner,
  NodeCell,
  NodeState,
  PendingEviction,
  Sample,
  TimelineLine,
  ZoneRow,
} from '../../src/dashboard/protocol.ts';

export interface SyntheticOptions {
  readonly zones: number;
  readonly nodesPerZone: number;
  /** Names of further nodes, in the first zone. */
  readonly names?: readonly string[];
}

const secondMs = 1_000;
const samplesInAnHour = 360;
export const secondsPerSample = 10;
const linesPerStepMax = 20;
const taintedPerStep = 10;
const stepsUntilUnreachable = 3;
const stepsUntilEmptying = 5;
const secondsUntilEviction = 30;
const evictionsShownMax = 200;
const policyName = 'edge';
const podsPerNode = 12;

/** What a zone does: undefined is healthy, a number is the steps since it was cut. */
interface Zone {
  readonly name: string;
  readonly nodes: readonly string[];
  cutSteps: number | undefined;
}

export class SyntheticCluster {
  readonly #board: DashboardBoard;
  readonly #zones: readonly Zone[];
  readonly #cells = new Map<string, NodeCell>();
  readonly #taintedAtStep = new Map<string, number>();
  readonly #startMs = Date.now();
  #steps = 0;
  #lines = 0;

  constructor(board: DashboardBoard, { zones, nodesPerZone, names = [] }: SyntheticOptions) {
    this.#board = board;
    this.#zones = Array.from({ length: zones }, (_, index) => {
      const own = Array.from(
        { length: nodesPerZone },
        (_, at) => `z${index + 1}-node-${String(at + 1).padStart(4, '0')}`,
      );
      return { name: `z${index + 1}`, nodes: index === 0 ? [...own, ...names] : own, cutSteps: undefined };
    });
    for (const zone of this.#zones)
      for (const [index, name] of zone.nodes.entries()) this.#set(this.#cell(zone.name, name, index));
    for (let index = samplesInAnHour; index > 0; index -= 1)
      board.addSample(this.#sample(-index * secondsPerSample * secondMs));
    this.#publish([]);
  }

  cut(zone: string): void {
    for (const each of this.#zones) if (each.name === zone) each.cutSteps = 0;
  }

  recover(): void {
    for (const zone of this.#zones) if (zone.cutSteps !== undefined) zone.cutSteps = Number.NaN;
  }

  /** One second passes. */
  step(): void {
    this.#steps += 1;
    const changed = this.#zones.flatMap((zone) => this.#stepZone(zone));
    for (const cell of changed) this.#set(cell);
    if (this.#steps % secondsPerSample === 0) this.#board.addSample(this.#sample(0));
    this.#publish(changed.slice(0, linesPerStepMax));
  }

  #publish(changed: readonly NodeCell[]): void {
    this.#board.addLines(changed.map((cell) => this.#line(cell)));
    this.#board.setCluster(this.#cluster());
    this.#board.setZones(this.#zoneRows());
    this.#board.publish();
  }

  #set(cell: NodeCell): void {
    this.#cells.set(cell.name, cell);
    this.#board.set(cell);
  }

  #stepZone(zone: Zone): readonly NodeCell[] {
    if (zone.cutSteps === undefined) return [];
    if (Number.isNaN(zone.cutSteps)) {
      zone.cutSteps = undefined;
      return this.#recovered(zone);
    }
    zone.cutSteps += 1;
    return this.#progressed(zone);
  }

  #progressed(zone: Zone): readonly NodeCell[] {
    const steps = zone.cutSteps ?? 0;
    if (steps === 1) return zone.nodes.map((name) => this.#changed(name, 'suspect'));
    if (steps === stepsUntilUnreachable) return zone.nodes.map((name) => this.#changed(name, 'unreachable'));
    if (steps < stepsUntilUnreachable) return [];
    const waiting = zone.nodes.filter((name) => !this.#taintedAtStep.has(name)).slice(0, taintedPerStep);
    for (const name of waiting) this.#taintedAtStep.set(name, this.#steps);
    const due = zone.nodes.filter((name) => this.#taintedAtStep.get(name) === this.#steps - stepsUntilEmptying);
    return [
      ...waiting.map((name) => this.#changed(name, 'tainted')),
      ...due.map((name) => this.#changed(name, 'emptying')),
    ];
  }

  #recovered(zone: Zone): readonly NodeCell[] {
    for (const name of zone.nodes) this.#taintedAtStep.delete(name);
    return zone.nodes.map((name) => this.#changed(name, 'ready'));
  }

  #cell(zone: string, name: string, index: number): NodeCell {
    const policy = index % 10 === 9 ? policyName : null;
    return { name, zone, policy, state: 'ready', since: this.#at(), pods: podsPerNode, held: null, next: null };
  }

  #changed(name: string, state: NodeState): NodeCell {
    const next = {
      ready: null,
      suspect: { what: 'condition Ready becomes Unknown', at: this.#at(2_000) },
      unreachable: { what: 'taint unreachable:NoExecute', at: null },
      tainted: { what: 'pods are evicted', at: this.#at(stepsUntilEmptying * secondMs) },
      emptying: { what: 'pods are deleted', at: this.#at(30_000) },
    } as const;
    const cell = this.#cells.get(name);
    if (cell === undefined) throw new Error(`no node ${name}`);
    const known = state in next ? next[state as keyof typeof next] : null;
    return { ...cell, state, since: this.#at(), next: known };
  }

  #line({ name, zone, state }: NodeCell): TimelineLine {
    this.#lines += 1;
    const id = this.#lines;
    const text = state === 'ready' ? `node ${name}: Ready again` : `node ${name}: ${state}`;
    return { id, at: this.#at(), kind: `node-${state}`, text, warning: state !== 'ready', node: name, pod: null, zone };
  }

  #cluster(): Cluster {
    const evictions = this.#evictions();
    const unhealthy = this.#count((cell) => cell.policy === policyName && cell.state !== 'ready');
    return {
      at: this.#at(),
      mode: 'taints',
      leading: true,
      leader: 'replica-1',
      shadow: false,
      replicas: ['replica-1', 'replica-2'],
      holds: this.#zones.filter(({ cutSteps }) => cutSteps !== undefined).map((zone) => this.#hold(zone)),
      policies: [
        {
          name: policyName,
          mode: 'enforce',
          windows: [],
          nodes: this.#count(({ policy }) => policy === policyName),
          unhealthy,
          held: unhealthy > 5 ? unhealthy : 0,
          breaker: { open: unhealthy > 5, text: `${unhealthy} of at most 5 unhealthy nodes` },
        },
      ],
      evictions: evictions.slice(0, evictionsShownMax),
      evictionsTotal: evictions.length,
      comparison: null,
    };
  }

  #hold({ name, cutSteps }: Zone): HoldBanner {
    const sinceMs = -(cutSteps ?? 0) * secondMs;
    return {
      kind: 'path-failure',
      why: `the nodes of zone ${name} became silent together`,
      since: this.#at(sinceMs),
      until: this.#at(sinceMs + 120_000),
      ends: 'a heartbeat of one of them, or the maximum of the hold',
    };
  }

  #evictions(): readonly PendingEviction[] {
    return [...this.#taintedAtStep].map(([node, step], index) => {
      const atMs = (step - this.#steps + secondsUntilEviction) * secondMs;
      return { pod: `default/web-${index}`, node, at: this.#at(atMs) };
    });
  }

  #zoneRows(): readonly ZoneRow[] {
    return this.#zones.map((zone) => {
      const unready = zone.nodes.filter((name) => this.#cells.get(name)?.state !== 'ready').length;
      const waiting = unready === 0 ? 0 : zone.nodes.filter((name) => !this.#taintedAtStep.has(name)).length;
      return {
        name: zone.name,
        outer: null,
        condition: unready === 0 ? 'normal' : 'fully-disrupted',
        nodes: zone.nodes.length,
        unready,
        ratePerSecond: taintedPerStep,
        tokens: 1,
        waiting,
        drainSeconds: waiting / taintedPerStep,
      };
    });
  }

  #sample(offsetMs: number): Sample {
    const silent = this.#count(({ state }) => state !== 'ready');
    const evictions = this.#taintedAtStep.size;
    return {
      at: this.#at(offsetMs),
      silent,
      evictions,
      requests: 20 + silent / 10,
      heartbeatP50: 5,
      heartbeatP99: 9.5,
    };
  }

  #count(is: (cell: NodeCell) => boolean): number {
    return [...this.#cells.values()].filter(is).length;
  }

  #at(offsetMs = 0): string {
    return new Date(this.#startMs + this.#steps * secondMs + offsetMs).toISOString();
  }
}
