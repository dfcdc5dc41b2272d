import type { Response as ApiResponse } from "@antiphon/contracts/responses-api/types.ts";
import { expect, test } from "vitest";
import { verifies } from "../verifies.ts";
import { type BehindUpstream, chunks, delta, serveBehind } from "./behind-upstream.ts";
import { readResponse, readStream } from "./read-stream.ts";

const question = { role: "user", content: "What is it?" };
const thinking = chunks(delta({ reasoning_content: "Let me think." }), delta({ content: "It is so." }), {
  id: "chatcmpl-1",
  model: "m",
  choices: [{ index: 0, delta: {}, finish_reason: "stop" }],
});

/** The output of a turn that is not stored, with encrypted reasoning shown only as a summary. */
async function sealedTurn(behind: BehindUpstream, include: readonly string[] = []): Promise<ApiResponse["output"]> {
  const reply = await behind.create({ input: [question], store: false, include, reasoning: { summary: "auto" } });
  const { output }: { output: ApiResponse["output"] } = await reply.json();
  return output;
}

test("reasoning is sealed in each event and body, although the request does not include it", async () => {
  verifies("create.include.encrypted-reasoning");
  const { create } = await serveBehind(thinking);
  const { events } = await readStream(await create({ input: [question], stream: true }));
  const shown = events.flatMap((event) =>
    "item" in event ? [event.item] : "response" in event ? event.response.output : [],
  );
  const plain = await readResponse(await create({ input: [question] }));
  const reasoning = [...shown, ...plain.output].filter(({ type }) => type === "reasoning");
  expect(reasoning).toHaveLength(4);
  for (const item of reasoning) expect(item).toMatchObject({ encrypted_content: expect.stringMatching(/./) });
});

test.each([
  ["by default", []],
  ["on request", ["reasoning.encrypted_content"]],
])("reasoning encrypted %s and sent back by a client reaches the model in the next turn", async (_title, include) => {
  verifies("create.include.encrypted-reasoning", "state.sealed.content-is-bound");
  const behind = await serveBehind(thinking);
  const output = await sealedTurn(behind, include);
  const next = await behind.create({ input: [question, ...output, { role: "user", content: "Why?" }], store: false });
  expect(next.status).toBe(200);
  expect(behind.asked()).toMatchObject({
    messages: [
      { role: "user", content: "What is it?" },
      { role: "assistant", content: "It is so.", reasoning_content: "Let me think." },
      { role: "user", content: "Why?" },
    ],
  });
});

test("encrypted reasoning that was changed, or made elsewhere, is refused", async () => {
  verifies("errors.catalogue.bad-encrypted-content");
  const behind = await serveBehind(thinking);
  const [reasoning, message] = await sealedTurn(behind);
  const elsewhere = await sealedTurn(await serveBehind(thinking));
  const forged = { ...reasoning, encrypted_content: "AQAAforged" };
  for (const [first, second] of [
    [forged, message],
    [elsewhere[0], elsewhere[1]],
  ]) {
    const reply = await behind.create({
      input: [question, first, second, { role: "user", content: "Why?" }],
      store: false,
    });
    expect(reply.status).toBe(400);
    expect(await reply.json()).toMatchObject({ error: { code: "invalid_encrypted_content", param: null } });
  }
});
