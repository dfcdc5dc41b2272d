import { expect, test } from "vitest";
import type { Response as ApiResponse } from "../../generated/responses-api/types.ts";
import { verifies } from "../verifies.ts";
import { type BehindUpstream, chunks, delta, serveBehind } from "./behind-upstream.ts";

const question = { role: "user", content: "What is it?" };
const thinking = chunks(delta({ reasoning_content: "Let me think." }), delta({ content: "It is so." }), {
  id: "chatcmpl-1",
  model: "m",
  choices: [{ index: 0, delta: {}, finish_reason: "stop" }],
});

/** The output of a turn that is not stored, with encrypted reasoning shown only as a summary. */
async function sealedTurn(behind: BehindUpstream): Promise<ApiResponse["output"]> {
  const reply = await behind.create({
    input: [question],
    store: false,
    include: ["reasoning.encrypted_content"],
    reasoning: { summary: "auto" },
  });
  const { output }: { output: ApiResponse["output"] } = await reply.json();
  return output;
}

test("encrypted reasoning sent back by a client reaches the model in the next turn", async () => {
  verifies("create.include.encrypted-reasoning", "state.sealed.content-is-bound");
  const behind = await serveBehind(thinking);
  const output = await sealedTurn(behind);
  expect(JSON.stringify(output)).toContain("encrypted_content");
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
