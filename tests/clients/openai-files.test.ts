import { createReadStream } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import OpenAI, { BadRequestError, NotFoundError, toFile } from "openai";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { verifies } from "../verifies.ts";
import { installedVersion } from "./installed-version.ts";
import { startWithClient } from "./openai-client.ts";

const { client } = await startWithClient();

describe(`openai ${installedVersion("openai")}`, () => {
  test("a file is uploaded, waited for, read and deleted", async () => {
    const file = await client.files.create({
      file: await toFile(Buffer.from("one two"), "notes.txt"),
      purpose: "user_data",
      expires_after: { anchor: "created_at", seconds: 3600 },
    });
    expect(file).toMatchObject({ object: "file", filename: "notes.txt", bytes: 7, purpose: "user_data" });
    expect(file.expires_at).toBe(file.created_at + 3600);
    expect(await client.files.waitForProcessing(file.id, { pollInterval: 1, maxWait: 1000 })).toEqual(file);
    expect(await client.files.retrieve(file.id)).toEqual(file);
    expect(await (await client.files.content(file.id)).text()).toBe("one two");
    expect(await client.files.delete(file.id)).toEqual({ id: file.id, object: "file", deleted: true });
    await expect(client.files.retrieve(file.id)).rejects.toBeInstanceOf(NotFoundError);
    await expect(client.files.content(file.id)).rejects.toBeInstanceOf(NotFoundError);
    await expect(client.files.delete(file.id)).rejects.toBeInstanceOf(NotFoundError);
  });

  test("a file on disk is uploaded and downloaded as a stream", async () => {
    verifies("files.upload.bytes-unchanged");
    const folder = temporaryFolder();
    const path = join(folder, "große Datei.bin");
    const bytes = Buffer.alloc(20_000_000, "0123456789\r\n--");
    await writeFile(path, bytes);
    const file = await client.files.create({ file: createReadStream(path), purpose: "assistants" });
    expect(file).toMatchObject({ filename: "große Datei.bin", bytes: bytes.length });
    const { body } = await client.files.content(file.id);
    const chunks: Uint8Array[] = [];
    for await (const chunk of body ?? []) chunks.push(chunk);
    expect(chunks.length).toBeGreaterThan(1);
    expect(Buffer.concat(chunks).equals(bytes)).toBe(true);
    await client.files.delete(file.id);
  });

  test("the list is walked page by page, in both orders, for a purpose and for all", async () => {
    verifies("files.list.order-and-pages");
    const ids: string[] = [];
    for (const purpose of ["vision", "user_data", "vision", "user_data", "vision"] as const)
      ids.push((await client.files.create({ file: await toFile(Buffer.from(purpose), "f"), purpose })).id);
    const walk = async (query: OpenAI.FileListParams): Promise<readonly number[]> => {
      const found: number[] = [];
      for await (const { id } of client.files.list(query)) found.push(ids.indexOf(id));
      return found;
    };
    expect(await walk({})).toEqual([4, 3, 2, 1, 0]);
    expect(await walk({ limit: 2 })).toEqual([4, 3, 2, 1, 0]);
    expect(await walk({ limit: 5, order: "asc" })).toEqual([0, 1, 2, 3, 4]);
    expect(await walk({ limit: 1, order: "asc", purpose: "vision" })).toEqual([0, 2, 4]);
    expect(await walk({ purpose: "batch" })).toEqual([]);
    const page = await client.files.list({ limit: 2 });
    expect([page.has_more, page.data.length]).toEqual([true, 2]);
    await Promise.all(ids.map((id) => client.files.delete(id)));
    expect((await client.files.list()).data).toEqual([]);
  });

  test("refusals are the client's error classes", async () => {
    const file = await toFile(Buffer.from("x"), "x.txt");
    const purpose: OpenAI.FilePurpose = JSON.parse('"answers"');
    const refused = await client.files.create({ file, purpose }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(BadRequestError);
    expect(refused).toMatchObject({ param: "purpose", code: "invalid_value" });
    const unknown = await client.files.retrieve("file-unknown").catch((error: unknown) => error);
    expect(unknown).toMatchObject({ status: 404, param: "id", message: "404 No such File object: file-unknown" });
  });
});
