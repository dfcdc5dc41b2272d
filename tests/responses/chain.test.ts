import type { Response as ResponseBody } from "@antiphon/contracts/responses-api/types.ts";
import { describe, expect, test } from "vitest";
import { lastChunk, sse, textChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { verifies } from "../verifies.ts";
import { type BehindUpstream, serveBehind } from "./behind-upstream.ts";
import { checkReply, codeless } from "./check-refusal.ts";
import { readResponse } from "./read-stream.ts";

/** A model that numbers its answers. */
async function serveNumberedAnswers(): Promise<BehindUpstream> {
  let answers = 0;
  return serveBehind((response) => {
    answers++;
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(sse(textChunk(`answer ${answers}`), lastChunk("stop"), "[DONE]"));
  });
}

const user = (content: string): object => ({ role: "user", content });
const assistant = (content: string): object => ({ role: "assistant", content });
const system = (content: string): object => ({ role: "system", content });

/** The response to `members`, and what its model got. */
async function turn(behind: BehindUpstream, members: object): Promise<ResponseBody> {
  return readResponse(await behind.create(members));
}

function checkShown(behind: BehindUpstream, messages: readonly object[]): void {
  expect(behind.asked()).toMatchObject({ messages });
}

describe("a response that follows another", () => {
  test("shows the model earlier turns in order, and only its own instructions and settings", async () => {
    verifies("create.context.order", "create.chain.continues-stored-response", "create.instructions.not-inherited");
    const behind = await serveNumberedAnswers();
    const first = await turn(behind, { input: "one", instructions: "First rule.", temperature: 0.5 });
    const second = await turn(behind, { input: "two", previous_response_id: first.id });
    checkShown(behind, [user("one"), assistant("answer 1"), user("two")]);
    expect(behind.asked()).not.toHaveProperty("temperature");
    const third = await turn(behind, { input: "three", previous_response_id: second.id, instructions: "Third rule." });
    checkShown(behind, [
      system("Third rule."),
      user("one"),
      assistant("answer 1"),
      user("two"),
      assistant("answer 2"),
      user("three"),
    ]);
    expect(third).toMatchObject({ previous_response_id: second.id, instructions: "Third rule." });
  });

  test("may be one of several that continue the same response", async () => {
    const behind = await serveNumberedAnswers();
    const first = await turn(behind, { input: "one" });
    await turn(behind, { input: "left", previous_response_id: first.id });
    await turn(behind, { input: "right", previous_response_id: first.id });
    checkShown(behind, [user("one"), assistant("answer 1"), user("right")]);
  });

  test("may have no input of its own", async () => {
    const behind = await serveNumberedAnswers();
    const first = await turn(behind, { input: "one" });
    await turn(behind, { input: undefined, previous_response_id: first.id });
    checkShown(behind, [user("one"), assistant("answer 1")]);
  });

  test("can continue a response that is not stored only by sending its items", async () => {
    const behind = await serveNumberedAnswers();
    const first = await turn(behind, { input: "one" });
    const second = await turn(behind, { input: "two", previous_response_id: first.id, store: false });
    checkShown(behind, [user("one"), assistant("answer 1"), user("two")]);
    const input = [user("one"), ...first.output, user("two"), ...second.output, user("three")];
    await turn(behind, { input, store: false });
    checkShown(behind, [user("one"), assistant("answer 1"), user("two"), assistant("answer 2"), user("three")]);
  });

  test("may name stored items instead of sending them", async () => {
    const behind = await serveNumberedAnswers();
    const first = await turn(behind, { input: "one" });
    const id = first.output[0]?.id;
    for (const reference of [{ type: "item_reference", id }, { type: null, id }, { id }]) {
      await turn(behind, { input: [user("before"), reference, user("after")] });
      checkShown(behind, [user("before"), assistant("answer 1"), user("after")]);
    }
  });

  test("is refused if the response it continues was deleted", async () => {
    verifies("errors.catalogue.previous-response-not-found");
    const behind = await serveNumberedAnswers();
    const { id } = await turn(behind, { input: "one" });
    await behind.server.fetch(`/v1/responses/${id}`, { method: "DELETE" });
    await checkReply(await behind.create({ previous_response_id: id }), {
      code: "previous_response_not_found",
      param: "previous_response_id",
      message: `Previous response with id '${id}' not found.`,
    });
  });

  test("answers the calls of the previous response, and must answer all of them", async () => {
    verifies("tools.function.output-continues-the-turn", "errors.catalogue.call-without-output");
    const behind = await serveNumberedAnswers();
    const call = (callId: string): object => ({ type: "function_call", call_id: callId, name: "f", arguments: "{}" });
    const output = (callId: string): object => ({ type: "function_call_output", call_id: callId, output: "done" });
    const first = await turn(behind, { input: [user("one"), call("call_a"), output("call_a")] });
    await turn(behind, { input: [call("call_b"), output("call_b")], previous_response_id: first.id });
    const half = await behind.create({ input: [call("call_c")], previous_response_id: first.id });
    await checkReply(half, codeless("input", "No tool output found for function call call_c."));
  });
});
