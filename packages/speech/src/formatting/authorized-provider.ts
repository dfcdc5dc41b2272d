import { type ChatPiece, type ChatProvider, type PromptMessage, ProviderError } from "./chat-provider.ts";

/** A provider that remembers whether it refused the key. */
export interface AuthorizedProvider extends ChatProvider {
  /** Why the latest call was refused, as a sentence without a full stop; null if it was not, or there was none. */
  readonly keyRefusal: string | null;
}

/**
 * Remembers whether the latest call was refused with 401 or 403. Other failures say nothing about the key and change
 * nothing.
 */
export function rememberRefusals(provider: ChatProvider): AuthorizedProvider {
  let keyRefusal: string | null = null;
  return {
    host: provider.host,
    get model() {
      return provider.model;
    },
    get keyRefusal() {
      return keyRefusal;
    },
    async *answer(messages: readonly PromptMessage[], signal: AbortSignal): AsyncGenerator<ChatPiece> {
      try {
        for await (const piece of provider.answer(messages, signal)) {
          keyRefusal = null;
          yield piece;
        }
      } catch (error) {
        if (error instanceof ProviderError && error.reason === "unauthorized") keyRefusal = error.message;
        throw error;
      }
    },
  };
}
