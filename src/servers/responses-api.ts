import {
  type OperationId,
  type ResponsesApiHandlers,
  responsesApiRoutes,
} from "../../generated/responses-api/operations.ts";
import * as validators from "../../generated/responses-api/validators.js";
import type { Logger } from "../base/logger.ts";
import type { Config } from "../config/load-config.ts";
import { createAuthenticator, type Principal } from "../responses-api/authenticate.ts";
import { checkCreateBody } from "../responses-api/check-body.ts";
import type { ApiContext } from "../responses-api/context.ts";
import { notImplemented, upgradeNotOffered } from "../responses-api/errors/server-errors.ts";
import { responsesApiFaults } from "../responses-api/faults.ts";
import { createResponse } from "../responses-api/operations/create-response.ts";
import { deleteResponse } from "../responses-api/operations/delete-response.ts";
import { getResponse } from "../responses-api/operations/get-response.ts";
import { getHealth, getReadiness } from "../responses-api/operations/health.ts";
import { listInputItems } from "../responses-api/operations/list-input-items.ts";
import { getModel, listModels } from "../responses-api/operations/models.ts";
import { RunRegistry } from "../responses-api/run-registry.ts";
import { createSealer, type Sealer } from "../responses-api/seal.ts";
import { openStore, type Store } from "../store/open-store.ts";
import { createApplication } from "../transport/application.ts";
import type { Assets } from "../transport/assets.ts";
import { listen, type RunningServer } from "../transport/server.ts";
import { type ChosenModel, chooseModel } from "./choose-model.ts";
import { contractOf, refusals } from "./contract.ts";
import { type ApiKeys, openApiKeys, openSealKey } from "./secrets-on-disk.ts";

export interface ResponsesApiServer extends RunningServer {
  readonly model: ChosenModel;
  readonly keys: ApiKeys;
}

interface Parts {
  readonly store: Store;
  readonly model: ChosenModel;
  readonly runs: RunRegistry;
  readonly sealer: Sealer;
}

/** Operations of the contract that answer 501 `not_implemented`. What is neither here nor among the handlers does not compile. */
const NOT_YET = [
  "cancelResponse",
  "compactResponse",
  "countInputTokens",
  "createConversation",
  "createConversationItems",
  "createFile",
  "createVectorStore",
  "createVectorStoreFile",
  "createVectorStoreFileBatch",
  "deleteConversation",
  "deleteConversationItem",
  "deleteFile",
  "deleteVectorStore",
  "deleteVectorStoreFile",
  "downloadFile",
  "getConversation",
  "getConversationItem",
  "getFile",
  "getMetrics",
  "getVectorStore",
  "getVectorStoreFile",
  "getVectorStoreFileBatch",
  "listConversationItems",
  "listFiles",
  "listVectorStoreFiles",
  "listVectorStores",
  "searchVectorStore",
  "streamResponseEvents",
  "updateConversation",
] as const satisfies readonly OperationId[];

export function notImplementedOperations(): readonly OperationId[] {
  return NOT_YET;
}

/** Builds Interface A from its configuration and serves it. */
export async function startResponsesApi(config: Config, log: Logger): Promise<ResponsesApiServer> {
  const store = await openStore({ file: config.databaseFile, commitIntervalMs: config.eventCommitIntervalMs });
  try {
    const keys = await openApiKeys(
      config.apiKeys.map((key) => key.reveal()),
      store.keys,
      config.dataDir,
    );
    const model = await chooseModel(config);
    const parts = {
      store,
      model,
      runs: new RunRegistry(config.runsMax),
      sealer: createSealer(openSealKey(config.dataDir)),
    };
    const server = await listen(application(parts, keys, config, log), {
      host: config.host,
      port: config.port,
      drainMs: config.drainMs,
    });
    const close = async (): Promise<void> => {
      await server.close();
      await parts.runs.idle();
      await store.close();
    };
    return { ...server, model, keys, close };
  } catch (error) {
    await store.close();
    throw error;
  }
}

function application(parts: Parts, keys: ApiKeys, config: Config, log: Logger) {
  const authenticate = createAuthenticator(keys.finder);
  return createApplication<Principal>({
    contract: contractOf({
      routes: responsesApiRoutes,
      validators,
      bodyChecks: { createResponse: checkCreateBody },
      validateReplies: config.validateReplies,
    }),
    handlers: { ...handlers(parts), ...refusals(NOT_YET, notImplemented) },
    admission: { authenticate: ({ authorization }) => authenticate(authorization), anonymous: ANYONE },
    faults: responsesApiFaults,
    log,
    assets: assets(),
    upgrades: [{ path: "/v1/responses", refuse: upgradeNotOffered }],
    options: {
      bodyBytesMax: config.bodyBytesMax,
      keepAliveMs: config.sseKeepAliveMs,
      prettyJson: true,
      standingHeaders: (elapsedMs) => ({ "openai-version": "2020-10-01", "openai-processing-ms": String(elapsedMs) }),
    },
  });
}

function handlers({
  store,
  model,
  runs,
  sealer,
}: Parts): Omit<ResponsesApiHandlers<ApiContext>, (typeof NOT_YET)[number]> {
  return {
    createResponse: createResponse({
      store: store.responses,
      log: store.events,
      engine: model.engine,
      engineKind: model.kind,
      runs,
      sealer,
    }),
    getResponse: getResponse(store.responses),
    deleteResponse: deleteResponse(store.responses, runs),
    listInputItems: listInputItems(store.responses),
    listModels: listModels(model.engine),
    getModel: getModel(model.engine),
    getHealth: getHealth(),
    getReadiness: getReadiness(() => store.isReady()),
  };
}

/** Who asks where no key is needed. */
const ANYONE: Principal = { keyId: "", owner: { organization: "", project: "" } };

function assets(): Assets {
  const generated = new URL("../../generated/", import.meta.url);
  return {
    "/docs": { contentType: "text/html; charset=utf-8", file: new URL("docs/index.html", generated) },
    "/docs/redoc.standalone.js": {
      contentType: "text/javascript; charset=utf-8",
      file: new URL("docs/redoc.standalone.js", generated),
    },
    "/openapi.json": { contentType: "application/json", file: new URL("responses-api/openapi.json", generated) },
  };
}
