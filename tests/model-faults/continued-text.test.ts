import type { ServerResponse } from "node:http";
import { isRecord } from "@antiphon/base/json/records.ts";
import { expect, test } from "vitest";
import { Antiphon } from "../../packages/client/src/index.ts";
import {
  lastChunk,
  type ReceivedCall,
  textChunk,
} from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { COUNTS, delta, serveBehind, toolDelta } from "../responses/behind-upstream.ts";
import { eventsOf, readStream } from "../responses/read-stream.ts";
import { verifies } from "../verifies.ts";
import { say } from "./faults.ts";

const POEM = "The tide comes in, the tide goes out.";
const BEGUN = "The tide comes in, ";
const OTHER = "The sea is never still.";

type Message = Readonly<Record<string, unknown>>;

/** How a model server is told that its answer goes on from the text of the last message. */
const FORMS: Readonly<Record<string, (body: Message, last: Message) => boolean>> = {
  continue_final_message: (body) => body["continue_final_message"] === true && body["add_generation_prompt"] === false,
  prefix: (_body, last) => last["prefix"] === true,
  partial: (_body, last) => last["partial"] === true,
  last_message: () => true,
};

/** A model server that breaks off its first answer. Then it goes on with answers that it is given in this form. */
function breaksOff(goesOn: (body: Message, last: Message) => boolean, again = POEM) {
  let answers = 0;
  return (response: ServerResponse, { body: text }: ReceivedCall): void => {
    const body: unknown = JSON.parse(text);
    const messages = isRecord(body) && Array.isArray(body["messages"]) ? body["messages"] : [];
    const last: unknown = messages.at(-1);
    if (!isRecord(body) || !isRecord(last)) throw new Error("a request has messages");
    const begun = last["role"] === "assistant" && goesOn(body, last) ? String(last["content"]) : "";
    if (body["stream"] !== true) {
      const content = begun.endsWith("Thurs") ? "day, Friday" : "Monday, Tuesday";
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ choices: [{ message: { role: "assistant", content }, finish_reason: "length" }] }));
      return;
    }
    answers += 1;
    if (answers === 1) return say(response, [textChunk("The tide "), textChunk("comes in, ")], "cut");
    const rest = POEM.startsWith(begun) && begun !== "" ? POEM.slice(begun.length) : again;
    say(response, [textChunk(rest), lastChunk("stop"), COUNTS, "[DONE]"], "end");
  };
}

const BACKGROUND_STREAM = { background: true, stream: true };

test.each(Object.entries(FORMS))(
  "a text goes on where the model server goes on with answers by %s",
  async (_form, goesOn) => {
    verifies("state.crash.open-items-go-on", "state.notes.of-what-happened");
    const { server, create, upstream, asked } = await serveBehind(breaksOff(goesOn, OTHER));

    const stream = await readStream(await create(BACKGROUND_STREAM));

    expect(stream.final).toMatchObject({
      status: "completed",
      output: [{ status: "completed", content: [{ text: POEM }] }],
    });
    expect(eventsOf(stream, "response.output_item.added")).toHaveLength(1);
    expect(asked()).toMatchObject({ messages: [{ role: "user" }, { role: "assistant", content: BEGUN }] });
    expect(await incidents(server, stream.final.id)).toEqual(["waited model", "continued output"]);
    const probes = upstream.calls.filter(({ body }) => body.includes("Thurs")).length;
    await readStream(await create(BACKGROUND_STREAM));
    expect(upstream.calls.filter(({ body }) => body.includes("Thurs"))).toHaveLength(probes); // It is asked once.
  },
);

