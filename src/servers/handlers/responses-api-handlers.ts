import type { OperationId, ResponsesApiHandlers } from "../../../generated/responses-api/operations.ts";
import type { ApiContext } from "../../responses-api/access/context.ts";
import type { BeginParts } from "../../responses-api/create/begin-response.ts";
import type { Sealer } from "../../responses-api/keeping/seal.ts";
import { cancelResponse } from "../../responses-api/operations/cancel-response.ts";
import { createResponse } from "../../responses-api/operations/create-response.ts";
import { deleteResponse } from "../../responses-api/operations/delete-response.ts";
import { getModel } from "../../responses-api/operations/get-model.ts";
import { getResponse } from "../../responses-api/operations/get-response.ts";
import { listInputItems } from "../../responses-api/operations/list-input-items.ts";
import { listModels } from "../../responses-api/operations/list-models.ts";
import { streamResponseEvents } from "../../responses-api/operations/stream-response-events.ts";
import type { MediaReader, RateLimiter, SpokenOutput } from "../../responses-api/ports.ts";
import type { RunHost } from "../../runs/index.ts";
import type { Store } from "../../store/open-store.ts";
import type { ChosenModel } from "../choices/choose-model.ts";
import type { Telemetry } from "../choices/choose-telemetry.ts";
import { contextHandlers } from "./context-handlers.ts";
import { conversationHandlers } from "./conversation-handlers.ts";
import { fileHandlers } from "./file-handlers.ts";
import { type Operating, operationsHandlers } from "./operations-handlers.ts";

/** What the operations of Interface A work with. */
export interface InterfaceParts {
  readonly store: Store;
  readonly model: ChosenModel;
  readonly runs: RunHost;
  readonly sealer: Sealer;
  readonly limiter: RateLimiter;
  readonly spokenOutput: SpokenOutput;
  readonly media: MediaReader;
  readonly telemetry: Telemetry;
  readonly operating: Operating;
  /** How long a streamed response waits for its model server before it begins. */
  readonly streamStartWaitMs: number;
}

/**
 * Operations of the contract that answer 501 `not_implemented`. What is neither here nor among the handlers does not
 * compile.
 */
export const NOT_YET = [
  "createVectorStore",
  "createVectorStoreFile",
  "createVectorStoreFileBatch",
  "deleteVectorStore",
  "deleteVectorStoreFile",
  "getVectorStore",
  "getVectorStoreFile",
  "getVectorStoreFileBatch",
  "listVectorStoreFiles",
  "listVectorStores",
  "searchVectorStore",
] as const satisfies readonly OperationId[];

export function notImplementedOperations(): readonly OperationId[] {
  return NOT_YET;
}

/** What it takes to begin a response, over whichever transport. */
export function beginParts({
  store,
  model,
  runs,
  sealer,
  limiter,
  spokenOutput,
  media,
  telemetry,
  streamStartWaitMs,
}: InterfaceParts): BeginParts {
  return {
    store: store.responses,
    conversations: store.conversations,
    quota: store.quota,
    log: store.events,
    engine: model.engine,
    engineKind: model.kind,
    runs,
    sealer,
    limiter,
    spokenOutput,
    media,
    observer: telemetry.runs,
    streamStartWaitMs,
  };
}

export function responsesApiHandlers(
  parts: InterfaceParts,
): Omit<ResponsesApiHandlers<ApiContext>, (typeof NOT_YET)[number]> {
  const { store, model, runs } = parts;
  const watching = { store: store.responses, log: store.events, runs };
  return {
    createResponse: createResponse(beginParts(parts)),
    getResponse: getResponse(watching),
    deleteResponse: deleteResponse(store.responses, runs),
    cancelResponse: cancelResponse({ ...watching, ledger: store.ledger }),
    streamResponseEvents: streamResponseEvents(watching),
    listInputItems: listInputItems(store.responses),
    ...contextHandlers({ ...beginParts(parts), store: store.responses }),
    ...conversationHandlers(store),
    ...fileHandlers(store.files),
    listModels: listModels(model.engine),
    getModel: getModel(model.engine),
    ...operationsHandlers(parts),
  };
}
