import { isRecord } from "@antiphon/base/json/records.ts";
import { type ChatPiece, type ChatProvider, type PromptMessage, ProviderError } from "./chat-provider.ts";
import { firstModel } from "./first-model.ts";
import { callProvider, type ProviderAddress } from "./provider-call.ts";

export interface ResponsesOptions extends ProviderAddress {
  /** URL of the operation itself, such as `http://127.0.0.1:8080/v1/responses`. */
  readonly url: string;
  /** Null for the first model that the provider lists. */
  readonly model: string | null;
}

const DELTA = "response.output_text.delta";
const COMPLETED = "response.completed";
const FAILURES: ReadonlySet<unknown> = new Set([
  "error",
  "response.failed",
  "response.incomplete",
  "response.cancelled",
]);

/** A provider with a Responses API, such as this program. Requests that the response is not stored. */
export function createResponsesProvider(options: ResponsesOptions): ChatProvider {
  const { host } = options;
  const modelsUrl = options.url.replace(/\/responses$/, "/models");
  let { model } = options;
  return {
    host,
    get model() {
      return model;
    },
    async *answer(messages, signal) {
      model ??= await firstModel(options, modelsUrl, signal);
      const body = { model, input: messages.map(inputItem), store: false, stream: true };
      yield* readAnswer(callProvider(options, { url: options.url, body }, signal), { model, host });
    },
  };
}

function inputItem({ role, content }: PromptMessage): object {
  return { type: "message", role, content };
}

async function* readAnswer(
  replies: AsyncIterable<unknown>,
  { host, model }: { readonly model: string; readonly host: string },
): AsyncGenerator<ChatPiece> {
  for await (const event of replies) {
    if (!isRecord(event)) continue;
    if (FAILURES.has(event["type"])) throw new ProviderError("failed", `${host} could not finish its answer`);
    if (event["type"] === DELTA && typeof event["delta"] === "string" && event["delta"] !== "")
      yield { type: "text", text: event["delta"] };
    if (event["type"] === COMPLETED) return yield { type: "end", model: responseModel(event["response"]) ?? model };
  }
  throw new ProviderError("failed", `${host} broke off its answer`);
}

function responseModel(response: unknown): string | null {
  return isRecord(response) && typeof response["model"] === "string" ? response["model"] : null;
}
