import type { ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import type { EmbeddingInput } from "@antiphon/domain/models/retrieval.ts";
import type { ServerAddress } from "../model-server/ask-server.ts";
import type { ApiPath } from "../model-server/connections/api-path.ts";
import type { ServerTimeouts } from "../model-server/engine-options.ts";
import { EmbeddingsAsker } from "./embeddings-asker.ts";
import { RanksAsker } from "./ranks-asker.ts";

/** Inputs of one call, so that its answer stays small: 128 vectors of 4,096 numbers are some 10 MB. */
const INPUTS_MAX = 128;
/** Characters, or tokens, of one call. Model servers limit its tokens, and a token has a character or more. */
const INPUT_LENGTH_MAX = 200_000;

export interface RetrievalOptions {
  readonly server: ServerAddress;
  readonly path: Pick<ApiPath, "find">;
  readonly timeouts: ServerTimeouts;
  readonly inputsMax: number | undefined;
}

/** Embeddings and ranks of a server with `/embeddings` and `/rerank`. Calls that belong together come one by one. */
export function createRetrieval({
  server,
  path,
  timeouts,
  inputsMax = INPUTS_MAX,
}: RetrievalOptions): Pick<ModelEngine, "embed" | "rerank"> {
  const embeddings = new EmbeddingsAsker(server, timeouts);
  const ranks = new RanksAsker(server, timeouts);
  return {
    embed: async (request, signal) => {
      await path.find();
      return await embeddings.ask(request, inBatches(request.inputs, inputsMax), signal);
    },
    rerank: async (request, signal) => {
      await path.find();
      return await ranks.ask(request, inBatches(request.documents, inputsMax), signal);
    },
  };
}

/** Inputs in their order, in as few batches as the limits allow. An input that is too long for them is alone. */
export function inBatches<Input extends EmbeddingInput>(
  inputs: readonly Input[],
  inputsMax: number,
): readonly (readonly Input[])[] {
  const batches: Input[][] = [];
  let length = 0;
  for (const input of inputs) {
    const last = batches.at(-1);
    length += input.length;
    if (last !== undefined && last.length < inputsMax && length <= INPUT_LENGTH_MAX) last.push(input);
    else {
      batches.push([input]);
      length = input.length;
    }
  }
  return batches;
}
