import type { ImageSize } from "./image-size.ts";

export type ImageDetail = "low" | "high" | "auto" | "original";

/** Tiles of 512 pixels: so many for the picture as a whole, and so many for each tile. */
interface TileRule {
  readonly kind: "tiles";
  readonly base: number;
  readonly tile: number;
}

/** Patches of some pixels, as many as cover the picture, which is made smaller if there were more than `patchesMax`. */
interface PatchRule {
  readonly kind: "patches";
  readonly pixels: number;
  readonly patchesMax: number;
  readonly factor: number;
}

/** By the beginning of a model's name, as their makers publish it; the first that fits. */
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
/** For pictures whose size cannot be told without fetching them. */
const USUAL_SIZE: ImageSize = { width: 1024, height: 1024 };

/** About how many tokens a picture takes of a model's input. `size` null: not known. */
export function imageTokens(model: string, detail: ImageDetail, size: ImageSize | null): number {
  const name = model.slice(model.lastIndexOf("/") + 1);
  const rule = RULES.find(([family]) => family.test(name))?.[1] ?? USUAL_RULE;
  const known = size ?? USUAL_SIZE;
  if (rule.kind === "patches") return patchTokens(rule, known);
  return detail === "low" ? rule.base : rule.base + rule.tile * tilesOf(known);
}

/** The picture is fitted into 2048 × 2048, then its short side to 768, then covered with tiles. */
function tilesOf(size: ImageSize): number {
  const fitted = shrink(size, LONG_SIDE_MAX / Math.max(size.width, size.height));
  const scaled = shrink(fitted, SHORT_SIDE_MAX / Math.min(fitted.width, fitted.height));
  return Math.ceil(scaled.width / TILE_PIXELS) * Math.ceil(scaled.height / TILE_PIXELS);
}

function patchTokens({ pixels, patchesMax, factor }: PatchRule, { width, height }: ImageSize): number {
  const patches = Math.ceil(width / pixels) * Math.ceil(height / pixels);
  return Math.ceil(Math.min(patches, patchesMax) * factor);
}

function shrink({ width, height }: ImageSize, factor: number): ImageSize {
  const by = Math.min(1, factor);
  return { width: Math.max(1, Math.round(width * by)), height: Math.max(1, Math.round(height * by)) };
}
