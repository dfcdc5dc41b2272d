import { calculate } from "./calculate.ts";
import { shorten } from "./tokens.ts";

/** The parts of a conversation that skills can read. */
export interface SkillInput {
  /** The last user message. */
  readonly text: string;
  /** The user messages before it, oldest first. */
  readonly earlierTexts: readonly string[];
  /** The request's instructions and the developer messages. */
  readonly instructions: readonly string[];
}

/** Returns an answer, or null if the question is not its kind. Skills understand English only. */
type Skill = (question: SkillInput) => string | null;

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

export function answerBySkill(question: SkillInput): string | null {
  for (const skill of SKILLS) {
    const answer = skill(question);
    if (answer !== null) return answer;
  }
  return null;
}

const SAY =
  /^(?:please[\s,]+)?(?:(?:can|could|would|will) you (?:please )?)?(?:say|repeat|echo|(?:reply|respond|answer)(?: only| just| exactly)? with)[\s:,]+(.+)$/is;
/** Words before the text that are not part of it. */
const PREAMBLE =
  /^(?:(?:exactly|only|just|back|after me|this(?=\s*:)|the following(?: (?:words?|text|phrase|sentence|message))?|(?:the|one|a single) (?:words?|text|phrase|sentence|message|string))(?![\p{L}\p{N}])[\s:,]*)+/iu;
const QUOTED = /^(?:"([^"]+)"|“([^”]+)”|'([^']+)'|`([^`]+)`)/;

/** Answers "say X" and "reply with X" with X. If X begins with a quotation, only the quotation is repeated. */
function repeatText({ text }: SkillInput): string | null {
  const request = SAY.exec(text)?.[1]?.trim() ?? "";
  const phrase = request.replace(PREAMBLE, "") || request;
  const quoted = QUOTED.exec(phrase)?.slice(1) ?? [];
  return request === "" ? null : (quoted.find((part) => part !== undefined) ?? phrase);
}

const SUMMARY_CHARS_MAX = 500;
const SUMMARY_MESSAGES_MAX = 50;
const SUMMARIZE =
  /^(?:please[\s,]+)?(?:write (?:me )?a (?:short )?summary of|summari[sz]e) (?:this|the|our) (?:whole )?conversation\b/i;

/** Answers "summarize this conversation" with the latest user messages, at most 50. */
function summarizeConversation({ text, earlierTexts }: SkillInput): string | null {
  if (!SUMMARIZE.test(text)) return null;
  const latest = earlierTexts.slice(-SUMMARY_MESSAGES_MAX);
  const lines = latest.map((earlier) => `\n- "${shorten(earlier, SUMMARY_CHARS_MAX)}"`).join("");
  return lines === "" ? "Nothing was said." : `The user said:${lines}`;
}

const MESSAGE_CHARS_MAX = 2000;
const ASKS_FOR_MESSAGE =
  /\bwhat (?:did|have|was it) i (?:just |last )?(?:say|said|tell|told|ask|asked|write|written)\b|\brepeat (?:what i said|my (?:last|previous) message)\b/i;
