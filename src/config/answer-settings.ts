import type { Setting } from "./setting.ts";

const MEBI = 1024 * 1024;

/** Together they stay below what a run holds (`ANSWER_CHARACTERS_MAX` in `runs/run-failures.ts`). */
const CHARACTERS_MAX = 5 * MEBI;

/**
 * How much one answer of a model may hold. What is longer ends there, as `response.incomplete` with
 * `max_output_tokens`.
 */
export const ANSWER_SETTINGS = {
  answerTextCharactersMax: {
    name: "ANSWER_TEXT_CHARACTERS_MAX",
    section: "Limits",
    kind: "integer",
    default: 2 * MEBI,
    min: 1024,
    max: CHARACTERS_MAX,
    text: "Characters of text, refusals included, that one answer may hold. An answer that reaches this or another ANSWER_ limit ends there as incomplete, with the reason max_output_tokens.",
  },
  answerReasoningCharactersMax: {
    name: "ANSWER_REASONING_CHARACTERS_MAX",
    section: "Limits",
    kind: "integer",
    default: 2 * MEBI,
    min: 1024,
    max: CHARACTERS_MAX,
    text: "Characters of reasoning and its summaries that one answer may hold.",
  },
  answerArgumentsCharactersMax: {
    name: "ANSWER_ARGUMENTS_CHARACTERS_MAX",
    section: "Limits",
    kind: "integer",
    default: 2 * MEBI,
    min: 1024,
    max: CHARACTERS_MAX,
    text: "Characters of arguments that the calls of one answer may hold together.",
  },
  answerCallsMax: {
    name: "ANSWER_CALLS_MAX",
    section: "Limits",
    kind: "integer",
    default: 256,
    min: 1,
    max: 1024,
    text: "Calls of tools that one answer may make.",
  },
  answerItemsMax: {
    name: "ANSWER_ITEMS_MAX",
    section: "Limits",
    kind: "integer",
    default: 1024,
    min: 1,
    max: 10_000,
    text: "Items, and parts of items, that one answer may hold.",
  },
  answerAnnotationsMax: {
    name: "ANSWER_ANNOTATIONS_MAX",
    section: "Limits",
    kind: "integer",
    default: 2048,
    min: 1,
    max: 10_000,
    text: "Annotations, such as citations, that one answer may hold.",
  },
  answerLogprobsMax: {
    name: "ANSWER_LOGPROBS_MAX",
    section: "Limits",
    kind: "integer",
    default: 262_144,
    min: 1,
    max: 4 * MEBI,
    text: "Log probabilities that one answer may hold, alternatives included.",
  },
} as const satisfies Readonly<Record<string, Setting>>;
