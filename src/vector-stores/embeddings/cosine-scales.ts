/** Where the cosines of a model lie. */
interface CosineScale {
  /** Becomes 0.5. */
  readonly middle: number;
  /** One above the middle becomes 0.73. */
  readonly width: number;
  readonly commonShare: number;
}

/**
 * Measured with multilingual-e5-small on the Debian FAQ in English, German, French and Russian, with Italian as a
 * check: a right answer has a cosine of 0.88 in the middle of all and 0.82 at the fifth percentile, a text on
 * another subject 0.73 in the middle and 0.78 at the 98th. The first middle becomes 0.8, the second 0.1. The whole
 * family is trained at the same low temperature, so its cosines lie as close together. What all texts have in common
 * is therefore most of a cosine; the share of it was chosen on half of the questions of `scripts/tools-quality`.
 */
const E5: CosineScale = { middle: 0.82, width: 0.043, commonShare: 0.4 };

const FAMILIES: readonly (readonly [name: RegExp, CosineScale])[] = [[/(^|[^a-z0-9])e5-(small|base|large)/, E5]];

/**
 * How near two texts are in their meaning, from 0 to 1, by the cosine of their vectors. Grows with the cosine. Models
 * of other families have unrelated texts near 0 already, so their cosine stands for itself.
 */
export function meaningOfCosine(modelName: string, cosine: number): number {
  const scale = scaleOf(modelName);
  if (scale === null) return Math.min(1, Math.max(0, cosine));
  return 1 / (1 + Math.exp((scale.middle - cosine) / scale.width));
}

/** The share for `ChunkHit.nearness`; 0 for other families, whose texts have little in common. */
export function commonShareOf(modelName: string): number {
  return scaleOf(modelName)?.commonShare ?? 0;
}

function scaleOf(modelName: string): CosineScale | null {
  const name = modelName.toLowerCase().replaceAll("_", "-");
  return FAMILIES.find(([pattern]) => pattern.test(name))?.[1] ?? null;
}
