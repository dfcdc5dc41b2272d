import type { ResponsesApiHandlers } from "../../../generated/responses-api/operations.ts";
import type { CreateResponseRequest, Response } from "../../../generated/responses-api/types.ts";
import { type LiveRun, ResponseFold, startRun } from "../../runs/index.ts";
import { type EventLog, type ModelEngine, ModelError } from "../../runs/ports.ts";
import type { ApiContext } from "../context.ts";
import { modelRefused } from "../errors/model-errors.ts";
import { plainBody } from "../plain-body.ts";
import { type PreparedRun, prepareRun, type RunSources } from "../prepare-run.ts";
import type { RunRegistry } from "../run-registry.ts";
import { showEvents } from "../show-events.ts";

export interface CreateResponseParts extends RunSources {
  readonly engine: ModelEngine;
  readonly log: EventLog;
  readonly runs: RunRegistry;
}

/** `POST /v1/responses`: asks the model; shows its events as they come, or folds them into one body. */
export function createResponse(parts: CreateResponseParts): ResponsesApiHandlers<ApiContext>["createResponse"] {
  return async ({ body }, context) => {
    const run = await beginRun(parts, body, context);
    if (body.stream === true) return { status: 200, events: showEvents(run.events, body) };
    return { status: 200, body: plainBody(await folded(run)) };
  };
}

async function beginRun(
  parts: CreateResponseParts,
  request: CreateResponseRequest,
  context: ApiContext,
): Promise<LiveRun> {
  const createdAt = Math.floor(Date.now() / 1000);
  const prepared = await prepareRun(parts, context.principal.owner, request, createdAt);
  const slot = parts.runs.reserve(prepared.plan.response.id, context.signal);
  try {
    const turn = await askModel(parts.engine, prepared, slot.signal);
    const run = await startRun({
      plan: prepared.plan,
      opened: prepared.opened,
      log: prepared.plan.response.store ? parts.log : null,
      turn,
      signal: slot.signal,
      now: () => Math.floor(Date.now() / 1000),
      onFault: (fault) => context.log.error({ fault, responseId: prepared.plan.response.id }, "a run met a fault"),
    });
    slot.follow(run.ended);
    return run;
  } catch (error) {
    slot.release();
    throw error;
  }
}

async function askModel(engine: ModelEngine, { modelRequest }: PreparedRun, signal: AbortSignal) {
  try {
    return await engine.sample(modelRequest, signal);
  } catch (error) {
    throw error instanceof ModelError ? modelRefused(error) : error;
  }
}

async function folded(run: LiveRun): Promise<Response> {
  const fold = new ResponseFold();
  for await (const batch of run.events) {
    for (const { event } of batch) fold.apply(event);
  }
  return fold.response;
}
