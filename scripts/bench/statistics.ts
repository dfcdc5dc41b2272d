export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The quantile of the values: this share of them is smaller. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** The slope of the line that fits the points best, in units of `y` for each unit of `x`. */
export function slopeOf(points: readonly { readonly x: number; readonly y: number }[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const meanX = mean(points.map(({ x }) => x));
  const meanY = mean(points.map(({ y }) => y));
  const rise = points.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0);
  const run = points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
  return run === 0 ? 0 : rise / run;
}