test("an answer that is the same again goes on in its item; another one is an item of its own", async () => {
  verifies("state.crash.open-items-go-on", "state.notes.of-what-happened");
  const same = await serveBehind(breaksOff(() => false));
  const other = await serveBehind(breaksOff(() => false, OTHER));

  const one = await readStream(await same.create(BACKGROUND_STREAM));
  const two = await readStream(await other.create(BACKGROUND_STREAM));

  expect(one.final.output).toMatchObject([{ status: "completed", content: [{ text: POEM }] }]);
  expect(two.final).toMatchObject({
    status: "completed",
    output: [
      { status: "incomplete", content: [{ text: BEGUN }] },
      { status: "completed", content: [{ text: OTHER }] },
    ],
  });
  expect(await incidents(other.server, two.final.id)).toEqual(["waited model", "continued output"]);
  const metrics = await (await other.server.fetch("/metrics")).text();
  expect(metrics).toMatch(/^antiphon_runs_continued_total\{how="new_item"\} 1$/m);
  expect(metrics).toMatch(/^antiphon_runs_waited_total 1$/m);
});

test("later requests are shown the answer that is whole, by its response and if its items are sent back", async () => {
  verifies("state.crash.later-requests-read-whole-items");
  const { create, asked } = await serveBehind(breaksOff(() => false, OTHER));
  const { final } = await readStream(await create(BACKGROUND_STREAM));
  const seen = [
    { role: "user", content: "Hi" },
    { role: "assistant", content: OTHER },
    { role: "user", content: "And?" },
  ];

  await readStream(await create({ previous_response_id: final.id, input: "And?", stream: true }));
  expect(asked()).toMatchObject({ messages: seen });
  const input = [{ role: "user", content: "Hi" }, ...final.output, { role: "user", content: "And?" }];
  await readStream(await create({ input, stream: true }));
  expect(asked()).toMatchObject({ messages: seen });
});

test("a call of the client that broke off is made anew, and only that one needs an output", async () => {
  verifies("state.crash.open-items-go-on", "state.crash.later-requests-read-whole-items");
  let turns = 0;
  const { create, asked } = await serveBehind((response, { body }) => {
    if (!body.includes('"stream":true')) return say(response, [], "end");
    turns += 1;
    const start = (id: string) =>
      toolDelta(0, { id, type: "function", function: { name: "look", arguments: '{"at":' } });
    const rest = (place: string) => toolDelta(0, { function: { arguments: `"${place}"}` } });
    if (turns === 1) return say(response, [start("call_a"), toolDelta(0, { function: { arguments: '"sho' } })], "cut");
    if (turns === 2) return say(response, [start("call_b"), rest("sea"), lastChunk("tool_calls"), "[DONE]"], "end");
    say(response, [delta({ content: "Seen." }), lastChunk("stop"), "[DONE]"], "end");
  });
  const tools = [{ type: "function", name: "look", parameters: { type: "object", properties: {} }, strict: false }];
  const { final } = await readStream(await create({ ...BACKGROUND_STREAM, tools }));
  expect(final.output).toMatchObject([
    { type: "function_call", status: "incomplete", arguments: '{"at":"sho' },
    { type: "function_call", status: "completed", arguments: '{"at":"sea"}', call_id: "call_b" },
  ]);
  const output = { type: "function_call_output", call_id: "call_b", output: "Waves" };
  const shown = [{ role: "user" }, { role: "assistant", tool_calls: [{ id: "call_b" }] }, { role: "tool" }];

  await readStream(await create({ previous_response_id: final.id, input: [output], tools, stream: true }));
  expect(asked()).toMatchObject({ messages: shown });
  const input = [{ role: "user", content: "Hi" }, ...final.output, output];
  await readStream(await create({ input, tools, stream: true }));
  expect(asked()).toMatchObject({ messages: shown });
});

/** What the notes of a response tell of, each with when and where. */
async function incidents(server: { readonly url: string; readonly apiKey: string }, id: string) {
  const client = new Antiphon({ baseUrl: server.url, apiKey: server.apiKey });
  const { notes } = await client.listResponseExchanges(id);
  const now = Date.now() / 1000;
  return notes.map(({ kind, what, why, at, node }) => {
    expect([why.length > 0, Math.abs((at ?? 0) - now) < 60, node]).toEqual([true, true, expect.stringMatching(/./)]);
    return `${kind} ${what}`;
  });
}
