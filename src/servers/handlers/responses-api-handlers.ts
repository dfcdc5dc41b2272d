import type { OperationId, ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { CreateKeyStore } from "@antiphon/domain/create-keys.ts";
import type { FileStore } from "@antiphon/domain/files.ts";
import type { ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import type { SteerStore } from "@antiphon/domain/steering/steers.ts";
import type { UsageStore } from "@antiphon/domain/usage.ts";
import type { AudioParts } from "@antiphon/speech/audio-api/ports.ts";
import type { McpServing } from "../../mcp-server/mcp-serving.ts";
import type { Caller } from "../../responses-api/access/caller.ts";
import type { CreateContext } from "../../responses-api/create/begin-response.ts";
import { type AnswerOnce, answersOnce } from "../../responses-api/create/once/answer-once.ts";
import type { HistoryContext } from "../../responses-api/input/load-history.ts";
import { cancelBatch } from "../../responses-api/operations/batches/cancel-batch.ts";
import { type BatchContext, createBatch } from "../../responses-api/operations/batches/create-batch.ts";
import { getBatch } from "../../responses-api/operations/batches/get-batch.ts";
import { listBatches } from "../../responses-api/operations/batches/list-batches.ts";
import { cancelResponse } from "../../responses-api/operations/cancel-response.ts";
import { compactResponse } from "../../responses-api/operations/compact-response.ts";
import type { ContainerContext } from "../../responses-api/operations/containers/create-container.ts";
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
import { createEmbedding } from "../../responses-api/operations/embeddings/create-embedding.ts";
import { createRerank } from "../../responses-api/operations/embeddings/create-rerank.ts";
import { getConversation } from "../../responses-api/operations/get-conversation.ts";
import { getConversationItem } from "../../responses-api/operations/get-conversation-item.ts";
import { getFile } from "../../responses-api/operations/get-file.ts";
import { getModel } from "../../responses-api/operations/get-model.ts";
import { getResponse } from "../../responses-api/operations/get-response.ts";
import { getResponseAudio } from "../../responses-api/operations/get-response-audio.ts";
import {
  getResponseStatistics,
  type StatisticsContext,
} from "../../responses-api/operations/inspection/get-response-statistics.ts";
import { listResponseTimeline } from "../../responses-api/operations/inspection/list-response-timeline.ts";
import { listResponses } from "../../responses-api/operations/inspection/list-responses.ts";
import {
  type EffectsContext,
  listResponseEffects,
  settleResponseEffect,
} from "../../responses-api/operations/inspection/response-effects.ts";
import {
  deleteResponseExchanges,
  type ExchangesContext,
  listResponseExchanges,
} from "../../responses-api/operations/inspection/response-exchanges.ts";
import { listConversationItems } from "../../responses-api/operations/list-conversation-items.ts";
import { listFiles } from "../../responses-api/operations/list-files.ts";
import { listInputItems } from "../../responses-api/operations/list-input-items.ts";
import { listModels } from "../../responses-api/operations/list-models.ts";
import { listResponseSteers } from "../../responses-api/operations/list-response-steers.ts";
import { pauseResponse } from "../../responses-api/operations/pause-response.ts";
import { resumeResponse } from "../../responses-api/operations/resume-response.ts";
import type { SkillContext } from "../../responses-api/operations/skills/create-skill.ts";
import { steerResponse } from "../../responses-api/operations/steer-response.ts";
import { streamResponseEvents } from "../../responses-api/operations/stream-response-events.ts";
import { updateConversation } from "../../responses-api/operations/update-conversation.ts";
import type { WebhookContext } from "../../responses-api/operations/webhooks/create-webhook-endpoint.ts";
import {
  type KeysContext,
  keyHandlers,
  operatorKeyHandlers,
  projectKeyHandlers,
} from "../../responses-api/organization/key-handlers.ts";
import { usageHandlers } from "../../responses-api/organization/usage-handlers.ts";
import type { WatchContext } from "../../responses-api/show/watch-response.ts";
import type { RunLedger } from "../../runs/ports/run-ledger.ts";
import { containerHandlers } from "./container-handlers.ts";
import type { FacesContext } from "./faces-handlers.ts";
import { type MonitoringContext, monitoringHandlers } from "./monitoring-handlers.ts";
import { skillHandlers } from "./skill-handlers.ts";
import { type VectorStoreContext, vectorStoreHandlers } from "./vector-store-handlers.ts";
import { webhookHandlers } from "./webhook-handlers.ts";

/**
 * Operations of the contract that answer 501 `not_implemented`. An operation that is neither listed here nor handled
 * does not compile.
 */
export const NOT_YET = [] as const satisfies readonly OperationId[];

export function notImplementedOperations(): readonly OperationId[] {
  return NOT_YET;
}

/** What operators see and change. */
export interface OrganizationContext {
  readonly usage: UsageStore;
  readonly keys: KeysContext;
}

/** What the operations work with, by subject. */
export interface HandlerContexts {
  readonly creating: CreateContext;
  readonly createKeys: CreateKeyStore;
  readonly ledger: RunLedger;
  readonly steers: SteerStore;
  readonly files: FileStore;
  readonly vectorStores: VectorStoreContext;
  readonly containers: ContainerContext;
  readonly skills: SkillContext;
  readonly batches: BatchContext;
  readonly webhooks: WebhookContext;
  readonly statistics: StatisticsContext;
  readonly exchanges: ExchangesContext;
  readonly effects: EffectsContext;
  readonly monitoring: MonitoringContext;
  readonly faces: FacesContext;
  /** Null if this server serves no MCP clients. */
  readonly mcp: McpServing | null;
  readonly organization: OrganizationContext;
  readonly audio: AudioParts;
}

export function responsesApiHandlers({
  creating,
  createKeys,
  ledger,
  steers,
  files,
  vectorStores,
  containers,
  skills,
  batches,
  webhooks,
  statistics,
  exchanges,
  effects,
  monitoring,
  organization,
}: Omit<HandlerContexts, "audio" | "faces" | "mcp">): Omit<ResponsesApiHandlers<Caller>, (typeof NOT_YET)[number]> {
  const handlers = {
    ...creatingHandlers(creating, createKeys),
    ...storedResponseHandlers(creating.watching, ledger),
    ...steerHandlers(creating, steers),
    ...conversationHandlers(creating.preparing.history),
    ...inspectionHandlers(statistics, exchanges, effects, creating.watching),
    ...fileHandlers(files),
    ...modelHandlers(creating.preparing.model.engine),
    ...containerHandlers(containers),
    ...skillHandlers(skills),
    ...batchHandlers(batches),
    ...webhookHandlers(webhooks),
    ...vectorStoreHandlers(vectorStores),
    ...monitoringHandlers(monitoring),
    ...usageHandlers(organization.usage),
    ...operatorKeyHandlers(organization.keys),
    ...projectKeyHandlers(organization.keys),
    ...keyHandlers(organization.keys),
  };
  return { ...handlers, ...onceHandlers(handlers, answersOnce(createKeys)) };
}

/** Operations that make something, and answer in JSON without a secret. */
type OnceOperation =
  | "compactResponse"
  | "createBatch"
  | "createConversation"
  | "createConversationItems"
  | "createFile"
  | "createVectorStore"
  | "createVectorStoreFile"
  | "createVectorStoreFileBatch"
  | "createContainer"
  | "createContainerFile"
  | "createSkill"
  | "createSkillVersion"
  | "steerResponse";

/** The same operations, which answer a repeated request with a key once. */
function onceHandlers(handlers: Pick<ResponsesApiHandlers<Caller>, OnceOperation>, once: AnswerOnce) {
  return {
    compactResponse: once("compactResponse", handlers.compactResponse),
    createBatch: once("createBatch", handlers.createBatch),
    createConversation: once("createConversation", handlers.createConversation),
    createConversationItems: once("createConversationItems", handlers.createConversationItems),
    createFile: once("createFile", handlers.createFile),
    createVectorStore: once("createVectorStore", handlers.createVectorStore),
    createVectorStoreFile: once("createVectorStoreFile", handlers.createVectorStoreFile),
    createVectorStoreFileBatch: once("createVectorStoreFileBatch", handlers.createVectorStoreFileBatch),
    createContainer: once("createContainer", handlers.createContainer),
    createContainerFile: once("createContainerFile", handlers.createContainerFile),
    createSkill: once("createSkill", handlers.createSkill),
    createSkillVersion: once("createSkillVersion", handlers.createSkillVersion),
    steerResponse: once("steerResponse", handlers.steerResponse),
  };
}

function creatingHandlers(context: CreateContext, createKeys: CreateKeyStore) {
  const { preparing, limiter, budgets, ordering } = context;
  const accounts = { limiter, budgets, meter: ordering.meter };
  return {
    createResponse: createResponse(context, createKeys),
    compactResponse: compactResponse(preparing, accounts),
    countInputTokens: countInputTokens(preparing, limiter),
    createEmbedding: createEmbedding(preparing.model, accounts),
    createRerank: createRerank(preparing.model, accounts),
  };
}

function storedResponseHandlers(watching: WatchContext, ledger: RunLedger) {
  return {
    cancelResponse: cancelResponse(watching, ledger),
    deleteResponse: deleteResponse(watching),
    getResponse: getResponse(watching),
    getResponseAudio: getResponseAudio(watching),
    listInputItems: listInputItems(watching.store),
    pauseResponse: pauseResponse(watching, ledger),
    resumeResponse: resumeResponse(watching, ledger),
    streamResponseEvents: streamResponseEvents(watching),
  };
}

function steerHandlers({ watching, ordering }: CreateContext, steers: SteerStore) {
  const context = { watching, steers, sealer: ordering.sealer };
  return { listResponseSteers: listResponseSteers(context), steerResponse: steerResponse(context) };
}

function conversationHandlers(stores: HistoryContext) {
  const { conversations } = stores;
  return {
    createConversation: createConversation(stores),
    createConversationItems: createConversationItems(stores),
    deleteConversation: deleteConversation(conversations),
    deleteConversationItem: deleteConversationItem(conversations),
    getConversation: getConversation(conversations),
    getConversationItem: getConversationItem(conversations),
    listConversationItems: listConversationItems(conversations),
    updateConversation: updateConversation(conversations),
  };
}

function inspectionHandlers(
  statistics: StatisticsContext,
  exchanges: ExchangesContext,
  effects: EffectsContext,
  watching: WatchContext,
) {
  const { archive, prices } = statistics;
  return {
    deleteResponseExchanges: deleteResponseExchanges(exchanges),
    getResponseStatistics: getResponseStatistics(statistics),
    listResponseEffects: listResponseEffects(effects),
    listResponseExchanges: listResponseExchanges(exchanges),
    listResponses: listResponses(archive, prices),
    listResponseTimeline: listResponseTimeline(archive, watching),
    settleResponseEffect: settleResponseEffect(effects),
  };
}

function batchHandlers(context: BatchContext) {
  const { batches } = context;
  return {
    cancelBatch: cancelBatch(batches),
    createBatch: createBatch(context),
    getBatch: getBatch(batches),
    listBatches: listBatches(batches),
  };
}

function fileHandlers(files: FileStore) {
  return {
    createFile: createFile(files),
    deleteFile: deleteFile(files),
    downloadFile: downloadFile(files),
    getFile: getFile(files),
    listFiles: listFiles(files),
  };
}

function modelHandlers(engine: ModelEngine) {
  return { deleteModel: deleteModel(engine), getModel: getModel(engine), listModels: listModels(engine) };
}
