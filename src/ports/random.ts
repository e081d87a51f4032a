/** Chance, so that a seed can take its place. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
}
