import type { ResponsesApiHandlers } from "../../../generated/responses-api/operations.ts";
import type { Response } from "../../../generated/responses-api/types.ts";
import { type LiveRun, ResponseFold } from "../../runs/index.ts";
import { type BeginParts, beginResponse } from "../begin-response.ts";
import type { ApiContext } from "../context.ts";
import { soundUnheard } from "../errors/parameter-errors.ts";
import { plainBody } from "../plain-body.ts";
import { showEvents } from "../show-events.ts";

/** `POST /v1/responses`: asks the model; shows its events as they come, or folds them into one body. In the background the body is that of the queued response. */
export function createResponse(parts: BeginParts): ResponsesApiHandlers<ApiContext>["createResponse"] {
  return async ({ body }, context) => {
    if (body.output_audio != null && body.stream !== true && body.store === false) throw soundUnheard();
    const run = await beginResponse(parts, body, context);
    const { headers } = run;
    if (body.stream === true) return { status: 200, headers, events: showEvents(run.events, body) };
    if (body.background !== true) return { status: 200, headers, body: plainBody(await folded(run)) };
    await run.events.return(undefined);
    return { status: 200, headers, body: plainBody(run.response) };
  };
}

async function folded(run: LiveRun): Promise<Response> {
  const fold = new ResponseFold();
  for await (const batch of run.events) {
    for (const { event } of batch) fold.apply(event);
  }
  return fold.response;
}
