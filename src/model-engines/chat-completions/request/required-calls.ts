import { LRUCache } from "lru-cache";
import type { ChatRequest } from "../../context/chat-wire.ts";

/**
 * How a model server treats the tool choice `required`. `ignores`: a named choice forces a call; `cannot`: nothing
 * does.
 */
export type RequiredCall = "unknown" | "honours" | "ignores" | "cannot";

const MODELS_MAX = 100;
/** A server may be restarted with another chat template. */
const FRESH_MS = 60 * 60_000;

/** Remembers for each model how its server treats the tool choice `required`. */
export class RequiredCalls {
  readonly #byModel = new LRUCache<string, RequiredCall>({ max: MODELS_MAX, ttl: FRESH_MS });

  of(model: string): RequiredCall {
    return this.#byModel.get(model) ?? "unknown";
  }

  remember(model: string, does: RequiredCall): void {
    this.#byModel.set(model, does);
  }
}

/** The request with a choice of this tool. */
export function withNamedChoice(chat: ChatRequest, name: string): ChatRequest {
  return { ...chat, tool_choice: { type: "function", function: { name } } };
}