const ASKS_FOR_INSTRUCTIONS = /\bwhat (?:are|were|is|was) your (?:instructions?|system prompt|system message)\b/i;
const ASKS_FOR_FACT =
  /\b(?:what(?:'s|’s| is| was)|tell me|do you (?:know|remember)) my ((?:[\p{L}\p{N}]{1,40} ?){1,4})/iu;

/** Answers "what did I say" with the previous user message, which shows that earlier turns are in the context. */
function recallMessage({ text, earlierTexts }: SkillInput): string | null {
  if (!ASKS_FOR_MESSAGE.test(text)) return null;
  const before = earlierTexts.at(-1);
  if (before === undefined) return "You have not said anything before that.";
  return `You said: "${shorten(before, MESSAGE_CHARS_MAX)}"`;
}

/** Answers "what are your instructions" with the request's instructions and developer messages. */
function recallInstructions({ text, instructions }: SkillInput): string | null {
  if (!ASKS_FOR_INSTRUCTIONS.test(text)) return null;
  if (instructions.length === 0) return "I have no instructions.";
  return `My instructions are: "${shorten(instructions.join("\n"), MESSAGE_CHARS_MAX)}"`;
}

/** Answers "what is my X" if an earlier message says "my X is Y". */
function recallFact({ text, earlierTexts }: SkillInput): string | null {
  const subject = ASKS_FOR_FACT.exec(text)?.[1]?.trim().toLowerCase();
  if (subject === undefined) return null;
  // `subject` holds letters, digits and single spaces only.
  const pattern = new RegExp(`\\bmy ${subject} (?:is|was) ([^.!?,;\\n]{1,200})`, "iu");
  for (const earlier of earlierTexts.toReversed()) {
    const value = pattern.exec(earlier)?.[1]?.trim();
    if (value !== undefined) return `Your ${subject} is ${value}.`;
  }
  return `You have not told me your ${subject}.`;
}

const NUMBERS_MAX = 1000;
const WORDS_MAX = 5000;
const NUMBER_WORDS = wordsIn(
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty",
);
const COUNTING = /\bcount\s+(?:from\s+(\w{1,9})\s+)?(?:up\s+|down\s+)?to\s+(\w{1,9})\b/i;
const WRITING = /\b(?:write|give|generate|produce|tell|say|send|stream|make)\b.{0,60}?\b(\d{1,9})[\s-]words?\b/is;
const STORY = wordsIn(
  "the first voice sings and the second voice answers so that every verse comes back across the quiet hall while evening light falls on the old stone floor",
);

/** Answers "count to N" and "count from M to N" with at most 1000 numbers. */
function countNumbers({ text }: SkillInput): string | null {
  const [, first = "1", last = ""] = COUNTING.exec(text) ?? [];
  const from = readNumber(first);
  const to = readNumber(last);
  if (from === null || to === null) return null;
  const step = from <= to ? 1 : -1;
  const count = Math.min(Math.abs(to - from) + 1, NUMBERS_MAX);
  return Array.from({ length: count }, (_, index) => from + index * step).join(" ");
}

/** Answers "write N words" with exactly N words, at most 5000, for clients that need a long stream. */
function writeWords({ text }: SkillInput): string | null {
  const count = Math.min(Number(WRITING.exec(text)?.[1] ?? 0), WORDS_MAX);
  return Array.from({ length: count }, (_, index) => STORY[index % STORY.length]).join(" ") || null;
}

function wordsIn(text: string): readonly string[] {
  return text.split(" ");
}

function readNumber(word: string): number | null {
  if (/^\d+$/.test(word)) return Number(word);
  const number = NUMBER_WORDS.indexOf(word.toLowerCase());
  return number === -1 ? null : number;
}

const INTRODUCTION =
  "I am Antiphon's built-in engine, not a language model: I have no weights and answer from fixed rules, so the same request always gets the same answer.";
const ABILITIES =
  'I can repeat ("say X"), count ("count to 5"), calculate ("what is 2+2*3"), write any number of words, recall earlier messages, call your tools and fill your JSON schemas. Set MODEL_BASE_URL to connect a real model.';
/** Has no adjacent repetitions, so that matching takes linear time. */
const GREETING =
  /^(?:hi|hello|hey|greetings|good (?:morning|afternoon|evening|day))(?: there| all| everyone| world| antiphon)?[\s,.!?]*(?:how are you(?: doing)?(?: today)?[\s.!?]*)?$/i;
const QUESTION =
  /\b(?:who|what) are you\b|\b(?:which|what) model\b|\bwhat can you do\b|^help[\s.!?]*$|\bintroduce yourself\b/i;

function greet({ text }: SkillInput): string | null {
  if (GREETING.test(text)) return `Hello! ${INTRODUCTION}`;
  return QUESTION.test(text) ? `${INTRODUCTION} ${ABILITIES}` : null;
}
