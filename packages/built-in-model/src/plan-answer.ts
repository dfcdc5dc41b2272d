import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import { answerText } from "./answer-text.ts";
import { type Conversation, readConversation } from "./conversation.ts";
import { guessHints } from "./json/hints.ts";
import { makeValue } from "./json/make-value.ts";
import { serverFault } from "./model-errors.ts";
import { isDelta, OUTPUT_TOKENS_MAX, type Step, sayDeltas, sayText } from "./step.ts";
import { shorten } from "./tokens.ts";
import { planCalls } from "./tools/plan-calls.ts";
import { usageEvent } from "./usage.ts";

interface Draft {
  readonly events: readonly ModelEvent[];
  readonly ending: "stop" | "content_filter" | "failure";
}

const QUOTE_CHARS_MAX = 120;
/** How many sentences of reasoning each effort gives; all for other efforts. */
const SENTENCES: Readonly<Record<string, number>> = { minimal: 1, low: 2 };

/** Phrases by which client developers can ask for a refusal, a filtered answer or a failure. */
const REFUSE = /\bplease refuse\b|\brefuse to answer\b/i;
const FILTER = /\btrigger the content filter\b/i;
const FAIL = /\bfail now\b/i;
const REFUSAL = "I'm sorry, but I can't help with that: I was asked to refuse.";

/** Plans the whole answer in advance. Pure: the same request gives the same steps. */
export function planAnswer(request: ModelRequest): readonly Step[] {
  const conversation = readConversation(request.items);
  const { events, ending } = draftAnswer(request, conversation);
  const whole = [...planReasoning(request.reasoning, conversation.text), ...events];
  const said = limitTokens(whole, Math.min(request.maxOutputTokens ?? OUTPUT_TOKENS_MAX, OUTPUT_TOKENS_MAX));
  const reason = said.length < whole.length ? "length" : ending;
  if (reason !== "failure") return [...said, usageEvent(request, said), { type: "finished", reason }];
  return [...said, { type: "failure", error: serverFault("The built-in engine failed because it was asked to.") }];
}

/** The reasoning before the answer: summary parts if a summary was requested, otherwise raw reasoning text. */
function planReasoning({ effort, summary }: ModelRequest["reasoning"], text: string): ModelEvent[] {
  if (effort === "none" || (effort === null && summary === null)) return [];
  const request = text === "" ? "The request has no text." : `The request says: "${shorten(text, QUOTE_CHARS_MAX)}".`;
  const thoughts = [request, "I look for a rule that fits it.", "The first rule that fits decides what I answer."];
  if (summary === null) return sayDeltas("reasoning_delta", thoughts.slice(0, SENTENCES[effort ?? ""]).join(" "));
  const first = sayDeltas("reasoning_summary_delta", `**Reading the request**\n\n${request}`);
  if (summary !== "detailed") return first;
  const second = sayDeltas("reasoning_summary_delta", `**Choosing a rule**\n\n${thoughts.slice(1).join(" ")}`);
  return [...first, { type: "reasoning_summary_break" }, ...second];
}

function draftAnswer(request: ModelRequest, conversation: Conversation): Draft {
  const { text } = conversation;
  const say = (words: string): readonly ModelEvent[] => sayText(words, request.topLogprobs);
  const calls = planCalls(request, conversation); // First, because it throws for tools that cannot run here.
  if (REFUSE.test(text)) return { events: sayDeltas("refusal_delta", REFUSAL), ending: "stop" };
  if (FILTER.test(text)) return { events: say("This answer is about to be"), ending: "content_filter" };
  if (FAIL.test(text)) return { events: say("This answer is about to"), ending: "failure" };
  return { events: calls.length > 0 ? calls : say(formatAnswer(request, conversation)), ending: "stop" };
}

function formatAnswer(request: ModelRequest, conversation: Conversation): string {
  const { format } = request.text;
  if (format?.type === "json_schema") return JSON.stringify(makeValue(format.schema, guessHints(conversation.text)));
  const text = answerText(conversation, request.instructions);
  return format?.type === "json_object" ? JSON.stringify({ answer: text }) : text;
}

/** Cuts before the first delta over the limit, and drops a block that would stay empty. */
function limitTokens(events: readonly ModelEvent[], tokensMax: number): readonly ModelEvent[] {
  const end = events.filter(isDelta)[tokensMax];
  if (end === undefined) return events;
  const said = events.slice(0, events.indexOf(end));
  return ["call_started", "reasoning_summary_break"].includes(said.at(-1)?.type ?? "") ? said.slice(0, -1) : said;
}
