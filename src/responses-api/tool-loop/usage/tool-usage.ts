import type { Response } from "@antiphon/contracts/responses-api/types.ts";
import type { ToolUsage } from "@antiphon/domain/hosted-tool.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";

interface ImageTokens {
  readonly text: number;
  readonly image: number;
}

const NO_TOKENS: ImageTokens = { text: 0, image: 0 };

/** The usage of a response's tools, for `tool_usage`. */
export class ToolUsageSum {
  #searches = 0;
  #input = NO_TOKENS;
  #output = NO_TOKENS;

  /** Returns the event with the sum so far. */
  add({ webSearches = 0, imageInputTokens = NO_TOKENS, imageOutputTokens = NO_TOKENS }: ToolUsage): ModelEvent {
    this.#searches += webSearches;
    this.#input = plus(this.#input, imageInputTokens);
    this.#output = plus(this.#output, imageOutputTokens);
    return { type: "tool_usage", usage: this.#totals() };
  }

  #totals(): Response["tool_usage"] {
    const input = this.#input;
    const output = this.#output;
    const inputTokens = input.text + input.image;
    const outputTokens = output.text + output.image;
    return {
      image_gen: {
        input_tokens: inputTokens,
        input_tokens_details: { image_tokens: input.image, text_tokens: input.text },
        output_tokens: outputTokens,
        output_tokens_details: { image_tokens: output.image, text_tokens: output.text },
        total_tokens: inputTokens + outputTokens,
      },
      web_search: { num_requests: this.#searches },
    };
  }
}

function plus(one: ImageTokens, other: ImageTokens): ImageTokens {
  return { text: one.text + other.text, image: one.image + other.image };
}
