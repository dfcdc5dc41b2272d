import type { SkillInput } from "./skill.ts";

const INTRODUCTION =
  "I am Antiphon's built-in engine, not a language model: I have no weights and answer from fixed rules, so the same request always gets the same answer.";
const ABILITIES =
  'I can repeat ("say X"), count ("count to 5"), calculate ("what is 2+2*3"), write any number of words, recall earlier messages, call your tools and fill your JSON schemas. Set MODEL_BASE_URL to connect a real model.';

/** Has no adjacent repetitions, so that matching takes linear time. */
const GREETING =
  /^(?:hi|hello|hey|greetings|good (?:morning|afternoon|evening|day))(?: there| all| everyone| world| antiphon)?[\s,.!?]*(?:how are you(?: doing)?(?: today)?[\s.!?]*)?$/i;
const QUESTION =
  /\b(?:who|what) are you\b|\b(?:which|what) model\b|\bwhat can you do\b|^help[\s.!?]*$|\bintroduce yourself\b/i;
const THANKS = /^(?:thanks|thank you)\b.{0,40}$/i;
const FAREWELL = /^(?:bye|goodbye|see you)\b.{0,40}$/i;

export function greet({ text }: SkillInput): string | null {
  if (GREETING.test(text)) return `Hello! ${INTRODUCTION}`;
  if (QUESTION.test(text)) return `${INTRODUCTION} ${ABILITIES}`;
  if (THANKS.test(text)) return "You're welcome.";
  if (FAREWELL.test(text)) return "Goodbye!";
  return null;
}
