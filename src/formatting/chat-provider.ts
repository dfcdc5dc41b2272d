/** One turn of a chat. */
export interface ChatMessage {
  readonly role: "system" | "user" | "assistant";
  readonly content: string;
}

/** A piece of an answer. The last one of every answer names its model. */
export type ChatPiece =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "end"; readonly model: string };

/** Whoever answers chats: a hosted service or a daemon of this machine. */
export interface ChatProvider {
  /** Host and port; for people to read. */
  readonly host: string;
  /** Null where the provider itself has to be asked. */
  readonly model: string | null;
  /** The answer while it is written. Throws `ProviderError`, and the signal's reason when that aborts. */
  answer(messages: readonly ChatMessage[], signal: AbortSignal): AsyncIterable<ChatPiece>;
}

/**
 * `unauthorized`: the key is wrong. `unreachable`: nothing answers there. `timeout`: it takes too long. `failed`:
 * anything else.
 */
export type ProviderErrorReason = "unauthorized" | "unreachable" | "timeout" | "failed";

/**
 * No answer. The message is a sentence without a full stop, which may be shown: it holds nothing that the provider
 * said.
 */
export class ProviderError extends Error {
  override readonly name = "ProviderError";
  readonly reason: ProviderErrorReason;

  constructor(reason: ProviderErrorReason, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}
