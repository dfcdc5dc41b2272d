import { expect, test } from "vitest";
import { verifies } from "../verifies.ts";
import { says, serveBehind } from "./behind-upstream.ts";
import { readResponse, readStream, responseOf } from "./read-stream.ts";

const STANDARD = { context: "current_turn", effort: "medium", mode: "standard", summary: null };
const UNKNOWN = { context: null, effort: null, summary: null };

test("in front of OpenAI, a reasoning model's own settings are echoed, and not sent", async () => {
  verifies("create.reasoning.model-defaults");
  const { create, asked } = await serveBehind(says("Hi"), { MODEL_PROFILE: "openai" });
  const echo = async (model: string, reasoning?: object): Promise<unknown> =>
    (await readResponse(await create({ model, reasoning }))).reasoning;
  expect(await echo("gpt-5-mini-2025-08-07")).toEqual(STANDARD);
  expect(asked()).not.toHaveProperty("reasoning_effort");
  expect(await echo("o3", { summary: "auto" })).toEqual({ ...STANDARD, summary: "detailed" });
  expect(await echo("gpt-5.4")).toEqual({ ...STANDARD, effort: "none" });
  expect(await echo("gpt-5.6-sol", { context: "auto", effort: "high" })).toEqual({
    ...STANDARD,
    context: "all_turns",
    effort: "high",
  });
  expect(asked()).toHaveProperty("reasoning_effort", "high");
  for (const model of ["gpt-4o", "gpt-5-chat-latest"]) expect(await echo(model)).toEqual(UNKNOWN);
  const { events, final } = await readStream(await create({ model: "gpt-5", stream: true }));
  for (const { reasoning } of [responseOf(events[0]), final]) expect(reasoning).toEqual(STANDARD);
});

test("in front of other servers nothing is known of a model's own settings", async () => {
  verifies("create.reasoning.model-defaults");
  const { create } = await serveBehind(says("Hi"));
  expect((await readResponse(await create({ model: "gpt-5" }))).reasoning).toEqual(UNKNOWN);
});
