import type { Attachments, Conversation, ToolOutput } from "./conversation.ts";
import { calculate } from "./skills/calculate.ts";
import { countNumbers, writeWords } from "./skills/count.ts";
import { greet } from "./skills/greet.ts";
import { recallFact, recallInstructions, recallMessage, summarizeConversation } from "./skills/recall.ts";
import { repeatText } from "./skills/repeat.ts";
import type { Skill } from "./skills/skill.ts";
import { shorten } from "./tokens.ts";

const QUOTE_CHARS_MAX = 200;
const OUTPUT_CHARS_MAX = 4000;
const DISCLAIMER =
  "This answer comes from Antiphon's built-in engine, which follows fixed rules and is not a language model; set MODEL_BASE_URL to connect a real one.";

/** Asked in this order; the first answer that is not null is used. */
const SKILLS: readonly Skill[] = [
  repeatText,
  summarizeConversation,
  recallMessage,
  recallInstructions,
  recallFact,
  countNumbers,
  writeWords,
  calculate,
  greet,
];

/**
 * A short answer in plain text: the tool outputs, the answer of a skill, or a quote of the request with a disclaimer.
 */
export function answerText(conversation: Conversation, instructions: string | null): string {
  const { toolOutputs, text, userTexts, systemTexts } = conversation;
  if (toolOutputs.length > 0) return toolOutputs.map(reportOutput).join("\n");
  const question = {
    text,
    earlierTexts: userTexts.slice(0, -1),
    instructions: [...(instructions === null ? [] : [instructions]), ...systemTexts],
  };
  for (const skill of SKILLS) {
    const answer = skill(question);
    if (answer !== null) return answer;
  }
  return [reportAttachments(conversation.attachments), reportRequest(text), DISCLAIMER]
    .filter((part) => part !== "")
    .join(" ");
}

/** Repeats the output. If it offers sources, its first one is cited as models are asked to. */
function reportOutput({ tool, text, source }: ToolOutput): string {
  const output = text.length <= OUTPUT_CHARS_MAX ? text : shorten(text, OUTPUT_CHARS_MAX);
  const cited = source === null ? "" : `【${source}】`;
  return `${tool ?? "The tool"} returned: ${output === "" ? "nothing" : output}${cited}`;
}

function reportRequest(text: string): string {
  return text === "" ? "" : `You said: "${shorten(text, QUOTE_CHARS_MAX)}".`;
}

function reportAttachments({ images, files, audio }: Attachments): string {
  const received = [
    amount(images, "image", "images"),
    amount(files, "file", "files"),
    amount(audio, "recording", "recordings"),
  ];
  const unable = [images > 0 ? "see images" : "", files > 0 ? "read files" : "", audio > 0 ? "hear audio" : ""];
  if (images + files + audio === 0) return "";
  return `I received ${joinWithWord(received, "and")}. I can't ${joinWithWord(unable, "or")}: I am the built-in engine.`;
}

function amount(count: number, one: string, many: string): string {
  return count === 0 ? "" : `${count} ${count === 1 ? one : many}`;
}

function joinWithWord(parts: readonly string[], word: "and" | "or"): string {
  const present = parts.filter((part) => part !== "");
  const last = present.at(-1) ?? "";
  return present.length < 2 ? last : `${present.slice(0, -1).join(", ")} ${word} ${last}`;
}
