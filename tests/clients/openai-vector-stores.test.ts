import OpenAI, { toFile } from "openai";
import type { Response } from "openai/resources/responses/responses";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { FILE_SEARCH_SCENARIOS } from "./file-search-scenarios.ts";
import { installedVersion } from "./installed-version.ts";
import { collect } from "./openai-client.ts";

const server = await startTestServer({ scenario: FILE_SEARCH_SCENARIOS });
afterAll(() => server.close());
const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.apiKey, maxRetries: 0 });
const model = "gpt-5-mini";
const pollIntervalMs = 20;
const INCLUDE = "file_search_call.results";

async function uploaded(name: string, text: string): Promise<string> {
  return (await client.files.create({ file: await toFile(Buffer.from(text), name), purpose: "assistants" })).id;
}

describe(`openai ${installedVersion("openai")}`, () => {
  test("a vector store is created, read, changed, listed and deleted", async () => {
    verifies("vector-stores.create.object-of-the-reference", "vector-stores.list.order-and-pages");
    const store = await client.vectorStores.create({
      name: "Birds",
      metadata: { kind: "notes" },
      expires_after: { anchor: "last_active_at", days: 7 },
    });
    expect(store).toMatchObject({ object: "vector_store", name: "Birds", status: "completed", usage_bytes: 0 });
    expect(await client.vectorStores.retrieve(store.id)).toEqual(store);
    const changed = await client.vectorStores.update(store.id, { name: "Herons", expires_after: null });
    expect(changed).toMatchObject({ id: store.id, name: "Herons", metadata: { kind: "notes" } });
    expect(changed.expires_at ?? null).toBeNull();
    const others = [await client.vectorStores.create({}), await client.vectorStores.create({})];
    const listed = await collect(client.vectorStores.list({ limit: 1, order: "asc" }));
    expect(listed.map(({ id }) => id)).toEqual([store.id, ...others.map(({ id }) => id)]);
    const all = [store, ...others];
    for (const { id } of all)
      expect(await client.vectorStores.delete(id)).toEqual({ id, object: "vector_store.deleted", deleted: true });
    await expect(client.vectorStores.retrieve(store.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    expect(await collect(client.vectorStores.list())).toEqual([]);
  });

  test("files are added, waited for, read, changed and taken out again", async () => {
    verifies("vector-stores.files.polling-ends", "vector-stores.files.content", "vector-stores.attributes.update");
    const { id } = await client.vectorStores.create({});
    const { files } = client.vectorStores;
    const [first, second] = [await uploaded("a.txt", "Herons wait."), await uploaded("b.txt", "Owls fly at night.")];
    const made = await files.createAndPoll(id, { file_id: first, attributes: { year: 2020 } }, { pollIntervalMs });
    expect(made).toMatchObject({ id: first, status: "completed", last_error: null, attributes: { year: 2020 } });
    await files.create(id, { file_id: second });
    expect(await files.poll(id, second, { pollIntervalMs })).toMatchObject({ id: second, status: "completed" });
    const third = await files.uploadAndPoll(id, await toFile(Buffer.from("Ducks swim."), "c.txt"), { pollIntervalMs });
    const fourth = await files.upload(id, await toFile(Buffer.from("\0\u0001"), "d.bin"));
    expect(await files.poll(id, fourth.id, { pollIntervalMs })).toMatchObject({ status: "failed" });
    const listed = await collect(files.list(id, { limit: 1, order: "asc" }));
    expect(listed.map((file) => file.id)).toEqual([first, second, third.id, fourth.id]);
    expect((await collect(files.list(id, { filter: "failed" }))).map((file) => file.id)).toEqual([fourth.id]);
    expect(await files.retrieve(second, { vector_store_id: id })).toMatchObject({ vector_store_id: id });
    const attributes = { year: 2024, isOwl: true };
    expect(await files.update(second, { vector_store_id: id, attributes })).toMatchObject({ attributes });
    expect(await collect(files.content(second, { vector_store_id: id }))).toEqual([
      { type: "text", text: "Owls fly at night." },
    ]);
    const found = await collect(
      client.vectorStores.search(id, { query: "owls", filters: { type: "eq", key: "isOwl", value: true } }),
    );
    expect(found).toMatchObject([{ file_id: second, filename: "b.txt", attributes, content: [{ type: "text" }] }]);
    expect(await files.delete(second, { vector_store_id: id })).toMatchObject({ id: second, deleted: true });
    expect(await collect(client.vectorStores.search(id, { query: ["owls", "night"] }))).toEqual([]);
    expect(await client.files.retrieve(second)).toMatchObject({ filename: "b.txt" });
  });

  test("batches are added, waited for, listed and cancelled", async () => {
    verifies("vector-stores.batches.counts", "vector-stores.batches.cancel");
    const { id } = await client.vectorStores.create({});
    const { fileBatches } = client.vectorStores;
    const ids = [await uploaded("a.txt", "Herons wait."), await uploaded("b.txt", "Owls fly.")];
    const batch = await fileBatches.createAndPoll(id, { file_ids: ids }, { pollIntervalMs });
    expect(batch).toMatchObject({ status: "completed", file_counts: { completed: 2, total: 2 } });
    expect(await fileBatches.retrieve(batch.id, { vector_store_id: id })).toEqual(batch);
    const listed = await collect(fileBatches.listFiles(batch.id, { vector_store_id: id, limit: 1, order: "asc" }));
    expect(listed.map((file) => file.id)).toEqual(ids);
    const texts = ["Ducks swim.", "Geese swim too."];
    const more = await Promise.all(texts.map((text, index) => toFile(Buffer.from(text), `${index}.txt`)));
    const fileIds = [await uploaded("c.txt", "Swans glide.")];
    const grown = await fileBatches.uploadAndPoll(id, { files: more, fileIds }, { pollIntervalMs });
    expect(grown).toMatchObject({ status: "completed", file_counts: { completed: 3, total: 3 } });
    const slow = await fileBatches.create(id, {
      files: [{ file_id: await uploaded("e.txt", "Terns. ".repeat(90_000)) }],
    });
    const cancelled = await fileBatches.cancel(slow.id, { vector_store_id: id });
    expect(cancelled).toMatchObject({ id: slow.id, status: "cancelled", file_counts: { in_progress: 0, total: 1 } });
    expect(await fileBatches.poll(id, slow.id, { pollIntervalMs })).toEqual(cancelled);
    expect((await client.vectorStores.retrieve(id)).file_counts).toMatchObject({ completed: 5, in_progress: 0 });
  });

  describe("file_search", () => {
    let tools: { type: "file_search"; vector_store_ids: string[] }[];
    let fileId: string;
    beforeAll(async () => {
      fileId = await uploaded("herons.md", "# Hunting\n\nHerons wait in shallow water.");
      const store = await client.vectorStores.create({});
      await client.vectorStores.files.createAndPoll(store.id, { file_id: fileId }, { pollIntervalMs });
      tools = [{ type: "file_search", vector_store_ids: [store.id] }];
    });

    const check = (response: Response, isIncluded: boolean): void => {
      expect(response.output).toMatchObject([
        {
          type: "file_search_call",
          status: "completed",
          queries: ["heron hunting"],
          results: isIncluded
            ? [{ file_id: fileId, filename: "herons.md", text: expect.stringContaining("shallow"), attributes: {} }]
            : null,
        },
        {
          type: "message",
          content: [
            {
              text: "They wait. Yes.",
              annotations: [{ type: "file_citation", file_id: fileId, filename: "herons.md", index: 10 }],
            },
          ],
        },
      ]);
    };

    test.each([true, false])("responses.create() answers with its citation; results included: %s", async (included) => {
      verifies("tools.file-search.cites-files");
      const include = included ? ([INCLUDE] as const) : [];
      check(await client.responses.create({ model, input: "herons", tools, include: [...include] }), included);
    });

    test.each([true, false])(
      "responses.stream() shows its steps and citation; results included: %s",
      async (included) => {
        verifies("tools.file-search.cites-files");
        const include = included ? ([INCLUDE] as const) : [];
        const stream = client.responses.stream({ model, input: "herons", tools, include: [...include] });
        const types = (await collect(stream)).map((event): string => event.type);
        const steps = ["in_progress", "searching", "completed"].map((step) => `response.file_search_call.${step}`);
        expect(types.filter((type) => type.startsWith("response.file_search_call."))).toEqual(steps);
        expect(types).toContain("response.output_text.annotation.added");
        const final = await stream.finalResponse();
        check(final, included);
        check(await client.responses.retrieve(final.id, { include: [...include] }), included);
      },
    );
  });
});
