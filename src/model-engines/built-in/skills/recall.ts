import { shorten } from "../tokens.ts";
import type { SkillInput } from "./skill.ts";

const MESSAGE_CHARS_MAX = 2000;
const ASKS_FOR_MESSAGE =
  /\bwhat (?:did|have|was it) i (?:just |last )?(?:say|said|tell|told|ask|asked|write|written)\b|\brepeat (?:what i said|my (?:last|previous) message)\b/i;
const ASKS_FOR_INSTRUCTIONS = /\bwhat (?:are|were|is|was) your (?:instructions?|system prompt|system message)\b/i;
const ASKS_FOR_FACT =
  /\b(?:what(?:'s|’s| is| was)|tell me|do you (?:know|remember)) my ((?:[\p{L}\p{N}]{1,40} ?){1,4})/iu;

/** Answers "what did I say" with the previous user message, which shows that earlier turns are in the context. */
export function recallMessage({ text, earlierTexts }: SkillInput): string | null {
  if (!ASKS_FOR_MESSAGE.test(text)) return null;
  const before = earlierTexts.at(-1);
  return before === undefined
    ? "You have not said anything before that."
    : `You said: "${shorten(before, MESSAGE_CHARS_MAX)}"`;
}

/** Answers "what are your instructions" with the request's instructions and developer messages. */
export function recallInstructions({ text, instructions }: SkillInput): string | null {
  if (!ASKS_FOR_INSTRUCTIONS.test(text)) return null;
  if (instructions.length === 0) return "I have no instructions.";
  return `My instructions are: "${shorten(instructions.join("\n"), MESSAGE_CHARS_MAX)}"`;
}

/** Answers "what is my X" if an earlier message says "my X is Y". */
export function recallFact({ text, earlierTexts }: SkillInput): string | null {
  const subject = ASKS_FOR_FACT.exec(text)?.[1]?.trim().toLowerCase();
  if (subject === undefined) return null;
  // `subject` holds letters, digits and single spaces only.
  const told = new RegExp(`\\bmy ${subject} (?:is|was) ([^.!?,;\\n]{1,200})`, "iu");
  for (const earlier of earlierTexts.toReversed()) {
    const value = told.exec(earlier)?.[1]?.trim();
    if (value !== undefined) return `Your ${subject} is ${value}.`;
  }
  return `You have not told me your ${subject}.`;
}

const SUMMARY_CHARS_MAX = 500;
const SUMMARY_MESSAGES_MAX = 50;
const ASKS_FOR_SUMMARY =
  /^(?:please[\s,]+)?(?:write (?:me )?a (?:short )?summary of|summari[sz]e) (?:this|the|our) (?:whole )?conversation\b/i;

/** Answers "summarize this conversation" with the latest user messages, at most 50. */
export function summarizeConversation({ text, earlierTexts }: SkillInput): string | null {
  if (!ASKS_FOR_SUMMARY.test(text)) return null;
  if (earlierTexts.length === 0) return "Nothing was said.";
  const said = earlierTexts.slice(-SUMMARY_MESSAGES_MAX).map((earlier) => `- "${shorten(earlier, SUMMARY_CHARS_MAX)}"`);
  return `The user said:\n${said.join("\n")}`;
}
