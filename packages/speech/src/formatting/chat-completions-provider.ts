import { isRecord } from "@antiphon/base/json/records.ts";
import { type ChatPiece, type ChatProvider, ProviderError } from "./chat-provider.ts";
import { firstModel } from "./first-model.ts";
import { callProvider, type ProviderAddress } from "./provider-call.ts";

export interface ChatProviderOptions extends ProviderAddress {
  /** Base of its API, such as `https://api.example.com/v1`. */
  readonly baseUrl: string;
  /** Null for the first model in the provider's list. */
  readonly model: string | null;
}

/** A provider with a chat completions API, such as Ollama and most hosted services. */
export function createChatCompletionsProvider(options: ChatProviderOptions): ChatProvider {
  const baseUrl = options.baseUrl.replace(/\/+$/, "");
  let model = options.model;
  return {
    host: options.host,
    get model() {
      return model;
    },
    async *answer(messages, signal) {
      model ??= await firstModel(options, `${baseUrl}/models`, signal);
      const body = { model, messages, stream: true };
      const call = { url: `${baseUrl}/chat/completions`, body };
      yield* readAnswer(callProvider(options, call, signal), { model, host: options.host });
    },
  };
}

async function* readAnswer(
  replies: AsyncIterable<unknown>,
  request: { readonly model: string; readonly host: string },
): AsyncGenerator<ChatPiece> {
  let { model } = request;
  let isWhole = false;
  for await (const reply of replies) {
    if (!isRecord(reply) || reply["error"] !== undefined)
      throw new ProviderError("failed", `${request.host} answered with an error`);
    if (typeof reply["model"] === "string") model = reply["model"];
    const choice: unknown = Array.isArray(reply["choices"]) ? reply["choices"][0] : null;
    if (!isRecord(choice)) continue;
    // A reply that is not streamed contains a message instead of deltas.
    const message = isRecord(choice["delta"]) ? choice["delta"] : choice["message"];
    const text = isRecord(message) ? message["content"] : null;
    if (typeof text === "string" && text !== "") yield { type: "text", text };
    isWhole ||= typeof choice["finish_reason"] === "string";
  }
  if (!isWhole) throw new ProviderError("failed", `${request.host} broke off its answer`);
  yield { type: "end", model };
}
