import { randomHex } from "@antiphon/base/ids.ts";
import { FileStorageAway } from "@antiphon/domain/storage.ts";
import type { FileBytes } from "../store/stores/files/file-bytes.ts";
import type { S3Client } from "./s3-client.ts";
import { elements, elementText, escapeXml, S3Refused } from "./s3-reply.ts";
import { type FilePart, splitIntoParts, type UploadPart, uploadPart } from "./upload-parts.ts";

/** S3's minimum for all parts but the last. Its maximum of 10,000 parts is 52 GB. */
const PART_BYTES = 5 * 1024 * 1024;
/** How often reading is resumed at the same byte. */
const BREAKS_MAX = 3;
/** Identifies the upload that wrote an object. */
const UPLOAD_NAME = "x-amz-meta-upload";
const UPLOAD_NAME_DIGITS = 32;

const NOT_FOUND = 404;
const PARTIAL_CONTENT = 206;
const PRECONDITION_FAILED = 412;

/** The bytes of files in a bucket, each as one object. */
export class S3Files implements FileBytes {
  readonly #client: S3Client;
  /** The prefix of each id, such as `antiphon/files/`. */
  readonly #folder: string;

  constructor(client: S3Client, folder: string) {
    this.#client = client;
    this.#folder = folder;
  }

  /** A file of one part is one call; larger ones are sent part by part as they arrive. */
  async write(id: string, content: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<number> {
    const leave = await this.#client.uploads.take(signal);
    const parts = splitIntoParts(content, PART_BYTES);
    try {
      const first = await parts.next();
      if (first.done === true) throw new Error("a file has at least one part");
      if (!first.value.isLast) return await this.#writeParts(this.#keyOf(id), first.value, parts, signal);
      await this.#put(this.#keyOf(id), first.value, signal);
      return first.value.bytes.length;
    } finally {
      leave();
      await parts.return(undefined);
    }
  }

  async read(id: string): Promise<Buffer | null> {
    try {
      return Buffer.concat(await Array.fromAsync(this.stream(id)));
    } catch (error) {
      if (error instanceof S3Refused && error.code === "NoSuchKey") return null;
      throw error;
    }
  }

  /** If the connection breaks, resumes at the missing bytes. */
  async *stream(id: string): AsyncGenerator<Uint8Array> {
    let offset = 0;
    let breaks = 0;
    for (;;) {
      const { body } = await this.#openFrom(this.#keyOf(id), offset);
      try {
        for await (const piece of body) {
          if (!(piece instanceof Uint8Array)) continue;
          [offset, breaks] = [offset + piece.length, 0];
          yield piece;
        }
        return;
      } catch (error) {
        breaks += 1;
        if (breaks > BREAKS_MAX) throw new FileStorageAway(error);
      }
    }
  }

  async remove(id: string): Promise<void> {
    await this.#client.send({ method: "DELETE", key: this.#keyOf(id) }).catch(unlessGone);
  }

  async removeUnfinished(id: string): Promise<void> {
    const key = this.#keyOf(id);
    for (const uploadId of await this.#findUploads(key)) await this.#abort(key, uploadId);
    await this.remove(id);
  }

  async #openFrom(key: string, first: number) {
    if (first === 0) return await this.#client.open({ method: "GET", key });
    const reply = await this.#client.open({ method: "GET", key, headers: { range: `bytes=${first}-` } });
    if (reply.status === PARTIAL_CONTENT && reply.header("content-range").startsWith(`bytes ${first}-`)) return reply;
    await reply.body.dump();
    throw new Error("the file storage replied with another range than requested");
  }

  async #put(key: string, part: UploadPart, signal: AbortSignal): Promise<void> {
    const upload = randomHex(UPLOAD_NAME_DIGITS);
    const headers = { "if-none-match": "*", [UPLOAD_NAME]: upload };
    try {
      await this.#client.send({ method: "PUT", key, headers, part, signal });
    } catch (error) {
      await this.#throwUnlessDone(error, key, upload);
    }
  }

  async #writeParts(
    key: string,
    first: FilePart,
    others: AsyncIterable<FilePart>,
    signal: AbortSignal,
  ): Promise<number> {
    const upload = randomHex(UPLOAD_NAME_DIGITS);
    const creation = await this.#client.send({
      method: "POST",
      key,
      query: { uploads: "" },
      headers: { [UPLOAD_NAME]: upload },
      signal,
    });
    const uploadId = elementText(creation, "UploadId");
    const tags: string[] = [];
    let bytes = 0;
    const send = async (part: FilePart): Promise<void> => {
      const query = { partNumber: String(tags.length + 1), uploadId };
      const reply = await this.#client.open({ method: "PUT", key, query, part, signal });
      await reply.body.dump();
      tags.push(reply.header("etag"));
      bytes += part.bytes.length;
    };
    try {
      await send(first);
      for await (const part of others) await send(part);
      await this.#complete(key, { uploadId, tags, upload }, signal);
      return bytes;
    } catch (error) {
      await this.#abort(key, uploadId).catch(() => {}); // `removeUnfinished` removes the rest.
      throw error;
    }
  }

  async #complete(
    key: string,
    {
      uploadId,
      tags,
      upload,
    }: { readonly uploadId: string; readonly tags: readonly string[]; readonly upload: string },
    signal: AbortSignal,
  ): Promise<void> {
    const partTexts = tags.map(
      (tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${escapeXml(tag)}</ETag></Part>`,
    );
    const body = Buffer.from(`<CompleteMultipartUpload>${partTexts.join("")}</CompleteMultipartUpload>`);
    const call = {
      method: "POST",
      key,
      query: { uploadId },
      headers: { "if-none-match": "*", "content-type": "application/xml" },
      part: uploadPart(body),
      signal,
    } as const;
    try {
      const answer = await this.#client.send(call);
      const code = elementText(answer, "Code");
      // The status of the reply was sent before the work was done.
      if (code !== "") throw new FileStorageAway(new S3Refused("POST", { status: 200, code, isRepeated: false }));
    } catch (error) {
      await this.#throwUnlessDone(error, key, upload);
    }
  }

  /** An attempt whose reply was lost may have written the object, which then blocks the next attempt. */
  async #throwUnlessDone(fault: unknown, key: string, upload: string): Promise<void> {
    const isInTheWay =
      fault instanceof S3Refused &&
      fault.isRepeated &&
      (fault.status === PRECONDITION_FAILED || fault.status === NOT_FOUND);
    if (!isInTheWay) throw fault;
    const there = await this.#client.open({ method: "HEAD", key }).catch(() => null);
    await there?.body.dump();
    if (there?.header(UPLOAD_NAME) !== upload) throw fault;
  }

  /** Empty if the key may not list uploads. A rule of the bucket should then end them. */
  async #findUploads(key: string): Promise<readonly string[]> {
    const query = { uploads: "", prefix: key };
    const list = await this.#client.send({ method: "GET", key: null, query }).catch((error: unknown) => {
      if (error instanceof S3Refused) return "";
      throw error;
    });
    const ofKey = elements(list, "Upload").filter((one) => elementText(one, "Key") === key);
    return ofKey.map((one) => elementText(one, "UploadId"));
  }

  async #abort(key: string, uploadId: string): Promise<void> {
    await this.#client.send({ method: "DELETE", key, query: { uploadId } }).catch(unlessGone);
  }

  #keyOf(id: string): string {
    return `${this.#folder}${id}`;
  }
}

function unlessGone(error: unknown): void {
  if (!(error instanceof S3Refused && error.status === NOT_FOUND)) throw error;
}
