import type { Conversation, ToolOutput } from "./conversation.ts";
import { answerBySkill } from "./skills.ts";
import { shorten } from "./tokens.ts";

const QUOTE_CHARS_MAX = 200;
const OUTPUT_CHARS_MAX = 4000;
const DISCLAIMER =
  "This answer comes from Antiphon's built-in engine, which follows fixed rules and is not a language model; set MODEL_BASE_URL to connect a real one.";
/** What the engine does not read: one, many, and what it cannot do. */
const ATTACHMENTS = [
  ["input_image", "image", "images", "see images"],
  ["input_file", "file", "files", "read files"],
  ["input_audio", "recording", "recordings", "hear audio"],
] as const;

/**
 * A short answer in plain text: the tool outputs, the answer of a skill, or a quote of the request with a disclaimer.
 */
export function answerText(conversation: Conversation, instructions: string | null): string {
  const { toolOutputs, text, userTexts, systemTexts } = conversation;
  if (toolOutputs.length > 0) return toolOutputs.map(reportOutput).join("\n");
  const answer = answerBySkill({
    text,
    earlierTexts: userTexts.slice(0, -1),
    instructions: [...(instructions === null ? [] : [instructions]), ...systemTexts],
  });
  const quote = text === "" ? "" : `You said: "${shorten(text, QUOTE_CHARS_MAX)}".`;
  return answer ?? [reportAttachments(conversation), quote, DISCLAIMER].filter(Boolean).join(" ");
}

/** Repeats the output. If it offers sources, its first one is cited as models are asked to. */
function reportOutput({ tool, text, source }: ToolOutput): string {
  const output = text.length <= OUTPUT_CHARS_MAX ? text : shorten(text, OUTPUT_CHARS_MAX);
  const citation = source === null ? "" : `【${source}】`;
  return `${tool ?? "The tool"} returned: ${output === "" ? "nothing" : output}${citation}`;
}

function reportAttachments({ parts }: Conversation): string {
  const present = ATTACHMENTS.flatMap(([kind, one, many, unable]) => {
    const count = parts.filter(({ type }) => type === kind).length;
    return count === 0 ? [] : [{ amount: `${count} ${count === 1 ? one : many}`, unable }];
  });
  if (present.length === 0) return "";
  const attachments = joinWithWord(
    present.map(({ amount }) => amount),
    "and",
  );
  return `I received ${attachments}. I can't ${joinWithWord(
    present.map(({ unable }) => unable),
    "or",
  )}: I am the built-in engine.`;
}

function joinWithWord(parts: readonly string[], word: "and" | "or"): string {
  return [parts.slice(0, -1).join(", "), ...parts.slice(-1)].filter(Boolean).join(` ${word} `);
}
