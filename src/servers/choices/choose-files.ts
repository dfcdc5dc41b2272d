import { join } from "node:path";
import { assert } from "@antiphon/base/assert.ts";
import { randomHex } from "@antiphon/base/ids.ts";
import type { Logger } from "@antiphon/base/logger.ts";
import { FileStorageAway } from "@antiphon/domain/storage.ts";
import { ConfigError } from "../../config/config-error.ts";
import { readFilesUrl } from "../../config/files-url.ts";
import type { Config } from "../../config/load-config.ts";
import { S3Client } from "../../object-storage/s3-client.ts";
import { S3ContainerFiles } from "../../object-storage/s3-container-files.ts";
import { S3Files } from "../../object-storage/s3-files.ts";
import { S3Refused } from "../../object-storage/s3-reply.ts";
import { ContainerFolder } from "../../store/stores/containers/container-folder.ts";
import type { ContainerBytes, FileBytes } from "../../store/stores/files/file-bytes.ts";
import { FileFolder } from "../../store/stores/files/file-folder.ts";

/** A storage for the bytes of files outside the data folder. */
export interface FilesElsewhere {
  readonly files: FileBytes;
  readonly containers: ContainerBytes;
  /** Checks whether the storage can be reached. Takes a few seconds at most. */
  isReachable(): Promise<boolean>;
  close(): Promise<void>;
}

const TRY_MS_MAX = 5000;
const TRIED_NAME_DIGITS = 32;

/**
 * Writes and removes a test file if files are stored outside the data folder. Rejects with `ConfigError` if the storage
 * refuses it. A storage that does not respond is only logged, because everything else works without it.
 */
export async function tryFiles(config: Config, log: Logger): Promise<void> {
  const elsewhere = chooseFiles(config);
  if (elsewhere === null) return;
  const id = `try-${randomHex(TRIED_NAME_DIGITS)}`;
  const limit = AbortSignal.timeout(TRY_MS_MAX);
  try {
    await elsewhere.files.write(id, oneByte(), limit);
    await elsewhere.files.remove(id);
  } catch (error) {
    if (!limit.aborted && !(error instanceof FileStorageAway)) throw filesUrlError(error);
    log.error({ err: error }, "the file storage (FILES_URL) does not respond; files are unavailable until it does");
  } finally {
    await elsewhere.close();
  }
}

async function* oneByte(): AsyncGenerator<Uint8Array> {
  yield Buffer.from("a");
}

function filesUrlError(error: unknown): ConfigError {
  const why = error instanceof Error ? error.message : "no reason is known";
  return new ConfigError([`FILES_URL cannot be used: ${why}.`]);
}

/** Null if files are stored in the data folder. */
export function chooseFiles(config: Config): FilesElsewhere | null {
  if (config.filesUrl === null) return null;
  const place = readFilesUrl(config.filesUrl);
  assert(place !== null, "the configuration accepts only a valid FILES_URL");
  if (place.type === "folder") {
    const files = new FileFolder(join(place.path, "files"));
    return {
      files,
      containers: new ContainerFolder(join(place.path, "containers")),
      isReachable: () => files.hasRoom(),
      close: async () => {},
    };
  }
  const { s3Endpoint: endpoint, s3Region: region, awsAccessKeyId, awsSecretAccessKey } = config;
  const client = new S3Client({
    bucket: place.bucket,
    endpoint,
    region,
    accessKeyId: awsAccessKeyId?.reveal() ?? "",
    secretAccessKey: awsSecretAccessKey?.reveal() ?? "",
  });
  return {
    files: new S3Files(client, `${place.prefix}files/`),
    containers: new S3ContainerFiles(client, `${place.prefix}containers/`),
    isReachable: () => answersAtAll(client, `${place.prefix}files/none`),
    close: () => client.close(),
  };
}

/** Any response of the storage counts, an error included. */
async function answersAtAll(client: S3Client, key: string): Promise<boolean> {
  try {
    await client.send({ method: "HEAD", key, signal: AbortSignal.timeout(TRY_MS_MAX) });
    return true;
  } catch (error) {
    return error instanceof S3Refused;
  }
}
