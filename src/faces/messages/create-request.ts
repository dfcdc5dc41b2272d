import { createHash } from "node:crypto";
import type { CountMessageTokensRequest, CreateMessageRequest } from "@antiphon/contracts/messages/types.ts";
import type { CreateResponseRequest } from "@antiphon/contracts/responses-api/types.ts";
import type { ModelExtras } from "@antiphon/domain/models/model-request.ts";
import { definedMembers } from "../defined-members.ts";
import { type IsSealed, itemsOfTurns } from "./request-items.ts";
import { callsMax, messageToolChoice, messageTools } from "./request-tools.ts";

/** Members of both requests. */
type Prompt = CountMessageTokensRequest;
type Reasoning = NonNullable<CreateResponseRequest["reasoning"]>;

/** What the message shows of the calls of tools of this server. */
const INCLUDED = ["web_search_call.results", "code_interpreter_call.outputs"] as const;

/**
 * The create request that a message stands for. `sessionId` names the client's session, null if it has none. Throws an
 * `ApiError` for what a response cannot do.
 */
export function createRequestOf(
  body: CreateMessageRequest,
  isSealed: IsSealed,
  sessionId: string | null,
): CreateResponseRequest {
  return definedMembers({
    ...promptMembers(body, isSealed),
    include: [...INCLUDED],
    max_output_tokens: body.max_tokens,
    max_tool_calls: callsMax(body.tools),
    temperature: body.temperature,
    top_p: body.top_p,
    safety_identifier: pseudonym(body.metadata?.user_id ?? null),
    prompt_cache_key: sessionId,
    stream: body.stream,
    stream_options: { include_obfuscation: false },
    store: false,
  });
}

/** What the model reads, and how much it is to think. */
export function promptMembers(body: Prompt, isSealed: IsSealed) {
  const tools = messageTools(body);
  return definedMembers({
    model: body.model,
    input: itemsOfTurns(body.messages, isSealed),
    instructions: instructions(body.system),
    ...(tools.length === 0 ? {} : { tools }),
    tool_choice: tools.length === 0 ? null : messageToolChoice(body),
    parallel_tool_calls: body.tool_choice?.disable_parallel_tool_use === true ? false : null,
    reasoning: reasoning(body),
    text: textForm(body),
  });
}

/** Differs with each conversation or request of a client, so that no two prompts would begin alike. */
const BILLING_LINE = /^x-anthropic-billing-header:[^\n]*\n?/;

function instructions(system: Prompt["system"]): string | null {
  if (system == null) return null;
  const blocks = typeof system === "string" ? [system] : system.map(({ text }) => text);
  const [first = "", ...others] = blocks;
  const text = [first.replace(BILLING_LINE, ""), ...others].filter((block) => block !== "").join("\n\n");
  return text === "" ? null : text;
}

const EFFORTS: ReadonlySet<unknown> = new Set(["low", "medium", "high", "xhigh", "max"]);

/** Budgets in tokens below which thinking counts as of low and of medium effort. */
const LOW_BELOW = 4_096;
const MEDIUM_BELOW = 16_384;

function reasoning({ thinking, output_config: output }: Prompt): Reasoning | null {
  if (thinking?.type === "disabled") return { effort: "none" };
  const effort = output?.effort;
  if (isEffort(effort)) return { effort };
  const budget = thinking?.type === "enabled" ? (thinking.budget_tokens ?? null) : null;
  if (budget === null) return null;
  return { effort: budget < LOW_BELOW ? "low" : budget < MEDIUM_BELOW ? "medium" : "high" };
}

function isEffort(effort: unknown): effort is NonNullable<Reasoning["effort"]> {
  return EFFORTS.has(effort);
}

function textForm({ output_config: output }: Prompt): CreateResponseRequest["text"] {
  const schema = output?.format?.schema;
  return schema === undefined ? null : { format: { type: "json_schema", name: "answer", schema, strict: true } };
}

/** The most characters of a safety identifier. */
const PSEUDONYM_MAX = 64;

function pseudonym(userId: string | null): string | null {
  if (userId === null || userId === "") return null;
  return userId.length <= PSEUDONYM_MAX ? userId : createHash("sha256").update(userId).digest("hex");
}

/** The settings that only the model server knows, and the stop sequences; null if there are none. */
export function messageExtras({ top_k: topK, stop_sequences: stops }: CreateMessageRequest): ModelExtras | null {
  const stop = (stops ?? []).filter((sequence) => sequence !== "");
  if (topK == null && stop.length === 0) return null;
  return { standard: {}, unknown: topK == null ? {} : { top_k: topK }, stop };
}
