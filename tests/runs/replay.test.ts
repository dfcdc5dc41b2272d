import { expect, test } from "vitest";
import { dataLines } from "../kit/event-stream.ts";
import { startTestServer } from "../kit/test-server.ts";
import { query } from "../kit/tested-store.ts";
import { readResponse, readStream } from "../responses/read-stream.ts";
import { verifies } from "../verifies.ts";
import { pollUntil } from "./poll.ts";
import { serveSlowModel } from "./slow-model.ts";

const FOUR_WEEKS_S = 28 * 24 * 60 * 60;

async function serve() {
  const server = await startTestServer();
  const create = async (members: object) =>
    server.post("/v1/responses", { model: "antiphon-built-in", input: "count to 20", ...members });
  const read = async (path: string): Promise<string[]> => dataLines(await (await server.fetch(path)).text());
  return { server, create, read };
}

const unpadded = (lines: readonly string[]): string[] =>
  lines.map((line) => line.replace(/,"obfuscation":"[^"]*"/, ""));

test("a finished response is replayed byte for byte, on both paths, from any number", async () => {
  verifies("responses.replay.equals-the-original", "responses.replay.starting-after", "responses.replay.events-path");
  const { create, read } = await serve();
  const stream = await readStream(await create({ background: true, stream: true }));
  const sent = dataLines(stream.text);
  const path = `/v1/responses/${stream.final.id}`;
  expect(await read(`${path}?stream=true`)).toEqual(sent);
  expect(await read(`${path}/events`)).toEqual(sent);
  for (const after of [0, 1, 7, sent.length - 2])
    expect(await read(`${path}?stream=true&starting_after=${after}`)).toEqual(sent.slice(after + 1));
  expect(await read(`${path}?stream=true&starting_after=${sent.length - 1}`)).toEqual([]);
  expect(await read(`${path}/events?starting_after=9999`)).toEqual([]);
});

test("events have their numbers as ids, and Last-Event-ID continues after one", async () => {
  verifies("responses.replay.event-ids", "responses.replay.event-source-ends");
  const { server, create } = await serve();
  const stream = await readStream(await create({ background: true, stream: true }));
  expect(stream.text).not.toMatch(/^id:/m);
  const path = `/v1/responses/${stream.final.id}`;
  expect(await (await server.fetch(`${path}?stream=true`)).text()).not.toMatch(/^id:/m);
  const read = async (lastId: string, search = "") => {
    const reply = await server.fetch(`${path}/events${search}`, { headers: { "last-event-id": lastId } });
    return {
      status: reply.status,
      ids: [...(await reply.text()).matchAll(/^event: \S+\nid: (\d+)\ndata: /gm)].map(([, id]) => Number(id)),
    };
  };
  const all = stream.events.map(({ sequence_number: number }) => number);
  const last = all.length - 1;
  expect(await read("")).toEqual({ status: 200, ids: all });
  expect(await read("6")).toEqual({ status: 200, ids: all.slice(7) });
  // The URL of an EventSource is older than its last id.
  expect(await read("6", "?starting_after=2")).toEqual({ status: 200, ids: all.slice(7) });
  expect(await read("2", "?starting_after=6")).toEqual({ status: 200, ids: all.slice(7) });
  expect(await read("2", "?channels=reasoning")).toMatchObject({ status: 200 });
  expect(await read(`${last}`)).toEqual({ status: 204, ids: [] });
  expect((await read("one")).status).toBe(400);
});

test("a response of four weeks ago is replayed like a new one", async () => {
  verifies("responses.replay.as-long-as-kept");
  const { server, create, read } = await serve();
  const stream = await readStream(await create({ background: true, stream: true }));
  const aged = "update responses set created_at = created_at - ?, completed_at = completed_at - ? returning id";
  expect(await query(server.dataDir, aged, FOUR_WEEKS_S, FOUR_WEEKS_S)).toHaveLength(1);
  const path = `/v1/responses/${stream.final.id}`;
  expect(await read(`${path}?stream=true`)).toEqual(dataLines(stream.text));
  expect(await read(`${path}/events`)).toEqual(dataLines(stream.text));
});

test("every stored response is replayed on the events path, except for padding", async () => {
  verifies("responses.replay.any-stored-response");
  const { create, read } = await serve();
  const stream = await readStream(await create({ stream: true }));
  expect(stream.text).toContain("obfuscation");
  expect(await read(`/v1/responses/${stream.final.id}/events`)).toEqual(unpadded(dataLines(stream.text)));
  const plain = await readResponse(await create({}));
  expect((await read(`/v1/responses/${plain.id}/events`)).at(-1)).toContain('"type":"response.completed"');
});

test("the reference's path replays only responses made with background and stream", async () => {
  verifies("errors.catalogue.replay-foreground");
  const { server, create } = await serve();
  const refusal = async (id: string) => (await server.fetch(`/v1/responses/${id}?stream=true`)).json();
  const { final } = await readStream(await create({ stream: true }));
  expect(await refusal(final.id)).toMatchObject({
    error: {
      param: "stream",
      message: "This response cannot be streamed because it was not created with background=true.",
    },
  });
  const { id } = await readResponse(await create({ background: true }));
  await pollUntil(server, id, "completed");
  expect(await refusal(id)).toMatchObject({
    error: {
      param: "stream",
      message: "This response cannot be streamed because it was not created with stream=true.",
    },
  });
  expect((await server.fetch("/v1/responses/resp_unknown?stream=true")).status).toBe(404);
  expect((await server.fetch("/v1/responses/resp_unknown/events")).status).toBe(404);
});

test("the events path speaks the extension dialect by default, and filters channels", async () => {
  verifies(
    "responses.replay.stream-query-speaks-reference",
    "responses.replay.events-path-speaks-extension",
    "state.events.log-is-canonical",
  );
  const { server, create, read } = await serve();
  const tools = [{ type: "function", name: "get_weather", parameters: { type: "object", properties: {} } }];
  const made = await create({ background: true, stream: true, input: "get weather", tools, tool_choice: "required" });
  const { final } = await readStream(made);
  const typesOf = (lines: readonly string[]) => lines.map((line) => /"type":"([^"]+)"/.exec(line)?.[1]);
  const path = `/v1/responses/${final.id}`;
  expect(typesOf(await read(`${path}/events`))).toContain("response.tool_call.done");
  expect(typesOf(await read(`${path}/events?dialect=reference`))).toContain("response.function_call_arguments.done");
  expect(typesOf(await read(`${path}?stream=true`))).toContain("response.function_call_arguments.done");
  expect(typesOf(await read(`${path}/events?channels=output_text`))).not.toContain("response.tool_call.done");
  expect((await server.fetch(`${path}/events?dialect=klingon`)).status).toBe(400);
});

test("any number of readers can attach to a running response, each from any number", async () => {
  verifies("responses.replay.attaches-live", "responses.replay.any-number-of-readers");
  const { server, create, call } = await serveSlowModel();
  const { id } = await readResponse(await create({ background: true }));
  const model = await call(0);
  model.say("One ");
  await pollUntil(server, id, "in_progress");
  const attach = (after: number) =>
    server.fetch(`/v1/responses/${id}/events${after < 0 ? "" : `?starting_after=${after}`}`);
  const replies = await Promise.all([-1, 0, 2, 4, -1, 100].map(attach));
  for (const word of ["two ", "three ", "four"]) model.say(word);
  model.finish();
  const [all, ...others] = await Promise.all(replies.map(async (reply) => dataLines(await reply.text())));
  expect(all?.map((line) => JSON.parse(line).sequence_number)).toEqual(all?.map((_, index) => index));
  expect(all?.at(-1)).toContain("One two three four");
  expect(others).toEqual([all?.slice(1), all?.slice(3), all?.slice(5), all, []]);
});
