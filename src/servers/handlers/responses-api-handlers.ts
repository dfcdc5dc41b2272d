import type { OperationId, ResponsesApiHandlers } from "../../../generated/responses-api/operations.ts";
import type { Caller } from "../../responses-api/access/caller.ts";
import { cancelResponse } from "../../responses-api/operations/cancel-response.ts";
import { compactResponse } from "../../responses-api/operations/compact-response.ts";
import { countInputTokens } from "../../responses-api/operations/count-input-tokens.ts";
import { createConversation } from "../../responses-api/operations/create-conversation.ts";
import { createConversationItems } from "../../responses-api/operations/create-conversation-items.ts";
import { createFile } from "../../responses-api/operations/create-file.ts";
import { createResponse } from "../../responses-api/operations/create-response.ts";
import { deleteConversation } from "../../responses-api/operations/delete-conversation.ts";
import { deleteConversationItem } from "../../responses-api/operations/delete-conversation-item.ts";
import { deleteFile } from "../../responses-api/operations/delete-file.ts";
import { deleteModel } from "../../responses-api/operations/delete-model.ts";
import { deleteResponse } from "../../responses-api/operations/delete-response.ts";
import { downloadFile } from "../../responses-api/operations/download-file.ts";
import { getConversation } from "../../responses-api/operations/get-conversation.ts";
import { getConversationItem } from "../../responses-api/operations/get-conversation-item.ts";
import { getFile } from "../../responses-api/operations/get-file.ts";
import { getHealth } from "../../responses-api/operations/get-health.ts";
import { getMetrics } from "../../responses-api/operations/get-metrics.ts";
import { getModel } from "../../responses-api/operations/get-model.ts";
import { getReadiness } from "../../responses-api/operations/get-readiness.ts";
import { getResponse } from "../../responses-api/operations/get-response.ts";
import { getResponseAudio } from "../../responses-api/operations/get-response-audio.ts";
import { getResponseStatistics } from "../../responses-api/operations/inspection/get-response-statistics.ts";
import { listResponseTimeline } from "../../responses-api/operations/inspection/list-response-timeline.ts";
import { listResponses } from "../../responses-api/operations/inspection/list-responses.ts";
import {
  deleteResponseExchanges,
  listResponseExchanges,
} from "../../responses-api/operations/inspection/response-exchanges.ts";
import { listConversationItems } from "../../responses-api/operations/list-conversation-items.ts";
import { listFiles } from "../../responses-api/operations/list-files.ts";
import { listInputItems } from "../../responses-api/operations/list-input-items.ts";
import { listModels } from "../../responses-api/operations/list-models.ts";
import { streamResponseEvents } from "../../responses-api/operations/stream-response-events.ts";
import { updateConversation } from "../../responses-api/operations/update-conversation.ts";
import type { ResponseServices } from "../../responses-api/services.ts";
import { containerHandlers } from "./container-handlers.ts";
import { vectorStoreHandlers } from "./vector-store-handlers.ts";

/**
 * Operations of the contract that answer 501 `not_implemented`. An operation that is neither listed here nor handled
 * does not compile.
 */
export const NOT_YET = [] as const satisfies readonly OperationId[];

export function notImplementedOperations(): readonly OperationId[] {
  return NOT_YET;
}

export function responsesApiHandlers(
  services: ResponseServices,
): Omit<ResponsesApiHandlers<Caller>, (typeof NOT_YET)[number]> {
  return {
    cancelResponse: cancelResponse(services),
    compactResponse: compactResponse(services),
    countInputTokens: countInputTokens(services),
    createConversation: createConversation(services),
    createConversationItems: createConversationItems(services),
    createFile: createFile(services),
    createResponse: createResponse(services),
    deleteConversation: deleteConversation(services),
    deleteConversationItem: deleteConversationItem(services),
    deleteFile: deleteFile(services),
    deleteModel: deleteModel(services),
    deleteResponse: deleteResponse(services),
    deleteResponseExchanges: deleteResponseExchanges(services),
    downloadFile: downloadFile(services),
    getConversation: getConversation(services),
    getConversationItem: getConversationItem(services),
    getFile: getFile(services),
    getHealth: getHealth(),
    getMetrics: getMetrics(services),
    getModel: getModel(services),
    getReadiness: getReadiness(services),
    getResponseStatistics: getResponseStatistics(services),
    getResponse: getResponse(services),
    getResponseAudio: getResponseAudio(services),
    listConversationItems: listConversationItems(services),
    listFiles: listFiles(services),
    listInputItems: listInputItems(services),
    listModels: listModels(services),
    listResponseExchanges: listResponseExchanges(services),
    listResponses: listResponses(services),
    listResponseTimeline: listResponseTimeline(services),
    streamResponseEvents: streamResponseEvents(services),
    updateConversation: updateConversation(services),
    ...containerHandlers(services),
    ...vectorStoreHandlers(services),
  };
}
