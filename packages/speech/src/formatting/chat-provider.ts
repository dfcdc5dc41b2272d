/** One message of a chat. */
export interface PromptMessage {
  readonly role: "system" | "user" | "assistant";
  readonly content: string;
}

/** A piece of an answer. The last one of every answer names its model. */
export type ChatPiece =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "end"; readonly model: string };

/** Answers chats: a hosted service or a daemon on this machine. */
export interface ChatProvider {
  /** Host and port, for messages to people. */
  readonly host: string;
  /** Null until the provider's models were requested. */
  readonly model: string | null;
  /** Streams the answer. Throws `ProviderError`, or the signal's reason if that aborts. */
  answer(messages: readonly PromptMessage[], signal: AbortSignal): AsyncIterable<ChatPiece>;
}

/**
 * Why there is no answer. `unauthorized`: the key was refused. `unreachable`: no connection. `timeout`: no answer in
 * time. `failed`: anything else.
 */
export type ProviderErrorReason = "unauthorized" | "unreachable" | "timeout" | "failed";

/**
 * The provider gave no answer. The message is a sentence without a full stop that may be shown to callers: it quotes
 * nothing from the provider.
 */
export class ProviderError extends Error {
  override readonly name = "ProviderError";
  readonly reason: ProviderErrorReason;

  constructor(reason: ProviderErrorReason, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}
