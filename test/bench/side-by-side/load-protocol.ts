// What the load generator does for the bench, over the channel between the two processes.

export interface LoadTarget {
  readonly url: string;
  /** The certificate authority's certificate, PEM. */
  readonly ca: string;
  readonly token: string;
}

export interface ClusterSize {
  readonly nodes: number;
  readonly podsPerNode: number;
}

/** Delays in milliseconds. */
interface Delays {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Of the time since the previous call. */
export interface LoadFigures {
  readonly seconds: number;
  /** Accepted lease renewals. */
  readonly renewals: number;
  /** Renewals that were not sent because the previous one of the node was unanswered. */
  readonly skipped: number;
  readonly failed: number;
  readonly lastFailure: string | undefined;
  /** How late renewals were sent. */
  readonly lateness: Delays;
  /** From the request of a renewal to its response. */
  readonly latency: Delays;
}

/** Names of nodes, and when the last renewal or status of each was accepted, in milliseconds of Unix time. */
export type LastHeartbeats = Readonly<Record<string, number>>;

/** When a plain client got its last answers, in milliseconds of Unix time. */
export interface MarkedAt {
  readonly nodesMs: number;
  readonly podsMs: number;
}

export interface LoadGenerator {
  /** Creates nodes, leases and pods, and posts their status. */
  register(options: { readonly target: LoadTarget; readonly size: ClusterSize }): Promise<void>;
  /** Starts the renewals of all nodes, or continues them. */
  run(): Promise<void>;
  /** Stops all renewals. */
  pause(): Promise<void>;
  /** Stops the renewals and the status of these nodes. */
  silence(nodes: readonly string[]): Promise<LastHeartbeats>;
  /** Continues them: each node renews its lease and posts that it and its pods are ready. */
  resume(nodes: readonly string[]): Promise<void>;
  figures(): Promise<LoadFigures>;
  /** Sends what a controller sends about these nodes and their pods, for each node from its time on. */
  mark(expiresAtMs: LastHeartbeats): Promise<MarkedAt>;
  /** Removes the taints that it added. */
  unmark(nodes: readonly string[]): Promise<void>;
}

export type LoadMethod = keyof LoadGenerator;

export interface LoadCall {
  readonly id: number;
  readonly method: LoadMethod;
  readonly argument: unknown;
}

export interface LoadAnswer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: string;
}

/** Milliseconds of Unix time with a fraction, comparable between processes of one machine. */
export function unixMs(): number {
  return performance.timeOrigin + performance.now();
}
