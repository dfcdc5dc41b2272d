import type { ServerResponse } from "node:http";
import { isRecord } from "@antiphon/base/json/records.ts";
import { expect, test } from "vitest";
import { Antiphon } from "../../packages/client/src/index.ts";
import {
  lastChunk,
  type ReceivedCall,
  sse,
  textChunk,
} from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { COUNTS, serveBehind, toolDelta } from "../responses/behind-upstream.ts";
import { readStream } from "../responses/read-stream.ts";
import { verifies } from "../verifies.ts";

verifies("chat-engine.tools.required-is-forced");

const PARAMETERS = { type: "object", properties: {}, additionalProperties: false };
const toolNamed = (name: string) => ({ type: "function", name, parameters: PARAMETERS, strict: false });

/** Which kinds of tool choice a model server obeys. */
type Obeys = "required" | "named" | "nothing";

/** A model server that calls a tool only if it is made to, and names `pay` if it is asked for a name. */
function modelServer(obeys: Obeys) {
  return (response: ServerResponse, { body }: ReceivedCall): void => {
    const asked: unknown = JSON.parse(body);
    if (!isRecord(asked)) throw new Error("a request is an object");
    if (asked["stream"] === false) {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ choices: [{ message: { content: '{"name": "pay"}' }, finish_reason: "stop" }] }));
      return;
    }
    const choice = asked["tool_choice"];
    const named = isRecord(choice) && isRecord(choice["function"]) ? String(choice["function"]["name"]) : null;
    const name = obeys === "named" ? named : obeys === "required" ? "look" : null;
    const call = toolDelta(0, { id: "call_1", type: "function", function: { name: name ?? "", arguments: "{}" } });
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(
      sse(name === null ? textChunk("No.") : call, lastChunk(name === null ? "stop" : "tool_calls"), COUNTS, "[DONE]"),
    );
  };
}

/** What the server was asked, in order: the tool choice of a turn, or `name` for the question for one. */
function asksIn(calls: readonly ReceivedCall[]): readonly unknown[] {
  return calls.map(({ body }) => {
    const { stream, tool_choice: choice } = JSON.parse(body);
    return stream === true ? (choice?.function?.name ?? choice) : "name";
  });
}

test.each([
  { obeys: "required", tools: ["look", "pay"], first: ["required"], later: ["required"], output: "look" },
  { obeys: "named", tools: ["look"], first: ["required", "look"], later: ["look"], output: "look" },
  { obeys: "named", tools: ["look", "pay"], first: ["required", "name", "pay"], later: ["name", "pay"], output: "pay" },
  { obeys: "nothing", tools: ["look"], first: ["required", "look"], later: ["required"], output: null },
] as const)("a server that obeys $obeys, with the tools $tools", async ({ obeys, tools, first, later, output }) => {
  const { server, create, upstream } = await serveBehind(modelServer(obeys));
  const ask = async () => {
    const members = { tools: tools.map(toolNamed), tool_choice: "required", stream: true };
    return (await readStream(await create(members))).final;
  };
  const expected = output === null ? { type: "message" } : { type: "function_call", name: output };

  expect(await ask()).toMatchObject({ status: "completed", output: [expected] });
  expect(asksIn(upstream.calls)).toEqual(first);
  const again = await ask();

  expect(again).toMatchObject({ status: "completed", output: [expected] });
  expect(asksIn(upstream.calls)).toEqual([...first, ...later]);
  const client = new Antiphon({ baseUrl: server.url, apiKey: server.apiKey });
  const { notes } = await client.listResponseExchanges(again.id);
  const kind = output === null ? ["omitted"] : output === "pay" ? ["emulated"] : [];
  expect(notes.map((note) => [note.kind, note.what])).toEqual(kind.map((one) => [one, "tool_choice"]));
});
