import type { ModelAbilities } from "../../runs/ports.ts";

/**
 * Where a server leaves the model's reasoning in `content`: `leading` if the content may begin with `<think>`,
 * `already_open` if the chat template has opened the tag before the model speaks, `off` if never.
 */
export type ReasoningTags = "leading" | "already_open" | "off";

/** How one family of chat-completions servers differs from another. */
export interface BackendProfile {
  /**
   * The role of system and developer messages after the conversation has begun; many chat templates refuse a late
   * `system`.
   */
  readonly lateSystemRole: "system" | "user";
  readonly outputLimitField: "max_tokens" | "max_completion_tokens";
  /** Whether `prompt_cache_key` and `service_tier` mean something to it. Others may refuse unknown members. */
  readonly knowsVendorFields: boolean;
  /** Whether past reasoning is sent back as `reasoning_content`. */
  readonly acceptsReasoning: boolean;
  readonly reasoningTags: ReasoningTags;
  /** What its models take beside text, unless the operator knows better. */
  readonly abilities: ModelAbilities;
}

const GENERIC: BackendProfile = {
  lateSystemRole: "system",
  outputLimitField: "max_tokens",
  knowsVendorFields: false,
  acceptsReasoning: true,
  reasoningTags: "leading",
  abilities: { images: true, imageUrls: false, files: false, audioFormats: [] },
};

const OPENAI: BackendProfile = {
  lateSystemRole: "system",
  outputLimitField: "max_completion_tokens",
  knowsVendorFields: true,
  acceptsReasoning: false,
  reasoningTags: "off",
  abilities: { images: true, imageUrls: true, files: true, audioFormats: ["mp3", "wav"] },
};

/** The families by name, for operators whose base URL does not tell. */
export const PROFILES = { generic: GENERIC, openai: OPENAI } as const;

/** The profile of the server behind a base URL, with what the operator knows better put over it. */
export function chooseProfile(baseUrl: URL, known: Partial<BackendProfile> = {}): BackendProfile {
  const isOpenAi = baseUrl.hostname === "api.openai.com" || baseUrl.hostname.endsWith(".api.openai.com");
  return { ...(isOpenAi ? OPENAI : GENERIC), ...known };
}
