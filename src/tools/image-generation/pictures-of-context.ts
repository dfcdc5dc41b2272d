import { decodeBase64 } from "@antiphon/base/limits/long-data.ts";
import type { StoredItem } from "@antiphon/contracts/responses-api/types.ts";
import type { Egress } from "@antiphon/egress/egress.ts";
import { EgressError } from "@antiphon/egress/egress-error.ts";
import { parseDataUrl } from "@antiphon/media/data-url.ts";
import { DrawingFailed, type Picture } from "./image-server.ts";

const PICTURES_MAX = 4;
const PICTURE_BYTES_MAX = 20 * 1024 * 1024;

/**
 * The pictures for an edit: the last drawn one, otherwise those of the user's last message with pictures. Rejects with
 * `DrawingFailed` if one cannot be read.
 */
export async function picturesOfContext(
  context: readonly StoredItem[],
  egress: Egress,
  caller: string,
  signal: AbortSignal,
): Promise<readonly Picture[]> {
  for (const item of context.toReversed()) {
    if (item.type === "image_generation_call" && item.result != null)
      return [await drawnPicture(item.result, item.output_format ?? "png")];
    const urls = urlsOf(item);
    if (urls.length > 0)
      return await Promise.all(urls.slice(0, PICTURES_MAX).map((url) => pictureAt(url, egress, caller, signal)));
  }
  return [];
}

function urlsOf(item: StoredItem): readonly string[] {
  if (item.type !== "message" || item.role !== "user") return [];
  return item.content.flatMap((part) =>
    part.type === "input_image" && part.image_url != null ? [part.image_url] : [],
  );
}

export async function drawnPicture(base64: string, format: string): Promise<Picture> {
  return { mimeType: `image/${format}`, bytes: Uint8Array.from(await decodeBase64(base64)) };
}

export async function pictureAt(url: string, egress: Egress, caller: string, signal: AbortSignal): Promise<Picture> {
  const inline = parseDataUrl(url);
  if (inline !== null) return { mimeType: inline.mimeType, bytes: Uint8Array.from(await decodeBase64(inline.base64)) };
  try {
    const { bytes, mimeType } = await egress.fetchGuarded(url, {
      bytesMax: PICTURE_BYTES_MAX,
      accept: ["image/*"],
      caller,
      signal,
    });
    return { mimeType: mimeType ?? "image/png", bytes: Uint8Array.from(bytes) };
  } catch (error) {
    if (error instanceof EgressError) throw new DrawingFailed(`A picture cannot be fetched: ${error.message}.`);
    throw error;
  }
}
