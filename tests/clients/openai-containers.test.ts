import OpenAI, { toFile } from "openai";
import { afterAll, describe, expect, test } from "vitest";
import { startTestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { installedVersion } from "./installed-version.ts";
import { collect } from "./openai-client.ts";

const server = await startTestServer();
afterAll(() => server.close());
const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.apiKey, maxRetries: 0 });
const { containers } = client;

async function csv(text: string, name = "sales.csv") {
  return await toFile(Buffer.from(text), name, { type: "text/csv" });
}

describe(`openai ${installedVersion("openai")}`, () => {
  test("a container is created, read, listed and deleted", async () => {
    verifies("containers.create.object-of-the-reference", "containers.list.order-and-pages");
    const first = await containers.create({ name: "first", memory_limit: "1g" });
    expect(first).toMatchObject({ object: "container", status: "running", memory_limit: "1g" });
    expect(await containers.retrieve(first.id)).toEqual({ ...first, last_active_at: expect.any(Number) });
    const others = [await containers.create({ name: "more" }), await containers.create({ name: "more" })];
    const listed = await collect(containers.list({ limit: 1, order: "asc" }));
    expect(listed.map(({ id }) => id)).toEqual([first.id, ...others.map(({ id }) => id)]);
    expect((await collect(containers.list({ name: "more" }))).map(({ id }) => id)).toEqual(
      others.map(({ id }) => id).toReversed(),
    );
    for (const { id } of [first, ...others]) await containers.delete(id);
    await expect(containers.retrieve(first.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    expect(await collect(containers.list())).toEqual([]);
  });

  test("files are put in, copied, listed, downloaded and taken out", async () => {
    verifies("containers.files.upload-and-download", "containers.files.copies-of-uploads");
    const uploaded = await client.files.create({ file: await csv("1,2"), purpose: "user_data" });
    const { id: container_id } = await containers.create({ name: "work", file_ids: [uploaded.id] });
    const [copied] = await collect(containers.files.list(container_id));
    expect(copied).toMatchObject({ path: "/mnt/data/sales.csv", bytes: 3, source: "user" });
    const sent = await containers.files.create(container_id, { file: await csv("3,4,5", "more.csv") });
    const again = await containers.files.create(container_id, { file_id: uploaded.id });
    const listed = await collect(containers.files.list(container_id, { limit: 1, order: "asc" }));
    expect(listed.map(({ id }) => id)).toEqual([sent.id, again.id]);
    expect(await containers.files.retrieve(sent.id, { container_id })).toEqual(sent);
    const content = await containers.files.content.retrieve(sent.id, { container_id });
    expect(Buffer.from(await content.arrayBuffer()).toString()).toBe("3,4,5");
    await containers.files.delete(sent.id, { container_id });
    const gone = containers.files.content.retrieve(sent.id, { container_id });
    await expect(gone).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });

  test("several megabytes come back unchanged", async () => {
    verifies("containers.files.upload-and-download");
    const bytes = Buffer.alloc(5_000_000, "0123456789abcdef\n");
    const { id: container_id } = await containers.create({ name: "large" });
    const file = await toFile(bytes, "large.bin", { type: "application/octet-stream" });
    const { id } = await containers.files.create(container_id, { file });
    const content = await containers.files.content.retrieve(id, { container_id });
    expect(Buffer.from(await content.arrayBuffer()).equals(bytes)).toBe(true);
  });
});
