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
import { COUNTS, serveBehind } from "../responses/behind-upstream.ts";
import { checkReply } from "../responses/check-refusal.ts";
import { verifies } from "../verifies.ts";

const SCHEMA = {
  type: "object",
  properties: { place: { type: "string" } },
  required: ["place"],
  additionalProperties: false,
};
const FORMAT = { type: "json_schema", name: "place", schema: SCHEMA, strict: true };
const JSON_TEXT = '{"place":"sea"}';
/** What the validator of llama-cpp-python says of a kind of format that it does not know. */
const UNKNOWN_KIND = `1 validation error:
  {'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), 'msg': "Input should be 'text' or 'json_object'", 'input': 'json_schema'}

  File "/opt/venv/lib/python3.12/site-packages/llama_cpp/server/app.py", line 471, in create_chat_completion
    POST /v1/chat/completions`;

/** A model server that takes these formats only. */
function takes(...kinds: readonly unknown[]) {
  return (response: ServerResponse, { body }: ReceivedCall): void => {
    const asked: unknown = JSON.parse(body);
    const format = isRecord(asked) && isRecord(asked["response_format"]) ? asked["response_format"]["type"] : null;
    if (kinds.includes(format)) {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(sse(textChunk(JSON_TEXT), lastChunk("stop"), COUNTS, "[DONE]"));
      return;
    }
    response.writeHead(500, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { message: UNKNOWN_KIND, type: "internal_server_error", code: null } }));
  };
}

/** The formats that the server was asked for, in order. */
function formatsIn(calls: readonly ReceivedCall[]): readonly unknown[] {
  return calls.map(({ body }) => JSON.parse(body).response_format?.type ?? null);
}

test.each([
  { kinds: ["json_object"], first: ["json_schema", "json_object"] },
  { kinds: [null], first: ["json_schema", "json_object", null] },
])("a strict schema works with a model server that takes only $kinds", async ({ kinds, first }) => {
  verifies("chat-engine.formats.other-forms");
  const { server, create, upstream, asked } = await serveBehind(takes(...kinds));
  const ask = async () => (await create({ text: { format: FORMAT } })).json();

  expect(await ask()).toMatchObject({ status: "completed", output: [{ content: [{ text: JSON_TEXT }] }] });
  expect(formatsIn(upstream.calls)).toEqual(first);
  const again = await ask();
  expect(formatsIn(upstream.calls)).toEqual([...first, first.at(-1)]); // It is found out once.

  expect(asked()).toMatchObject({
    messages: [{ role: "system", content: expect.stringContaining(JSON.stringify(SCHEMA)) }, { role: "user" }],
    ...(kinds[0] === null ? {} : { response_format: { type: "json_object", schema: SCHEMA } }),
  });
  const client = new Antiphon({ baseUrl: server.url, apiKey: server.apiKey });
  expect((await client.listResponseExchanges(again.id)).notes).toMatchObject([
    { kind: "emulated", what: "text.format" },
  ]);
});

test("a validator's 500 is a 400 that names the member, without its stack and its files", async () => {
  verifies("chat-engine.errors.blames-request", "chat-engine.errors.secrets-not-passed-on");
  const { create } = await serveBehind(takes());
  await checkReply(await create({ input: "As JSON", text: { format: { type: "json_object" } } }), {
    code: "invalid_request_error",
    param: "text.format.type",
    message: /^1 validation error: .*Input should be 'text' or 'json_object'(?!.*(?:File|venv|llama_cpp))/,
  });
});
