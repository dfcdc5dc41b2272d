import type { ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import { ModelError } from "@antiphon/domain/models/model-error.ts";
import { type ChatCompletionsOptions, createChatCompletionsEngine } from "../chat-completions/engine.ts";
import { EMBEDDED_PROFILE } from "../chat-completions/profile.ts";
import { EmbeddedModelAbsent, type EmbeddedServer } from "./ports.ts";

export type EmbeddedEngineOptions = Pick<
  ChatCompletionsOptions,
  "timeouts" | "connectionsMax" | "contextWindow" | "onWarning"
>;

/** The host is never looked up: calls go to the socket. */
const BASE_URL = "http://embedded-model/v1";
const NAME = "the embedded model";
/** How long a request waits for a model that is loading, at most a start of the child, in seconds. */
const LOADING_RETRY_SECONDS = 5;
const BROKEN_CONNECTION = 502;

/**
 * Answers turns by a language model in a child process, through the adapter of chat completions. Requests wait while
 * the model is loaded. A turn that the child had not begun when it ended is asked once more of the next child.
 */
export function createEmbeddedEngine(server: EmbeddedServer, options: EmbeddedEngineOptions): ModelEngine {
  const engine = createChatCompletionsEngine({
    ...options,
    baseUrl: BASE_URL,
    apiKey: null,
    name: NAME,
    socketPath: server.socketPath,
    profile: EMBEDDED_PROFILE,
  });
  const { connectMs } = options.timeouts;
  const ready = (signal: AbortSignal, starts = 0): Promise<void> =>
    untilStarted(server, starts, { waitMs: connectMs, signal });
  const isReady = (signal: AbortSignal): Promise<boolean> =>
    ready(signal).then(
      () => true,
      () => false,
    );
  return {
    ...engine,
    sample: async (request, signal, beginning) => {
      await ready(signal);
      const { starts } = server;
      try {
        return await engine.sample(request, signal, beginning);
      } catch (error) {
        if (!(error instanceof ModelError && error.status === BROKEN_CONNECTION) || signal.aborted) throw error;
        await ready(signal, starts + 1); // The connection breaks before the end of the child is seen.
        return await engine.sample(request, signal, beginning);
      }
    },
    listModels: async (signal) => {
      await ready(signal);
      return await engine.listModels(signal);
    },
    embed: async (request, signal) => {
      await ready(signal);
      return await engine.embed(request, signal);
    },
    countTokens: async (request, signal) => {
      await ready(signal);
      return await engine.countTokens(request, signal);
    },
    contextWindow: async (model, signal) =>
      (await isReady(signal)) ? await engine.contextWindow(model, signal) : null,
  };
}

async function untilStarted(
  server: EmbeddedServer,
  starts: number,
  { waitMs, signal }: { readonly waitMs: number; readonly signal: AbortSignal },
): Promise<void> {
  const deadline = AbortSignal.timeout(waitMs);
  const either = AbortSignal.any([signal, deadline]);
  try {
    await (starts === 0 ? server.untilReady(either) : server.untilStarted(starts, either));
  } catch (error) {
    if (signal.aborted) throw error;
    if (deadline.aborted) throw notLoaded("The embedded model is still loading", LOADING_RETRY_SECONDS, error);
    if (error instanceof EmbeddedModelAbsent) throw notLoaded(error.message, error.retryAfterSeconds, error);
    throw error;
  }
}

function notLoaded(sentence: string, retryAfterSeconds: number | null, cause: unknown): ModelError {
  return new ModelError(`${sentence}.`, {
    status: 503,
    type: "server_error",
    code: "server_is_overloaded",
    retryAfterSeconds,
    retry: "often",
    cause,
  });
}
