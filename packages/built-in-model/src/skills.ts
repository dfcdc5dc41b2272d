import { calculate } from "./calculate.ts";
import type { Conversation } from "./conversation.ts";
import { shorten } from "./tokens.ts";

/** A question that the engine can answer, in English only. The answer is null if it is not of this kind after all. */
interface Skill {
  readonly asks: RegExp;
  readonly answer: (match: RegExpExecArray, conversation: Conversation) => string | null;
}

const SUMMARY_CHARS_MAX = 500;
const SUMMARY_MESSAGES_MAX = 50;
const MESSAGE_CHARS_MAX = 2000;
const NUMBERS_MAX = 1000;
const WORDS_MAX = 5000;
const INTRODUCTION =
  "I am Antiphon's built-in engine, not a language model: I have no weights and answer from fixed rules, so the same request always gets the same answer.";
const ABILITIES =
  'I can repeat ("say X"), count ("count to 5"), calculate ("what is 2+2*3"), write any number of words, recall earlier messages, call your tools and fill your JSON schemas. Set MODEL_BASE_URL to connect a real model.';
const NUMBER_WORDS =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty".split(
    " ",
  );
const STORY =
  "the first voice sings and the second voice answers so that every verse comes back across the quiet hall while evening light falls on the old stone floor".split(
    " ",
  );

/** Tried in this order; the first answer that is not null is used. */
const SKILLS: readonly Skill[] = [
  {
    asks: /^(?:please[\s,]+)?(?:(?:can|could|would|will) you (?:please )?)?(?:say|repeat|echo|(?:reply|respond|answer)(?: only| just| exactly)? with)[\s:,]+(.+)$/is,
    answer: repeatText,
  },
  {
    asks: /^(?:please[\s,]+)?(?:write (?:me )?a (?:short )?summary of|summari[sz]e) (?:this|the|our) (?:whole )?conversation\b/i,
    answer: summarizeConversation,
  },
  {
    asks: /\bwhat (?:did|have|was it) i (?:just |last )?(?:say|said|tell|told|ask|asked|write|written)\b|\brepeat (?:what i said|my (?:last|previous) message)\b/i,
    answer: recallMessage,
  },
  {
    asks: /\bwhat (?:are|were|is|was) your (?:instructions?|system prompt|system message)\b/i,
    answer: recallInstructions,
  },
  {
    asks: /\b(?:what(?:'s|’s| is| was)|tell me|do you (?:know|remember)) my ((?:[\p{L}\p{N}]{1,40} ?){1,4})/iu,
    answer: recallFact,
  },
  { asks: /\bcount\s+(?:from\s+(\w{1,9})\s+)?(?:up\s+|down\s+)?to\s+(\w{1,9})\b/i, answer: countNumbers },
  {
    asks: /\b(?:write|give|generate|produce|tell|say|send|stream|make)\b.{0,60}?\b(\d{1,9})[\s-]words?\b/is,
    answer: writeWords,
  },
  { asks: /\d/, answer: (_, { text }) => calculate(text) },
  {
    // Has no adjacent repetitions, so that matching takes linear time.
    asks: /^(?:hi|hello|hey|greetings|good (?:morning|afternoon|evening|day))(?: there| all| everyone| world| antiphon)?[\s,.!?]*(?:how are you(?: doing)?(?: today)?[\s.!?]*)?$/i,
    answer: () => `Hello! ${INTRODUCTION}`,
  },
  {
    asks: /\b(?:who|what) are you\b|\b(?:which|what) model\b|\bwhat can you do\b|^help[\s.!?]*$|\bintroduce yourself\b/i,
    answer: () => `${INTRODUCTION} ${ABILITIES}`,
  },
];

export function answerBySkill(conversation: Conversation): string | null {
  for (const { asks, answer } of SKILLS) {
    const match = asks.exec(conversation.text);
    const words = match === null ? null : answer(match, conversation);
    if (words !== null) return words;
  }
  return null;
}

/** Words before the text that are not part of it. */
const PREAMBLE =
  /^(?:(?:exactly|only|just|back|after me|this(?=\s*:)|the following(?: (?:words?|text|phrase|sentence|message))?|(?:the|one|a single) (?:words?|text|phrase|sentence|message|string))(?![\p{L}\p{N}])[\s:,]*)+/iu;
const QUOTED = /^(?:"([^"]+)"|“([^”]+)”|'([^']+)'|`([^`]+)`)/;

/** If the text begins with a quotation, only the quotation is repeated. */
function repeatText([, words = ""]: RegExpExecArray): string | null {
  const request = words.trim();
  const phrase = request.replace(PREAMBLE, "") || request;
  const quoted = QUOTED.exec(phrase)?.slice(1).find(Boolean);
  return request === "" ? null : (quoted ?? phrase);
}

/** The latest user messages. */
function summarizeConversation(_: RegExpExecArray, { userTexts }: Conversation): string {
  const latest = userTexts.slice(0, -1).slice(-SUMMARY_MESSAGES_MAX);
  const lines = latest.map((earlier) => `\n- "${shorten(earlier, SUMMARY_CHARS_MAX)}"`).join("");
  return lines === "" ? "Nothing was said." : `The user said:${lines}`;
}

/** The previous user message, which shows that earlier turns are in the context. */
function recallMessage(_: RegExpExecArray, { userTexts }: Conversation): string {
  const before = userTexts.at(-2);
  if (before === undefined) return "You have not said anything before that.";
  return `You said: "${shorten(before, MESSAGE_CHARS_MAX)}"`;
}

function recallInstructions(_: RegExpExecArray, { instructions }: Conversation): string {
  if (instructions.length === 0) return "I have no instructions.";
  return `My instructions are: "${shorten(instructions.join("\n"), MESSAGE_CHARS_MAX)}"`;
}

/** Answers "what is my X" if an earlier message says "my X is Y". */
function recallFact([, words = ""]: RegExpExecArray, { userTexts }: Conversation): string {
  const subject = words.trim().toLowerCase();
  // `subject` holds letters, digits and single spaces only.
  const pattern = new RegExp(`\\bmy ${subject} (?:is|was) ([^.!?,;\\n]{1,200})`, "iu");
  for (const earlier of userTexts.slice(0, -1).toReversed()) {
    const value = pattern.exec(earlier)?.[1]?.trim();
    if (value !== undefined) return `Your ${subject} is ${value}.`;
  }
  return `You have not told me your ${subject}.`;
}

function countNumbers([, first = "1", last = ""]: RegExpExecArray): string | null {
  const from = readNumber(first);
  const to = readNumber(last);
  if (from === null || to === null) return null;
  const step = from <= to ? 1 : -1;
  const count = Math.min(Math.abs(to - from) + 1, NUMBERS_MAX);
  return Array.from({ length: count }, (_, index) => from + index * step).join(" ");
}

function readNumber(word: string): number | null {
  if (/^\d+$/.test(word)) return Number(word);
  const number = NUMBER_WORDS.indexOf(word.toLowerCase());
  return number === -1 ? null : number;
}

/** Exactly that many words, at most 5000, for clients that need a long stream. */
function writeWords([, number]: RegExpExecArray): string | null {
  const count = Math.min(Number(number), WORDS_MAX);
  return Array.from({ length: count }, (_, index) => STORY[index % STORY.length]).join(" ") || null;
}
