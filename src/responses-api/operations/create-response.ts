import type { ResponsesApiHandlers } from "../../../generated/responses-api/operations.ts";
import type { Response } from "../../../generated/responses-api/types.ts";
import { ResponseFold } from "../../runs/index.ts";
import { type BeginParts, type BegunResponse, beginResponse } from "../begin-response.ts";
import type { ApiContext } from "../context.ts";
import { soundUnheard } from "../errors/parameter-errors.ts";
import { responseNotFound } from "../errors/state-errors.ts";
import { plainBody } from "../plain-body.ts";
import { showEvents } from "../show-events.ts";
import { isOver } from "../watch-response.ts";

/** `POST /v1/responses`: asks the model; shows its events as they come, or folds them into one body. In the background the body is that of the queued response. */
export function createResponse(parts: BeginParts): ResponsesApiHandlers<ApiContext>["createResponse"] {
  return async ({ body }, context) => {
    if (body.output_audio != null && body.stream !== true && body.store === false) throw soundUnheard();
    const run = await beginResponse(parts, body, context);
    const { headers } = run;
    if (body.stream === true) return { status: 200, headers, events: showEvents(run.events, body) };
    const response = body.background === true ? run.response : await folded(run);
    return { status: 200, headers, body: plainBody(response) };
  };
}

async function folded({ events, responseId }: BegunResponse): Promise<Response> {
  const fold = new ResponseFold();
  for await (const batch of events) {
    for (const { event } of batch) fold.apply(event);
  }
  const { response } = fold;
  if (!isOver(response)) throw responseNotFound(responseId); // It was deleted meanwhile.
  return response;
}
