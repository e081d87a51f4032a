/** Random numbers, replaceable by a seeded generator. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
}
