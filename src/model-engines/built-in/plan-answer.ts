import type { ModelError } from "../../runs/ports/model-error.ts";
import type { ModelEvent } from "../../runs/ports/model-events.ts";
import type { ModelRequest } from "../../runs/request/model-request.ts";
import { answerText } from "./answer-text.ts";
import { type Conversation, readConversation } from "./conversation.ts";
import { guessHints } from "./json/hints.ts";
import { makeValue } from "./json/make-value.ts";
import { failureAsked } from "./model-errors.ts";
import { planReasoning } from "./reasoning.ts";
import { OUTPUT_TOKENS_MAX, sayDeltas, sayText } from "./say-text.ts";
import { isDelta, type Step } from "./step.ts";
import { planCalls } from "./tools/plan-calls.ts";
import { usageEvent } from "./usage.ts";

interface Draft {
  readonly events: readonly ModelEvent[];
  readonly ending: "stop" | "content_filter" | ModelError;
}

/** Plans the whole answer in advance. Pure: the same request gives the same steps. */
export function planAnswer(request: ModelRequest): readonly Step[] {
  const conversation = readConversation(request.items);
  const draft = draftAnswer(request, conversation);
  const reasoning = planReasoning(request.reasoning, conversation.text);
  const tokensMax = Math.min(request.maxOutputTokens ?? OUTPUT_TOKENS_MAX, OUTPUT_TOKENS_MAX);
  const { events, cut } = limitTokens([...reasoning, ...draft.events], tokensMax);
  const ending = cut ? "length" : draft.ending;
  if (typeof ending !== "string") return [...events, { type: "failure", error: ending }];
  return [...events, usageEvent(request, events), { type: "finished", reason: ending }];
}

function draftAnswer(request: ModelRequest, conversation: Conversation): Draft {
  const calls = planCalls(request, conversation); // First, because it throws for tools that cannot run here.
  const trigger = findTrigger(conversation.text);
  if (trigger !== null) return obeyTrigger(trigger, request.topLogprobs);
  if (calls.length > 0) return { events: calls, ending: "stop" };
  return { events: sayText(formatAnswer(request, conversation), request.topLogprobs), ending: "stop" };
}

function obeyTrigger(trigger: Trigger, topLogprobs: number | null): Draft {
  switch (trigger) {
    case "refuse":
      return {
        events: sayDeltas("refusal_delta", "I'm sorry, but I can't help with that: I was asked to refuse."),
        ending: "stop",
      };
    case "filter":
      return { events: sayText("This answer is about to be", topLogprobs), ending: "content_filter" };
    case "fail":
      return { events: sayText("This answer is about to", topLogprobs), ending: failureAsked() };
  }
}

function formatAnswer(request: ModelRequest, conversation: Conversation): string {
  const { format } = request.text;
  if (format?.type === "json_schema") return JSON.stringify(makeValue(format.schema, guessHints(conversation.text)));
  const text = answerText(conversation, request.instructions);
  return format?.type === "json_object" ? JSON.stringify({ answer: text }) : text;
}

type Trigger = "refuse" | "filter" | "fail";

const PHRASES: readonly (readonly [Trigger, RegExp])[] = [
  ["refuse", /\bplease refuse\b|\brefuse to answer\b/i],
  ["filter", /\btrigger the content filter\b/i],
  ["fail", /\bfail now\b/i],
];

/** Finds phrases by which client developers can ask for a refusal, a filtered answer or a failure. */
function findTrigger(text: string): Trigger | null {
  return PHRASES.find(([, phrase]) => phrase.test(text))?.[0] ?? null;
}

interface LimitedEvents {
  readonly events: readonly ModelEvent[];
  readonly cut: boolean;
}

/** Cuts before the first delta over the limit, and drops a block that would stay empty. */
function limitTokens(events: readonly ModelEvent[], tokensMax: number): LimitedEvents {
  let tokens = 0;
  for (const [index, event] of events.entries()) {
    if (isDelta(event)) tokens += 1;
    if (tokens > tokensMax) return { events: withoutOpening(events.slice(0, index)), cut: true };
  }
  return { events, cut: false };
}

function withoutOpening(events: readonly ModelEvent[]): readonly ModelEvent[] {
  const last = events.at(-1);
  const opens =
    last?.type === "call_started" || last?.type === "message_started" || last?.type === "reasoning_summary_break";
  return opens ? events.slice(0, -1) : events;
}
