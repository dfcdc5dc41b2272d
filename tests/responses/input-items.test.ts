import type { ItemList } from "@antiphon/contracts/responses-api/types.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { MODEL } from "./check-refusal.ts";
import { PIXEL, pdfOf, pdfUrl } from "./media-samples.ts";
import { readItemList } from "./read-item-list.ts";
import { readResponse } from "./read-stream.ts";

const PDF = pdfUrl(pdfOf("Hi"));
const call = { type: "function_call", call_id: "call_1", name: "f", arguments: "{}" };
const parts = [
  { type: "input_text", text: "See" },
  { type: "input_image", image_url: PIXEL },
  { type: "input_file", filename: "a.pdf", file_data: PDF },
];

/** The input, and how it is listed, oldest first and without ids. */
const SUPPLIED: Readonly<Record<string, readonly [input: unknown, listed: readonly object[]]>> = {
  "a string": [
    "Hi",
    [{ type: "message", status: "completed", role: "user", content: [{ type: "input_text", text: "Hi" }] }],
  ],
  "content that is a string": [
    [
      { role: "developer", content: "Be brief" },
      { role: "assistant", content: "Yes" },
      { type: "message", role: "user", content: "Hi", status: null },
    ],
    [
      { type: "message", status: "completed", role: "developer", content: [{ type: "input_text", text: "Be brief" }] },
      {
        type: "message",
        status: "completed",
        role: "assistant",
        content: [{ type: "output_text", annotations: [], logprobs: [], text: "Yes" }],
      },
      { type: "message", status: "completed", role: "user", content: [{ type: "input_text", text: "Hi" }] },
    ],
  ],
  "parts, with their images and files": [
    [{ role: "user", content: parts }],
    [
      {
        type: "message",
        status: "completed",
        role: "user",
        content: [
          { type: "input_text", text: "See" },
          { type: "input_image", detail: "auto", file_id: null, image_url: PIXEL },
          { type: "input_file", file_data: PDF, file_id: null, filename: "a.pdf" },
        ],
      },
    ],
  ],
  "a call and its output": [
    [call, { type: "function_call_output", call_id: "call_1", output: "18 degrees" }],
    [
      { ...call, status: "completed" },
      { type: "function_call_output", status: "completed", call_id: "call_1", output: "18 degrees" },
    ],
  ],
  "an output that holds parts": [
    [call, { type: "function_call_output", call_id: "call_1", output: parts.slice(0, 2) }],
    [
      { ...call, status: "completed" },
      {
        type: "function_call_output",
        status: "completed",
        call_id: "call_1",
        output: [parts[0], { type: "input_image", detail: "auto", file_id: null, image_url: PIXEL }],
      },
    ],
  ],
};

