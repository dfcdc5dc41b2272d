import { imageDimensionsFromData } from "image-dimensions";

/** In pixels. */
export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/**
 * The size that a picture's own header tells, for PNG, JPEG, GIF and WebP; null for what it cannot read. Looks at no
 * pixel.
 */
export function readImageSize(bytes: Buffer): ImageSize | null {
  const { width = 0, height = 0 } = imageDimensionsFromData(bytes) ?? {};
  return width > 0 && height > 0 ? { width, height } : null;
}
