import { shorten } from "../tokens.ts";
import type { Question } from "./skill.ts";

const MESSAGE_CHARS_MAX = 500;
const MESSAGES_MAX = 50;
const ASKS_FOR_SUMMARY =
  /^(?:please[\s,]+)?(?:write (?:me )?a (?:short )?summary of|summari[sz]e) (?:this|the|our) (?:whole )?conversation\b/i;

/** "Summarize this conversation": what the user said, the latest messages if there are many. */
export function summarizeConversation({ text, earlierTexts }: Question): string | null {
  if (!ASKS_FOR_SUMMARY.test(text)) return null;
  if (earlierTexts.length === 0) return "Nothing was said.";
  const said = earlierTexts.slice(-MESSAGES_MAX).map((earlier) => `- "${shorten(earlier, MESSAGE_CHARS_MAX)}"`);
  return `The user said:\n${said.join("\n")}`;
}
