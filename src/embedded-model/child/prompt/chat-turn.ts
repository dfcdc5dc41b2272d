/** A part of a prompt: text of a template, in which markers are special tokens, or words, in which none are. */
export interface PromptPart {
  readonly text: string;
  readonly isTemplate: boolean;
}

export interface TurnMessage {
  readonly role: "system" | "user" | "assistant";
  readonly parts: readonly PromptPart[];
}

export interface TurnFunction {
  readonly name: string;
  readonly description: string;
  /** A JSON schema. */
  readonly parameters: unknown;
}

export type TurnChoice =
  | { readonly type: "none" }
  | { readonly type: "auto" }
  /** One of these functions must be called. */
  | { readonly type: "call"; readonly functions: readonly TurnFunction[] };

export type TurnFormat =
  | { readonly type: "text" }
  | { readonly type: "json_object" }
  | { readonly type: "json_schema"; readonly schema: unknown };

export interface Sampling {
  /** Null if the request does not say. */
  readonly temperature: number | null;
  readonly topP: number | null;
  readonly seed: number | null;
  readonly frequencyPenalty: number;
  readonly presencePenalty: number;
}

/** What one request asks. */
export interface ChatTurn {
  readonly messages: readonly TurnMessage[];
  readonly functions: readonly TurnFunction[];
  readonly choice: TurnChoice;
  readonly format: TurnFormat;
  readonly sampling: Sampling;
  /** Tokens of the answer; null for as many as the window holds. */
  readonly tokensMax: number | null;
  readonly stops: readonly string[];
  /** The beginning of the answer, which goes on after it; empty for none. */
  readonly beginning: string;
  /** Who asks, so that callers take turns; null if the request does not say. */
  readonly caller: string | null;
  readonly isStream: boolean;
  readonly includesUsage: boolean;
}

export function words(text: string): PromptPart {
  return { text, isTemplate: false };
}

export function templateText(text: string): PromptPart {
  return { text, isTemplate: true };
}
