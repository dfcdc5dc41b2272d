import type { ModelEvent } from "../../runs/ports/model-events.ts";
import type { ModelRequest } from "../../runs/request/model-request.ts";
import { sayDeltas } from "./say-text.ts";
import { shorten } from "./tokens.ts";

const QUOTE_CHARS_MAX = 120;
/** How many sentences of reasoning each effort gives; all for other efforts. */
const SENTENCES: Readonly<Record<string, number>> = { minimal: 1, low: 2 };

/** The reasoning before the answer: summary parts if a summary was requested, otherwise raw reasoning text. */
export function planReasoning(reasoning: ModelRequest["reasoning"], text: string): ModelEvent[] {
  const { effort, summary } = reasoning;
  if (effort === "none" || (effort === null && summary === null)) return [];
  if (summary === null)
    return sayDeltas(
      "reasoning_delta",
      think(text)
        .slice(0, SENTENCES[effort ?? ""] ?? Infinity)
        .join(" "),
    );
  const [first, ...rest] = summarise(text);
  const parts = summary === "detailed" ? [first, ...rest] : [first];
  return parts.flatMap((part, index) => [
    ...(index === 0 ? [] : [{ type: "reasoning_summary_break" } as const]),
    ...sayDeltas("reasoning_summary_delta", part),
  ]);
}

function think(text: string): string[] {
  return [
    text === "" ? "The request has no text." : `The request says: "${shorten(text, QUOTE_CHARS_MAX)}".`,
    "I look for a rule that fits it.",
    "The first rule that fits decides what I answer.",
  ];
}

function summarise(text: string): [string, ...string[]] {
  const [request, ...rest] = think(text);
  return [`**Reading the request**\n\n${request}`, `**Choosing a rule**\n\n${rest.join(" ")}`];
}
