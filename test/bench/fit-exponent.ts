// How a figure grows with the size of the cluster.

/** One measurement: a figure at a size. */
interface SizedValue {
  readonly size: number;
  readonly value: number;
}

/**
 * The exponent k of value = c * size^k, by least squares on the logarithms: 0 is constant, 1 is proportional. Values that
 * are not positive have no logarithm and are left out. Undefined if fewer than two sizes remain.
 */
export function fitExponent(points: readonly SizedValue[]): number | undefined {
  const logs = points
    .filter(({ size, value }) => size > 0 && value > 0)
    .map(({ size, value }) => ({ x: Math.log(size), y: Math.log(value) }));
  const meanX = mean(logs.map(({ x }) => x));
  const meanY = mean(logs.map(({ y }) => y));
  const spreadX = logs.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
  if (!(spreadX > 0)) return undefined;
  return logs.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0) / spreadX;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
