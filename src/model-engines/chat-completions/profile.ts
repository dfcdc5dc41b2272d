import type { ModelAbilities, ReasoningDefaults } from "@antiphon/domain/models/model-engine.ts";

/**
 * How a server marks reasoning in `content`: `leading` if content may begin with `<think>`, `already_open` if the chat
 * template writes the opening tag, `off` if content has no reasoning.
 */
export type ReasoningTags = "leading" | "already_open" | "off";

/**
 * How to make a server continue the beginning of an answer, which is the last message: by members of vLLM, by a mark on
 * the message, or without anything. `probe`: tries each form; `none`: it cannot.
 */
export type ContinuationForm = "continue_final_message" | "prefix" | "partial" | "last_message";

/** The differences between families of chat-completions servers. */
export interface BackendProfile {
  /**
   * The role of system and developer messages within the conversation. Many chat templates allow `system` only first.
   */
  readonly lateSystemRole: "system" | "user";
  /** The `content` of a message that only calls tools. llama.cpp and SGLang refuse null, which OpenAI sends. */
  readonly contentOfCalls: "" | null;
  readonly outputLimitField: "max_tokens" | "max_completion_tokens";
  /** Whether the server knows `prompt_cache_key` and `service_tier`. Other servers may refuse unknown members. */
  readonly knowsVendorFields: boolean;
  /** Whether earlier reasoning is sent back as `reasoning_content`. */
  readonly acceptsReasoning: boolean;
  readonly reasoningTags: ReasoningTags;
  readonly continuation: ContinuationForm | "probe" | "none";
  /** How a model reasons by default; null if unknown. */
  readonly reasoningDefaults: (model: string) => ReasoningDefaults | null;
  /** Whether its counter of tokens also takes the format of the answer and the choice of tools. */
  readonly countsShapes: boolean;
  /** What its models can read besides text, unless the operator sets it. */
  readonly abilities: ModelAbilities;
}

const GENERIC: BackendProfile = {
  lateSystemRole: "system",
  contentOfCalls: "",
  outputLimitField: "max_tokens",
  knowsVendorFields: false,
  acceptsReasoning: true,
  reasoningTags: "leading",
  continuation: "probe",
  reasoningDefaults: () => null,
  countsShapes: false,
  abilities: { images: true, imageUrls: false, files: false, audioFormats: [] },
};

const OPENAI_REASONING: ReasoningDefaults = { context: "current_turn", effort: "medium", mode: "standard" };

/** By model names, which may end in a date. Other models may not reason, or are unknown. */
const REASONING_DEFAULTS: readonly (readonly [names: RegExp, defaults: ReasoningDefaults])[] = [
  [/^(o1|o3|o3-mini|o4-mini|gpt-5|gpt-5-mini|gpt-5-nano|gpt-5\.5)(-\d{4}-\d\d-\d\d)?$/, OPENAI_REASONING],
  [/^gpt-5\.[124](-mini|-nano)?(-\d{4}-\d\d-\d\d)?$/, { ...OPENAI_REASONING, effort: "none" }],
  [/^gpt-5\.6(-[a-z]+)?(-\d{4}-\d\d-\d\d)?$/, { ...OPENAI_REASONING, context: "all_turns" }],
];

const OPENAI: BackendProfile = {
  lateSystemRole: "system",
  contentOfCalls: null,
  outputLimitField: "max_completion_tokens",
  knowsVendorFields: true,
  acceptsReasoning: false,
  reasoningTags: "off",
  continuation: "none",
  reasoningDefaults: openaiReasoning,
  countsShapes: false,
  abilities: { images: true, imageUrls: true, files: true, audioFormats: ["mp3", "wav"] },
};

/** The language model in a child process of this server. */
export const EMBEDDED_PROFILE: BackendProfile = {
  ...GENERIC,
  acceptsReasoning: false,
  continuation: "continue_final_message",
  countsShapes: true,
  abilities: { images: false, imageUrls: false, files: false, audioFormats: [] },
};

/** The profiles by name, for operators whose base URL does not identify the family. */
export const PROFILES = { generic: GENERIC, openai: OPENAI } as const;

/** The profile for a base URL, overridden by the operator's settings. */
export function chooseProfile(baseUrl: URL, overrides: Partial<BackendProfile> = {}): BackendProfile {
  const isOpenAi = baseUrl.hostname === "api.openai.com" || baseUrl.hostname.endsWith(".api.openai.com");
  return { ...(isOpenAi ? OPENAI : GENERIC), ...overrides };
}

/** How an OpenAI model reasons by default, as echoed by OpenAI's own Responses API. */
function openaiReasoning(model: string): ReasoningDefaults | null {
  return REASONING_DEFAULTS.find(([names]) => names.test(model))?.[1] ?? null;
}
