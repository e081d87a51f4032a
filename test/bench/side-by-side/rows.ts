// The rows of the table, with their targets. Less is better in each of them.

export interface RowDefinition {
  readonly id: string;
  readonly title: string;
  readonly unit: string;
  /** Digits after the decimal point. */
  readonly digits: number;
}

const define = <T extends Record<string, Omit<RowDefinition, 'id'>>>(rows: T): T => rows;

const definitions = define({
  cpuPerHeartbeat: { title: 'CPU per heartbeat', unit: 'µs', digits: 0 },
  idleCpu: { title: 'CPU without heartbeats', unit: 'ms/s', digits: 1 },
  rss: { title: 'RSS after warm-up', unit: 'MB', digits: 0 },
  peakRss: { title: 'RSS, peak', unit: 'MB', digits: 0 },
  detectionP50: { title: 'expiry to Unknown, p50', unit: 's', digits: 3 },
  detectionP99: { title: 'expiry to Unknown, p99', unit: 's', digits: 3 },
  taintingP50: { title: 'Unknown to NoExecute, p50', unit: 's', digits: 3 },
  taintingP99: { title: 'Unknown to NoExecute, p99', unit: 's', digits: 3 },
  zoneLossNode: { title: 'zone loss: last expiry to last node Unknown', unit: 's', digits: 2 },
  zoneLossPod: { title: 'zone loss: last expiry to last pod NotReady', unit: 's', digits: 2 },
  podWrites: { title: 'zone loss: status writes per pod', unit: '', digits: 2 },
  start: { title: 'start to first pass', unit: 's', digits: 2 },
});

export type RowId = keyof typeof definitions;

export const rows: readonly (RowDefinition & { readonly id: RowId })[] = Object.entries(definitions).map(
  ([id, row]) => ({ id: id as RowId, ...row }),
);

/** At most this value of nlc, or this ratio of nlc to kube-controller-manager. */
export interface Target {
  readonly valueMax?: number;
  readonly ratioMax?: number;
}

/** Sizes without an entry have no target. */
const targets: Readonly<Record<number, Partial<Record<RowId, Target>>>> = {
  2_000: {
    cpuPerHeartbeat: { ratioMax: 0.4 },
    idleCpu: { valueMax: 3 },
    rss: { ratioMax: 0.4 },
    detectionP99: { valueMax: 0.25 },
    taintingP50: { valueMax: 0.03 },
    taintingP99: { valueMax: 0.1 },
    zoneLossNode: { ratioMax: 0.05 },
    podWrites: { valueMax: 1 },
  },
  5_000: {
    cpuPerHeartbeat: { ratioMax: 0.25 },
    rss: { ratioMax: 0.25 },
    detectionP99: { valueMax: 0.25 },
    taintingP50: { valueMax: 0.03 },
    taintingP99: { valueMax: 0.1 },
    zoneLossNode: { ratioMax: 0.05 },
    podWrites: { valueMax: 1 },
    start: { ratioMax: 0.5 },
  },
};

export function targetOf(nodes: number, row: RowId): Target | undefined {
  return targets[nodes]?.[row];
}
