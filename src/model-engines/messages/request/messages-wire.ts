/** The request body of `POST /v1/messages`, with the members that this adapter writes. */
export interface MessagesRequest {
  readonly model: string;
  readonly max_tokens: number;
  readonly messages: readonly MessagesTurn[];
  readonly stream: true;
  readonly system?: readonly TextBlock[];
  readonly tools?: readonly MessagesTool[];
  readonly tool_choice?: MessagesToolChoice;
  readonly thinking?: Thinking;
  readonly output_config?: OutputConfig;
  readonly temperature?: number;
  readonly top_p?: number;
  readonly top_k?: number;
  readonly stop_sequences?: readonly string[];
  readonly metadata?: { readonly user_id: string };
}

export interface MessagesTurn {
  readonly role: "user" | "assistant";
  readonly content: readonly MessagesBlock[];
}

/** Marks the end of a prefix that the model server is to cache. */
export interface CacheMark {
  readonly type: "ephemeral";
}

interface Cacheable {
  readonly cache_control?: CacheMark;
}

export interface TextBlock extends Cacheable {
  readonly type: "text";
  readonly text: string;
}

export interface ImageBlock extends Cacheable {
  readonly type: "image";
  readonly source: MediaSource;
}

export interface DocumentBlock extends Cacheable {
  readonly type: "document";
  readonly source: MediaSource;
  readonly title?: string;
}

type MediaSource =
  | { readonly type: "base64"; readonly media_type: string; readonly data: string }
  | { readonly type: "url"; readonly url: string };

/** What users and outputs of tools show. */
export type ShownBlock = TextBlock | ImageBlock | DocumentBlock;

export interface ToolUseBlock extends Cacheable {
  readonly type: "tool_use";
  readonly id: string;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

export interface ToolResultBlock extends Cacheable {
  readonly type: "tool_result";
  readonly tool_use_id: string;
  readonly content: string | readonly ShownBlock[];
}

/** Reasoning. It comes back to the letter, or the model server refuses it. */
export type ThinkingBlock =
  | { readonly type: "thinking"; readonly thinking: string; readonly signature: string }
  | { readonly type: "redacted_thinking"; readonly data: string };

export type MessagesBlock = ShownBlock | ToolUseBlock | ToolResultBlock | ThinkingBlock;

export interface MessagesTool extends Cacheable {
  readonly name: string;
  readonly description?: string;
  readonly input_schema: Readonly<Record<string, unknown>>;
  readonly strict?: true;
}

export type MessagesToolChoice =
  | { readonly type: "auto" | "any"; readonly disable_parallel_tool_use?: true }
  | { readonly type: "tool"; readonly name: string; readonly disable_parallel_tool_use?: true }
  | { readonly type: "none" };

export type Thinking =
  | { readonly type: "adaptive"; readonly display: "summarized" }
  | { readonly type: "enabled"; readonly budget_tokens: number }
  | { readonly type: "disabled" };

export interface OutputConfig {
  readonly effort?: string;
  readonly format?: { readonly type: "json_schema"; readonly schema: unknown };
}
