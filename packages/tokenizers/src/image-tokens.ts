import type { ImageSize } from "./image-size.ts";

export type ImageDetail = "low" | "high" | "auto" | "original";

/** `base` tokens for the image and `tile` tokens for each tile of 512 × 512 pixels. */
interface TileRule {
  readonly kind: "tiles";
  readonly base: number;
  readonly tile: number;
}

/**
 * `factor` tokens for each patch of `pixels` × `pixels`. Images that need more than `patchesMax` patches are scaled
 * down.
 */
interface PatchRule {
  readonly kind: "patches";
  readonly pixels: number;
  readonly patchesMax: number;
  readonly factor: number;
}

/** Published rules by the beginning of the model's name. The first match applies. */
const RULES: readonly (readonly [RegExp, TileRule | PatchRule])[] = [
  [/^gpt-4\.1-mini/i, { kind: "patches", pixels: 32, patchesMax: 1536, factor: 1.62 }],
  [/^gpt-4\.1-nano/i, { kind: "patches", pixels: 32, patchesMax: 1536, factor: 2.46 }],
  [/^gpt-5(?:\.\d+)?-mini/i, { kind: "patches", pixels: 32, patchesMax: 1536, factor: 1.62 }],
  [/^gpt-5(?:\.\d+)?-nano/i, { kind: "patches", pixels: 32, patchesMax: 1536, factor: 2.46 }],
  [/^o4-mini/i, { kind: "patches", pixels: 32, patchesMax: 1536, factor: 1.72 }],
  [/^gpt-5/i, { kind: "tiles", base: 70, tile: 140 }],
  [/^gpt-4o-mini/i, { kind: "tiles", base: 2833, tile: 5667 }],
  [/^o[1-9]/i, { kind: "tiles", base: 75, tile: 150 }],
  [/^computer-use/i, { kind: "tiles", base: 65, tile: 129 }],
  [/^qwen/i, { kind: "patches", pixels: 28, patchesMax: 16_384, factor: 1 }],
  [/^gemma/i, { kind: "patches", pixels: 56, patchesMax: 256, factor: 1 }],
];
const USUAL_RULE: TileRule = { kind: "tiles", base: 85, tile: 170 };

const TILE_PIXELS = 512;
const LONG_SIDE_MAX = 2048;
const SHORT_SIDE_MAX = 768;
/** For images whose size is unknown without a download. */
const USUAL_SIZE: ImageSize = { width: 1024, height: 1024 };

/** Estimates the input tokens of an image. `size`: null if unknown. */
export function imageTokens(model: string, detail: ImageDetail, size: ImageSize | null): number {
  const name = model.slice(model.lastIndexOf("/") + 1);
  const rule = RULES.find(([family]) => family.test(name))?.[1] ?? USUAL_RULE;
  const knownSize = size ?? USUAL_SIZE;
  if (rule.kind === "patches") return patchTokens(rule, knownSize);
  return detail === "low" ? rule.base : rule.base + rule.tile * tilesOf(knownSize);
}

/** Scales the image down to 2048 × 2048, then its short side to 768, and counts the tiles that cover it. */
function tilesOf(size: ImageSize): number {
  const fittedSize = shrink(size, LONG_SIDE_MAX / Math.max(size.width, size.height));
  const scaledSize = shrink(fittedSize, SHORT_SIDE_MAX / Math.min(fittedSize.width, fittedSize.height));
  return Math.ceil(scaledSize.width / TILE_PIXELS) * Math.ceil(scaledSize.height / TILE_PIXELS);
}

function patchTokens({ pixels, patchesMax, factor }: PatchRule, { width, height }: ImageSize): number {
  const patches = Math.ceil(width / pixels) * Math.ceil(height / pixels);
  return Math.ceil(Math.min(patches, patchesMax) * factor);
}

function shrink({ width, height }: ImageSize, factor: number): ImageSize {
  const by = Math.min(1, factor);
  return { width: Math.max(1, Math.round(width * by)), height: Math.max(1, Math.round(height * by)) };
}