describe("the input items of a response", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.close());

  const create = async (members: object): Promise<string> =>
    (await readResponse(await server.post("/v1/responses", { model: MODEL, ...members }))).id;

  const list = async (id: string, query = ""): Promise<ItemList> =>
    readItemList(await server.fetch(`/v1/responses/${id}/input_items${query}`));
  const idsOf = ({ data }: ItemList): string[] => data.map(({ id }) => id);

  verifies(
    "create.input.string-is-one-user-message",
    "input-items.content.exactly-what-was-supplied",
    "input-items.content.normalised",
  );
  verifies(
    "input-items.content.image-and-file-data-included",
    "create.input.multimodal-parts",
    "create.input.audio-content-part",
  );
  verifies(
    "create.input.function-output-arrays",
    "validation.messages.type-may-be-left-out",
    "response.ids.listed-tool-output-is-fc",
  );
  test.each(Object.entries(SUPPLIED))("are the input given as %s, normalised", async (_title, [input, listed]) => {
    const { data, has_more } = await list(await create({ input, instructions: "Never listed." }), "?order=asc");
    expect(has_more).toBe(false);
    expect(data.map(({ id: _id, ...item }) => item)).toEqual(listed);
    for (const { id, type } of data) expect(id).toMatch(type === "message" ? /^msg_/ : /^fc_/);
  });

  test("keep ids sent by clients, and have the same ids at every call", async () => {
    verifies("input-items.content.stable-ids", "input-items.content.instructions-are-not-items");
    const id = await create({
      input: [
        { id: "msg_mine", role: "user", content: "One" },
        { role: "user", content: "Two" },
      ],
    });
    const first = await list(id);
    expect(idsOf(first)[1]).toBe("msg_mine");
    expect(await list(id)).toEqual(first);
  });

  test("do not show the notes that Codex adds to items", async () => {
    verifies("create.input.codex-notes-accepted");
    const internal_chat_message_metadata_passthrough = { turn_id: "turn_1", content_item_kinds: ["user.text"] };
    const id = await create({
      input: [
        { role: "user", content: "Hi", internal_chat_message_metadata_passthrough },
        { ...call, internal_chat_message_metadata_passthrough },
        { type: "function_call_output", call_id: "call_1", output: "Done", internal_chat_message_metadata_passthrough },
      ],
    });
    const { data } = await list(id);
    expect(data).toHaveLength(3);
    expect(JSON.stringify(data)).not.toContain("passthrough");
  });

  test("are those of the call itself, not of the chain before it", async () => {
    const first = await create({ input: "One" });
    const second = await create({ input: "Two", previous_response_id: first });
    expect((await list(second)).data).toMatchObject([{ content: [{ text: "Two" }] }]);
  });

  test("are an empty list if there was no input", async () => {
    verifies("lists.envelope.empty-list");
    const id = await create({ previous_response_id: await create({ input: "One" }) });
    expect(await list(id)).toEqual({ object: "list", data: [], first_id: null, has_more: false, last_id: null });
  });

  test("are listed twenty at a time, newest first, by default", async () => {
    verifies(
      "lists.query.defaults",
      "lists.query.order",
      "lists.query.after-is-exclusive",
      "lists.envelope.members",
      "lists.walk.each-item-once",
    );
    const input = Array.from({ length: 25 }, (_, index) => ({ id: `msg_${index}`, role: "user", content: "Hi" }));
    const id = await create({ input });
    const oldestFirst = input.map((item) => item.id);
    const newestFirst = oldestFirst.toReversed();
    const page = async (query: string): Promise<object> => {
      const found = await list(id, query);
      return { ids: idsOf(found), more: found.has_more };
    };
    expect(await page("")).toEqual({ ids: newestFirst.slice(0, 20), more: true });
    expect(await page("?after=msg_5")).toEqual({ ids: newestFirst.slice(20), more: false });
    expect(await page("?order=asc&limit=2")).toEqual({ ids: oldestFirst.slice(0, 2), more: true });
    expect(await page("?order=asc&limit=2&after=msg_1")).toEqual({ ids: oldestFirst.slice(2, 4), more: true });
    expect(await page("?order=asc&limit=23&after=msg_1")).toEqual({ ids: oldestFirst.slice(2), more: false });
    expect(await page("?limit=100")).toEqual({ ids: newestFirst, more: false });
    expect(await page("?limit=5&after=msg_0")).toEqual({ ids: [], more: false });
  });

  test("cannot start after an unknown item, which differs from an unknown response", async () => {
    const id = await create({ input: "Hi" });
    const wrongCursor = await server.fetch(`/v1/responses/${id}/input_items?after=msg_nowhere`);
    expect(wrongCursor.status).toBe(400);
    expect(await wrongCursor.json()).toMatchObject({ error: { code: "invalid_value", param: "after" } });
    expect((await server.fetch("/v1/responses/resp_nowhere/input_items?after=msg_nowhere")).status).toBe(404);
  });
});

test("include the items of earlier turns with history, and both cursors work", async () => {
  verifies("input-items.history.lists-the-chain");
  const server = await startTestServer();
  const ask = async (input: string, previous: string | null) =>
    readResponse(
      await server.post("/v1/responses", { model: "antiphon-built-in", input, previous_response_id: previous }),
    );
  const first = await ask("say one", null);
  const second = await ask("say two", first.id);
  const list = async (query: string): Promise<ItemList> =>
    readItemList(await server.fetch(`/v1/responses/${second.id}/input_items?${query}`));
  const textsOf = (page: ItemList) =>
    page.data.map((item) => (item.type === "message" ? item.content.map((part) => "text" in part && part.text) : null));
  const all = await list("history=true&order=asc");
  expect(textsOf(all)).toEqual([["say one"], ["one"], ["say two"]]);
  expect(textsOf(await list("history=true"))).toEqual([["say two"], ["one"], ["say one"]]);
  expect(textsOf(await list(`history=true&order=asc&after=${all.first_id}&limit=1`))).toEqual([["one"]]);
  expect(textsOf(await list(`history=true&order=asc&before=${all.last_id}`))).toEqual([["say one"], ["one"]]);
  expect(textsOf(await list("order=asc"))).toEqual([["say two"]]);
  expect((await server.fetch(`/v1/responses/${second.id}/input_items?history=true&after=msg_x`)).status).toBe(400);
});
