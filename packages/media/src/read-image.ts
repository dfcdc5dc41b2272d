import { base64Form, decodeBase64 } from "@antiphon/base/limits/long-data.ts";
import type { ImageSource } from "@antiphon/domain/media.ts";
import { dataUrl, parseDataUrl } from "./data-url.ts";
import { IMAGE_DOWNLOAD } from "./download-errors.ts";
import {
  emptyImage,
  imageFileNotFound,
  imageMissing,
  imagesNotSupported,
  imageTooLarge,
  invalidBase64Image,
  invalidImageUrl,
  unsupportedImage,
} from "./image-errors.ts";
import type { DownloadPlan, LoadedParts } from "./loaded-parts.ts";
import type { RequestOptions } from "./media-options.ts";
import { IMAGE_TYPES, sniffBase64, sniffType } from "./sniff-type.ts";

/** Image types, and the types that servers give to files of unknown type. */
const ACCEPTED = ["image/*", "application/octet-stream", "binary/octet-stream"];

/** The URL of an image for the model: the client's own URL, or a data URL with the content. */
export async function readImage(options: RequestOptions, parts: LoadedParts, image: ImageSource): Promise<string> {
  const { abilities, limits } = options;
  if (!abilities.images) throw imagesNotSupported();
  const { image_url: url, file_id: fileId } = image;
  if (url == null) {
    if (fileId == null) throw imageMissing();
    return readUpload(parts, fileId, limits.imageBytesMax);
  }
  if (/^data:/i.test(url)) return checkedDataUrl(url, limits.imageBytesMax);
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) throw invalidImageUrl();
  if (abilities.imageUrls) return url;
  const member = "image_url";
  const plan: DownloadPlan = { member, bytesMax: limits.imageBytesMax, accept: ACCEPTED, codes: IMAGE_DOWNLOAD };
  const { bytes } = await parts.download(url, plan);
  return inlineImage(bytes, member);
}

async function readUpload(parts: LoadedParts, fileId: string, bytesMax: number): Promise<string> {
  const member = "file_id";
  const file = await parts.readUpload(fileId, ({ bytes }) => {
    if (bytes > bytesMax) throw imageTooLarge(member, bytesMax);
  });
  if (file === null) throw imageFileNotFound(fileId);
  return inlineImage(file.bytes, member);
}

function inlineImage(bytes: Uint8Array, member: string): Promise<string> {
  if (bytes.length === 0) throw emptyImage(member);
  return dataUrl(checkedType(sniffType(bytes), member), bytes);
}

/**
 * Checks a data URL. Returns it unchanged, or with its real media type and plain base64, which model servers rely on.
 */
async function checkedDataUrl(url: string, bytesMax: number): Promise<string> {
  const member = "image_url";
  const dataParts = parseDataUrl(url);
  if (dataParts === null) throw invalidBase64Image();
  const { base64, mimeType } = dataParts;
  if (base64.trim() === "") throw emptyImage(member);
  const form = await base64Form(base64);
  if (form === null) throw invalidBase64Image();
  if ((base64.length / 4) * 3 > bytesMax + 2) throw imageTooLarge(member, bytesMax);
  const real = checkedType(sniffBase64(base64), member);
  return real === mimeType && form === "plain" ? url : dataUrl(real, await decodeBase64(base64));
}

function checkedType(type: string | null, member: string): string {
  const imageType = IMAGE_TYPES.find((candidate) => candidate === type);
  if (imageType === undefined) throw unsupportedImage(member, type);
  return imageType;
}
