import { createOpenAI, type OpenAILanguageModelResponsesOptions } from "@ai-sdk/openai";
import {
  type ChatTransport,
  DirectChatTransport,
  type InferUITools,
  isStepCount,
  ToolLoopAgent,
  tool,
  type UIMessage,
} from "ai";
import { z } from "zod";
import { loggedFetch } from "./wire-log.ts";

export interface Settings {
  readonly model: string;
  readonly hasTool: boolean;
  /** True if the client sends the whole history itself, with encrypted reasoning. */
  readonly isStateless: boolean;
}

/** The facts that the page shows below an answer. */
interface ReplyFacts {
  readonly finishReason: string;
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
}

export type ChatMessage = UIMessage<ReplyFacts, never, InferUITools<typeof tools>>;

const STEPS_MAX = 8;

const STATELESS: OpenAILanguageModelResponsesOptions = {
  store: false,
  reasoningEffort: "high",
  reasoningSummary: "detailed",
};

const calculator = tool({
  description: "A minimal calculator for basic arithmetic. Call it once per step.",
  inputSchema: z.object({
    a: z.number().describe("First operand."),
    b: z.number().describe("Second operand."),
    op: z.enum(["add", "subtract", "multiply", "divide"]).describe("Arithmetic operation to perform."),
  }),
  execute: ({ a, b, op }) => ({ result: calculate(a, b, op) }),
});

const tools = { calculator };

/** Runs the AI SDK's loop of model and tools against the Responses API of the server that sent this page. */
export function assistantOf({ model, hasTool, isStateless }: Settings): ChatTransport<ChatMessage> {
  const openai = createOpenAI({
    baseURL: new URL("v1", location.href).href,
    apiKey: "the-proxy-knows",
    fetch: loggedFetch,
  });
  const agent = new ToolLoopAgent({
    model: openai.responses(model),
    tools,
    activeTools: hasTool ? ["calculator"] : [],
    stopWhen: isStepCount(STEPS_MAX),
    maxRetries: 0,
    providerOptions: { openai: isStateless ? STATELESS : {} },
  });
  return new DirectChatTransport({
    agent,
    sendSources: true,
    onError: (error) => (error instanceof Error ? error.message : JSON.stringify(error)),
    messageMetadata: ({ part }): ReplyFacts | undefined =>
      part.type === "finish"
        ? {
            finishReason: part.finishReason,
            inputTokens: part.totalUsage.inputTokens,
            outputTokens: part.totalUsage.outputTokens,
          }
        : undefined,
  });
}

function calculate(a: number, b: number, op: "add" | "subtract" | "multiply" | "divide"): number {
  switch (op) {
    case "add":
      return a + b;
    case "subtract":
      return a - b;
    case "multiply":
      return a * b;
    case "divide":
      return a / b;
  }
}
