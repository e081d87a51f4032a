/** A change that was made to a node, with wall and monotonic time: a controller's decisions can be compared with it. */
export interface GroundTruth {
  /** Wall time. */
  readonly atMs: number;
  /** Monotonic, since the fleet was created. */
  readonly sinceStartMs: number;
  readonly node: string;
  /** The fault's id. */
  readonly fault: string;
  readonly kind: string;
  /** `down` and `up`: of a flapping node, or of one whose kubelet was ended and started again. */
  readonly change: 'begin' | 'end' | 'down' | 'up';
}
