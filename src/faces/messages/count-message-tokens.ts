import type { MessagesHandlers } from "@antiphon/contracts/messages/operations.ts";
import type { Caller } from "../../responses-api/access/caller.ts";
import type { CreateContext } from "../../responses-api/create/begin-response.ts";
import { countInputTokens } from "../../responses-api/operations/count-input-tokens.ts";
import { sealedFor } from "./create-message.ts";
import { promptMembers } from "./create-request.ts";

/** `POST /v1/messages/count_tokens`: the tokens that the model would read for this message. */
export function countMessageTokens(context: CreateContext): MessagesHandlers<Caller>["countMessageTokens"] {
  const count = countInputTokens(context.preparing, context.limiter);
  return async ({ body, query, path, headers }, caller) => {
    const prompt = promptMembers(body, sealedFor(context, caller));
    const reply = await count({ body: prompt, query, path, headers }, caller);
    if (!("input_tokens" in reply.body)) throw new TypeError("a count that fails throws");
    return {
      status: 200,
      headers: { ...reply.headers, "request-id": caller.requestId },
      body: { input_tokens: reply.body.input_tokens },
    };
  };
}
