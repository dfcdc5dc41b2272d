import type { Setting } from "../setting.ts";

const MEBI = 1024 * 1024;

/** The three limits in characters together stay below `ANSWER_CHARACTERS_MAX` in `runs/run-failures.ts`. */
const CHARACTERS_MAX = 5 * MEBI;

/** Limits on one answer of a model. An answer that reaches one ends incomplete, with reason `max_output_tokens`. */
export const ANSWER_SETTINGS = {
  answerTextCharactersMax: {
    name: "ANSWER_TEXT_CHARACTERS_MAX",
    section: "Limits",
    kind: "integer",
    default: 2 * MEBI,
    min: 1024,
    max: CHARACTERS_MAX,
    text: "Most characters of text, refusals included, in one answer. An answer that reaches this or another ANSWER_ limit ends as incomplete with the reason max_output_tokens.",
  },
  answerReasoningCharactersMax: {
    name: "ANSWER_REASONING_CHARACTERS_MAX",
    section: "Limits",
    kind: "integer",
    default: 2 * MEBI,
    min: 1024,
    max: CHARACTERS_MAX,
    text: "Most characters of reasoning and reasoning summaries in one answer.",
  },
  answerArgumentsCharactersMax: {
    name: "ANSWER_ARGUMENTS_CHARACTERS_MAX",
    section: "Limits",
    kind: "integer",
    default: 2 * MEBI,
    min: 1024,
    max: CHARACTERS_MAX,
    text: "Most characters of arguments in all tool calls of one answer together.",
  },
  answerCallsMax: {
    name: "ANSWER_CALLS_MAX",
    section: "Limits",
    kind: "integer",
    default: 256,
    min: 1,
    max: 1024,
    text: "Most tool calls in one answer.",
  },
  answerItemsMax: {
    name: "ANSWER_ITEMS_MAX",
    section: "Limits",
    kind: "integer",
    default: 1024,
    min: 1,
    max: 10_000,
    text: "Most items and content parts in one answer.",
  },
  answerAnnotationsMax: {
    name: "ANSWER_ANNOTATIONS_MAX",
    section: "Limits",
    kind: "integer",
    default: 2048,
    min: 1,
    max: 10_000,
    text: "Most annotations, such as citations, in one answer.",
  },
  answerLogprobsMax: {
    name: "ANSWER_LOGPROBS_MAX",
    section: "Limits",
    kind: "integer",
    default: 262_144,
    min: 1,
    max: 4 * MEBI,
    text: "Most log probabilities, alternatives included, in one answer.",
  },
} as const satisfies Readonly<Record<string, Setting>>;
