import type { ModelError, ModelEvent, ModelRequest } from "../../runs/ports.ts";
import { answerText } from "./answer-text.ts";
import { type Conversation, readConversation } from "./conversation.ts";
import { guessHints } from "./json/hints.ts";
import { makeValue } from "./json/make-value.ts";
import { limitTokens } from "./limit-tokens.ts";
import { failureAsked } from "./model-errors.ts";
import { planReasoning } from "./reasoning.ts";
import { OUTPUT_TOKENS_MAX, sayDeltas, sayText } from "./say-text.ts";
import type { Step } from "./step.ts";
import { planCalls } from "./tools/plan-calls.ts";
import { findTrigger, type Trigger } from "./triggers.ts";
import { usageOf } from "./usage.ts";

interface Draft {
  readonly events: readonly ModelEvent[];
  readonly ending: "stop" | "content_filter" | ModelError;
}

/** Decides the whole answer before its first word. Pure: the same request gives the same steps. */
export function planAnswer(request: ModelRequest): readonly Step[] {
  const conversation = readConversation(request.items);
  const draft = draftAnswer(request, conversation);
  const reasoning = planReasoning(request.reasoning, conversation.text);
  const tokensMax = Math.min(request.maxOutputTokens ?? OUTPUT_TOKENS_MAX, OUTPUT_TOKENS_MAX);
  const { events, cut } = limitTokens([...reasoning, ...draft.events], tokensMax);
  const ending = cut ? "length" : draft.ending;
  if (typeof ending !== "string") return [...events, { type: "failure", error: ending }];
  return [...events, usageOf(request, events), { type: "finished", reason: ending }];
}

function draftAnswer(request: ModelRequest, conversation: Conversation): Draft {
  const calls = planCalls(request, conversation); // First, because it refuses tools that nobody here can run.
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
