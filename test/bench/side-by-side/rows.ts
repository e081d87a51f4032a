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
  apiCpu: { title: 'API server: CPU per heartbeat', unit: 'µs', digits: 0 },
  apiBaseCpu: { title: 'API server: CPU per heartbeat without a controller', unit: 'µs', digits: 0 },
  apiBytes: { title: 'API server: bytes for the controller, per heartbeat', unit: 'B', digits: 0 },
  apiIdleCpu: { title: 'API server: CPU for the controller without heartbeats', unit: 'ms/s', digits: 1 },
  apiStartBytes: { title: 'API server: bytes of the start', unit: 'MB', digits: 1 },
  rss: { title: 'RSS after warm-up', unit: 'MB', digits: 0 },
  privateRss: { title: 'RSS after warm-up, without pages of files', unit: 'MB', digits: 0 },
  peakRss: { title: 'RSS, peak', unit: 'MB', digits: 0 },
  detectionP50: { title: 'expiry to Unknown, p50', unit: 's', digits: 3 },
  detectionP99: { title: 'expiry to Unknown, p99', unit: 's', digits: 3 },
  taintingP50: { title: 'Unknown to NoExecute, p50', unit: 's', digits: 3 },
  taintingP99: { title: 'Unknown to NoExecute, p99', unit: 's', digits: 3 },
  zoneLossNode: { title: 'zone loss: last expiry to last node Unknown', unit: 's', digits: 2 },
  zoneLossPod: { title: 'zone loss: last expiry to last pod NotReady', unit: 's', digits: 2 },
  plainNode: { title: 'zone loss: the same node writes of a plain client', unit: 's', digits: 2 },
  plainPod: { title: 'zone loss: all the same writes of a plain client', unit: 's', digits: 2 },
  podWrites: { title: 'zone loss: status writes per pod', unit: '', digits: 2 },
  start: { title: 'start to first pass', unit: 's', digits: 2 },
});

export type RowId = keyof typeof definitions;

export const rows: readonly (RowDefinition & { readonly id: RowId })[] = Object.entries(definitions).map(
  ([id, row]) => ({ id: id as RowId, ...row }),
);

/** At most this value of nlc, this ratio of nlc to kube-controller-manager, or this multiple of another row of nlc. */
export interface Target {
  readonly valueMax?: number;
  readonly ratioMax?: number;
  readonly times?: { readonly max: number; readonly row: RowId };
}

/** Sizes without an entry have no target. */
const targets: Readonly<Record<number, Partial<Record<RowId, Target>>>> = {
  500: { cpuPerHeartbeat: { ratioMax: 0.25 } },
  2_000: {
    cpuPerHeartbeat: { ratioMax: 0.25 },
    idleCpu: { valueMax: 3 },
    apiBytes: { ratioMax: 0.7 },
    rss: { ratioMax: 0.3 },
    detectionP99: { valueMax: 0.25 },
    taintingP50: { valueMax: 0.03 },
    taintingP99: { valueMax: 0.1 },
    zoneLossNode: { ratioMax: 0.05, times: { max: 1.1, row: 'plainNode' } },
    zoneLossPod: { times: { max: 1.1, row: 'plainPod' } },
    podWrites: { valueMax: 1 },
  },
  5_000: {
    cpuPerHeartbeat: { ratioMax: 0.25 },
    rss: { ratioMax: 0.25 },
    detectionP99: { valueMax: 0.25 },
    taintingP50: { valueMax: 0.03 },
    taintingP99: { valueMax: 0.1 },
    zoneLossNode: { ratioMax: 0.05, times: { max: 1.1, row: 'plainNode' } },
    zoneLossPod: { times: { max: 1.1, row: 'plainPod' } },
    podWrites: { valueMax: 1 },
    start: { ratioMax: 0.5 },
  },
};

export function targetOf(nodes: number, row: RowId): Target | undefined {
  return targets[nodes]?.[row];
}
