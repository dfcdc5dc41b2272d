import { expect, test } from "vitest";
import { lastChunk, textChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { toolDelta } from "../responses/behind-upstream.ts";
import { checkReply } from "../responses/check-refusal.ts";
import { checkStreamLaws } from "../responses/check-stream-laws.ts";
import { readResponse, readStream } from "../responses/read-stream.ts";
import { serveScript } from "../tools/behind-script.ts";
import { verifies } from "../verifies.ts";
import { createStore, takenIn, upload } from "./store-client.ts";

function asks(...queries: readonly string[]) {
  const called = { name: "file_search", arguments: JSON.stringify({ queries }) };
  return [toolDelta(0, { id: "call_1", type: "function", function: called }), lastChunk("tool_calls")];
}

test("one call searches all stores in all forms, and the answer cites the files", async () => {
  verifies(
    "tools.file-search.searches-all-stores",
    "tools.file-search.cites-files",
    "responses.stream.file-search-order",
  );
  const { server, create, asked } = await serveScript([
    asks("fox", "hare"),
    [textChunk("They jump.【fi"), textChunk("le:1】 They run.【file:2】"), lastChunk("stop")],
  ]);
  const fox = await upload(server, "fox.txt", "The fox jumps.");
  const hare = await upload(server, "hare.txt", "The hare runs.");
  const both = [await createStore(server, [fox]), await createStore(server, [hare])];
  for (const store of both) await takenIn(server, store);
  const stream = await readStream(
    await create({
      stream: true,
      tools: [{ type: "file_search", vector_store_ids: both }],
      include: ["file_search_call.results"],
    }),
  );
  checkStreamLaws(stream);
  const names = stream.events.map(({ type }) => type.replace("response.", "")).slice(2, 7);
  expect(names).toEqual([
    "output_item.added",
    "file_search_call.in_progress",
    "file_search_call.searching",
    "file_search_call.completed",
    "output_item.done",
  ]);
  const [call, message] = stream.final.output;
  const result = (file_id: string, filename: string, text: string, vector_store_id: string | undefined) => ({
    attributes: {},
    file_id,
    filename,
    score: expect.any(Number),
    text,
    vector_store_id,
  });
  expect(call).toMatchObject({ type: "file_search_call", status: "completed", queries: ["fox", "hare"] });
  if (call?.type !== "file_search_call") throw new Error("no call");
  const results = [
    result(fox, "fox.txt", "The fox jumps.", both[0]),
    result(hare, "hare.txt", "The hare runs.", both[1]),
  ];
  expect(call.results).toEqual(results);
  expect(JSON.stringify(asked[1]?.messages)).toContain("The hare runs.");
  const text = "They jump. They run.";
  const cited = (file_id: string, filename: string, index: number) => ({
    type: "file_citation",
    file_id,
    filename,
    index,
  });
  expect(message).toMatchObject({
    content: [{ text, annotations: [cited(fox, "fox.txt", 10), cited(hare, "hare.txt", text.length)] }],
  });
});

test("a call searches with the filters and ranking options of the tool", async () => {
  verifies("tools.file-search.searches-all-stores");
  const turns = [asks("fox"), [textChunk("Done."), lastChunk("stop")]];
  const { server, create } = await serveScript([...turns, ...turns, ...turns, ...turns]);
  const store = await createStore(server, []);
  for (const year of [1900, 2000]) {
    const file_id = await upload(server, `${year}.txt`, `The fox of ${year}.`);
    await server.post(`/v1/vector_stores/${store}/files`, { file_id, attributes: { year } });
  }
  await takenIn(server, store);
  const search = async (members: object): Promise<number | undefined> => {
    const tools = [{ type: "file_search", vector_store_ids: [store], ...members }];
    const { output } = await readResponse(await create({ tools, include: ["file_search_call.results"] }));
    const call = output.find((item) => item.type === "file_search_call");
    return call?.results?.length;
  };
  expect(await search({})).toBe(2);
  expect(await search({ filters: { type: "gt", key: "year", value: 1950 } })).toBe(1);
  expect(await search({ max_num_results: 1 })).toBe(1);
  expect(await search({ ranking_options: { score_threshold: 1 } })).toBe(0);
});

test("a search of a store that is unknown to the owner is refused before the response begins", async () => {
  verifies("tools.file-search.unknown-store");
  const { create } = await serveScript([[textChunk("Done."), lastChunk("stop")]]);
  const tools = [{ type: "file_search", vector_store_ids: ["vs_x"] }];
  for (const members of [{}, { stream: true }])
    await checkReply(await create({ tools, ...members }), {
      status: 404,
      code: "invalid_request_error",
      param: "tools",
      message: "Vector store with id 'vs_x' not found.",
    });
});
