import { MediaError } from "@antiphon/domain/media.ts";
import type { EgressError, EgressReason } from "@antiphon/egress/egress-error.ts";

/** The error codes for one kind of part. */
export interface DownloadCodes {
  readonly invalid: string;
  readonly failed: string;
  readonly wrongType: string;
  readonly tooLarge: string;
}

export const IMAGE_DOWNLOAD: DownloadCodes = {
  invalid: "invalid_image_url",
  failed: "failed_to_download_image",
  wrongType: "unsupported_image_media_type",
  tooLarge: "image_too_large",
};

export const FILE_DOWNLOAD: DownloadCodes = {
  invalid: "invalid_file_url",
  failed: "failed_to_download_file",
  wrongType: "unsupported_file",
  tooLarge: "file_too_large",
};

const CODE_OF: Readonly<Partial<Record<EgressReason, keyof DownloadCodes>>> = {
  switched_off: "invalid",
  invalid_url: "invalid",
  forbidden: "invalid",
  wrong_type: "wrongType",
  too_large: "tooLarge",
};

export function notDownloaded(error: EgressError, codes: DownloadCodes, member: string): MediaError {
  const code = codes[CODE_OF[error.reason] ?? "failed"];
  return new MediaError(`Error while downloading '${member}': ${error.message}.`, { code, member, cause: error });
}
