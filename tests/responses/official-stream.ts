import type { Response as ResponseBody, ResponseStreamEvent } from "@antiphon/contracts/responses-api/types.ts";
import OpenAI from "openai";
import { expect } from "vitest";

/**
 * Deltas at which the official client's helper throws, although the reference sends them too. Its plain streams read
 * them.
 */
const TOO_NEW: ReadonlySet<ResponseStreamEvent["type"]> = new Set([
  "response.apply_patch_call_operation_diff.delta",
  "response.apply_patch_call_operation_diff.done",
]);

/** Has the official client's `responses.stream()` read a whole stream; it must end with the same response. */
export async function checkOfficialStream(
  text: string,
  events: readonly ResponseStreamEvent[],
  final: ResponseBody,
): Promise<void> {
  if (events.some(({ type }) => TOO_NEW.has(type))) return;
  const client = new OpenAI({
    apiKey: "unused",
    maxRetries: 0,
    fetch: async () => new Response(text, { headers: { "content-type": "text/event-stream" } }),
  });
  const reading = client.responses.stream({ model: final.model, input: "" }).finalResponse();
  if (events.some(({ type }) => type === "error")) {
    await expect(reading).rejects.toThrow(OpenAI.APIError);
    return;
  }
  expect((await reading).output).toMatchObject(final.output);
}
