import { imageDimensionsFromData } from "image-dimensions";

/** The size of an image in pixels. */
export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/**
 * Reads the size of an image from its header without decoding it. Knows PNG, JPEG, GIF and WebP; null for anything
 * else.
 */
export function readImageSize(bytes: Buffer): ImageSize | null {
  const { width = 0, height = 0 } = imageDimensionsFromData(bytes) ?? {};
  return width > 0 && height > 0 ? { width, height } : null;
}
