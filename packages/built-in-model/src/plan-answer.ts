import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import { type Conversation, readConversation, type ToolOutput } from "./conversation.ts";
import { guessHints } from "./json/hints.ts";
import { makeValue } from "./json/make-value.ts";
import { serverFault } from "./model-errors.ts";
import { answerBySkill } from "./skills.ts";
import { deltasOf, isDelta, type Step, textDelta } from "./step.ts";
import { shorten, splitTokens, usageEvent } from "./tokens.ts";
import { planCalls } from "./tools/plan-calls.ts";

interface Draft {
  readonly events: readonly ModelEvent[];
  readonly ending: "stop" | "content_filter" | "failure";
}

/** The longest answer in tokens; texts are not split any further. */
const OUTPUT_TOKENS_MAX = 16_384;
const THOUGHT_CHARS_MAX = 120;
const QUOTE_CHARS_MAX = 200;
const OUTPUT_CHARS_MAX = 4000;
/** How many sentences of reasoning each effort gives; all for other efforts. */
const SENTENCES: Readonly<Record<string, number>> = { minimal: 1, low: 2 };
const REFUSAL = "I'm sorry, but I can't help with that: I was asked to refuse.";
const DISCLAIMER =
  "This answer comes from Antiphon's built-in engine, which follows fixed rules and is not a language model; set MODEL_BASE_URL to connect a real one.";
/** What the engine does not read, and what it cannot do. */
const ATTACHMENTS = [
  { kind: "input_image", noun: "image", act: "see images" },
  { kind: "input_file", noun: "file", act: "read files" },
  { kind: "input_audio", noun: "recording", act: "hear audio" },
] as const;
const ALL_OF = new Intl.ListFormat("en-GB", { type: "conjunction" });
const ONE_OF = new Intl.ListFormat("en-GB", { type: "disjunction" });

/** Plans the whole answer in advance. Pure: the same request gives the same steps. */
export function planAnswer(request: ModelRequest): readonly Step[] {
  const conversation = readConversation(request);
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
  const request = text === "" ? "The request has no text." : `The request says: "${shorten(text, THOUGHT_CHARS_MAX)}".`;
  const thoughts = [request, "I look for a rule that fits it.", "The first rule that fits decides what I answer."];
  if (summary === null)
    return deltasOf("reasoning_delta", splitTokens(thoughts.slice(0, SENTENCES[effort ?? ""]).join(" ")));
  const summarize = (part: string): ModelEvent[] => deltasOf("reasoning_summary_delta", splitTokens(part));
  const first = summarize(`**Reading the request**\n\n${request}`);
  if (summary !== "detailed") return first;
  const second = summarize(`**Choosing a rule**\n\n${thoughts.slice(1).join(" ")}`);
  return [...first, { type: "reasoning_summary_break" }, ...second];
}

/** Some phrases ask for a refusal, a filtered answer or a failure, for developers of clients. */
function draftAnswer(request: ModelRequest, conversation: Conversation): Draft {
  const { text } = conversation;
  const say = (words: string): readonly ModelEvent[] =>
    splitTokens(words, OUTPUT_TOKENS_MAX + 1).map((token) => textDelta(token, request.topLogprobs));
  const calls = planCalls(request, conversation); // First, because it throws for tools that cannot run here.
  if (/\bplease refuse\b|\brefuse to answer\b/i.test(text))
    return { events: deltasOf("refusal_delta", splitTokens(REFUSAL)), ending: "stop" };
  if (/\btrigger the content filter\b/i.test(text))
    return { events: say("This answer is about to be"), ending: "content_filter" };
  if (/\bfail now\b/i.test(text)) return { events: say("This answer is about to"), ending: "failure" };
  return { events: calls.length > 0 ? calls : say(formatAnswer(request, conversation)), ending: "stop" };
}

function formatAnswer({ text: { format } }: ModelRequest, conversation: Conversation): string {
  if (format?.type === "json_schema") return JSON.stringify(makeValue(format.schema, guessHints(conversation.text)));
  const answer = answerText(conversation);
  return format?.type === "json_object" ? JSON.stringify({ answer }) : answer;
}

/**
 * A short answer in plain text: the tool outputs, the answer of a skill, or a quote of the request with a disclaimer.
 */
function answerText(conversation: Conversation): string {
  const { toolOutputs, text } = conversation;
  if (toolOutputs.length > 0) return toolOutputs.map(reportOutput).join("\n");
  const quote = text === "" ? "" : `You said: "${shorten(text, QUOTE_CHARS_MAX)}".`;
  const answer = answerBySkill(conversation);
  return answer ?? [reportAttachments(conversation), quote, DISCLAIMER].filter(Boolean).join(" ");
}

/** Repeats the output. If it offers sources, its first one is cited as models are asked to. */
function reportOutput({ tool, text, source }: ToolOutput): string {
  const output = text.length <= OUTPUT_CHARS_MAX ? text : shorten(text, OUTPUT_CHARS_MAX);
  const citation = source === null ? "" : `【${source}】`;
  return `${tool ?? "The tool"} returned: ${output === "" ? "nothing" : output}${citation}`;
}

function reportAttachments({ parts }: Conversation): string {
  const counts = Map.groupBy(parts, ({ type }) => type);
  const present = ATTACHMENTS.filter(({ kind }) => counts.has(kind));
  if (present.length === 0) return "";
  const amounts = present.map(({ kind, noun }) => {
    const count = counts.get(kind)?.length ?? 0;
    return `${count} ${noun}${count === 1 ? "" : "s"}`;
  });
  const acts = present.map(({ act }) => act);
  return `I received ${ALL_OF.format(amounts)}. I can't ${ONE_OF.format(acts)}: I am the built-in engine.`;
}

/** Cuts before the first delta over the limit, and drops a block that would stay empty. */
function limitTokens(events: readonly ModelEvent[], tokensMax: number): readonly ModelEvent[] {
  const end = events.filter(isDelta)[tokensMax];
  if (end === undefined) return events;
  const said = events.slice(0, events.indexOf(end));
  return ["call_started", "reasoning_summary_break"].includes(said.at(-1)?.type ?? "") ? said.slice(0, -1) : said;
}
