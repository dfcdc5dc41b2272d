import type { ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import { ModelError } from "@antiphon/domain/models/model-error.ts";
import type { ModelEvent, ModelUsage } from "@antiphon/domain/models/model-events.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";

/** Output tokens for a summary, including the reasoning before it. */
const SUMMARY_TOKENS_MAX = 8192;
/** Characters of a summary; the rest is cut off. */
const SUMMARY_CHARACTERS_MAX = 256 * 1024;

const SUMMARY_PROMPT = `Write a summary of this conversation. It is about to be removed to make room, and whoever goes on with the work will see your summary in its place and nothing else of it.

Write down, as far as there is any:
- what the user wants to reach, and each wish, rule and preference they stated, in words close to their own;
- what was found out, decided, made or changed, with the reasons that still matter;
- exact names, numbers, dates, addresses, file paths, commands, identifiers and short pieces of code that will be needed again;
- what tools returned, where something still depends on it;
- what failed, so that it is not tried again;
- what is open, what was promised, and the very next step.

If the conversation begins with an earlier summary, carry over what still holds. Leave out courtesies and whatever is settled and done with. Invent nothing and judge nothing. Use the language of the conversation. Do not answer or continue the conversation and do not call tools: write only the summary, as plain text.`;

/**
 * The request in which a model summarizes the context. Instructions and tools stay the same, so that model servers can
 * reuse their prompt cache.
 */
export function summaryRequest(request: ModelRequest): ModelRequest {
  return {
    ...request,
    items: [
      ...request.items,
      { type: "message", role: "user", content: [{ type: "input_text", text: SUMMARY_PROMPT }] },
    ],
    toolChoice: "none",
    text: { format: { type: "text" }, verbosity: "medium" },
    maxOutputTokens: SUMMARY_TOKENS_MAX,
    topLogprobs: null,
  };
}

/** A model's summary of a conversation; `usage` is null if the model server reports none. */
export interface Summary {
  readonly text: string;
  readonly usage: ModelUsage | null;
}

/**
 * Sends a `summaryRequest` to the model. Rejects with `ModelError` if the model server fails or the summary is empty.
 */
export async function takeSummary(engine: ModelEngine, request: ModelRequest, signal: AbortSignal): Promise<Summary> {
  return readSummary(await engine.sample(request, signal));
}

/**
 * Reads the text of an answer without its reasoning. Rejects with `ModelError` if the text is empty or filtered, or if
 * the turn breaks off.
 */
export async function readSummary(turn: AsyncIterable<readonly ModelEvent[]>): Promise<Summary> {
  let text = "";
  let usage: ModelUsage | null = null;
  let isWhole = false;
  for await (const batch of turn) {
    for (const event of batch) {
      if (event.type === "text_delta" && text.length < SUMMARY_CHARACTERS_MAX) text += event.text;
      if (event.type === "usage") usage = event.usage;
      if (event.type === "finished") isWhole = event.reason !== "content_filter";
    }
  }
  const summary = text.slice(0, SUMMARY_CHARACTERS_MAX).trim();
  if (summary === "" || !isWhole) throw noSummary();
  return { text: summary, usage };
}

function noSummary(): ModelError {
  return new ModelError("The model wrote no summary of the conversation. You can retry your request.", {
    status: 500,
    type: "server_error",
    code: "server_error",
  });
}
