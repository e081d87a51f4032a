/** Something that was really done to a node, told with both clocks: what a controller found out can be held against it. */
export interface GroundTruth {
  /** Wall time. */
  readonly atMs: number;
  /** Monotonic, since the fleet was made. */
  readonly sinceStartMs: number;
  readonly node: string;
  /** The fault's id. */
  readonly fault: string;
  readonly kind: string;
  /** `down` and `up`: of one that flaps, or that was ended and is started again. */
  readonly change: 'begin' | 'end' | 'down' | 'up';
}
