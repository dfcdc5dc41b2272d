import { mapSomeAtOnce } from "@antiphon/base/limits/map-some-at-once.ts";
import type { ContainerBytes } from "../store/stores/files/file-bytes.ts";
import type { S3Client } from "./s3-client.ts";
import { S3Files } from "./s3-files.ts";

const REMOVED_AT_ONCE_MAX = 8;

/** The bytes of container files in a bucket, under both ids. */
export class S3ContainerFiles implements ContainerBytes {
  readonly #client: S3Client;
  /** The prefix of container ids, such as `antiphon/containers/`. */
  readonly #folder: string;

  constructor(client: S3Client, folder: string) {
    this.#client = client;
    this.#folder = folder;
  }

  async write(
    containerId: string,
    fileId: string,
    content: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<number> {
    return await this.#filesOf(containerId).write(fileId, content, signal);
  }

  stream(containerId: string, fileId: string): AsyncIterable<Uint8Array> {
    return this.#filesOf(containerId).stream(fileId);
  }

  async remove(containerId: string, fileId: string): Promise<void> {
    await this.#filesOf(containerId).remove(fileId);
  }

  async removeUnfinished(containerId: string, fileId: string): Promise<void> {
    await this.#filesOf(containerId).removeUnfinished(fileId);
  }

  async removeContainer(containerId: string, fileIds: readonly string[]): Promise<void> {
    const files = this.#filesOf(containerId);
    await mapSomeAtOnce(fileIds, REMOVED_AT_ONCE_MAX, (fileId) => files.remove(fileId));
  }

  #filesOf(containerId: string): S3Files {
    return new S3Files(this.#client, `${this.#folder}${containerId}/`);
  }
}
