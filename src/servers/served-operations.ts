import { audioRoutes } from "@antiphon/contracts/audio/operations.ts";
import * as audioValidators from "@antiphon/contracts/audio/validators.js";
import { chatCompletionsRoutes } from "@antiphon/contracts/chat-completions/operations.ts";
import * as chatValidators from "@antiphon/contracts/chat-completions/validators.js";
import { messagesRoutes } from "@antiphon/contracts/messages/operations.ts";
import * as messagesValidators from "@antiphon/contracts/messages/validators.js";
import { responsesApiRoutes } from "@antiphon/contracts/responses-api/operations.ts";
import * as validators from "@antiphon/contracts/responses-api/validators.js";
import { admittedSecrets, type RealtimeDoor } from "../faces/audio/realtime-door.ts";
import { messagesErrorForm } from "../faces/messages/message-errors.ts";
import { MCP_CONTRACT } from "../mcp-server/mcp-route.ts";
import { responsesApiFaults } from "../responses-api/errors/faults.ts";
import { notImplemented } from "../responses-api/errors/server-errors.ts";
import type { ServedOperations } from "./batch-answering.ts";
import { contractOf, joinContracts, refusals } from "./contract.ts";
import { audioBodyChecks, responsesApiBodyChecks } from "./handlers/body-checks.ts";
import { doorHandlers } from "./handlers/faces-handlers.ts";
import { type HandlerContexts, NOT_YET, responsesApiHandlers } from "./handlers/responses-api-handlers.ts";

/** All operations of Interface A. `allowsOrigin`: whether pages of an origin may call. */
export function servedOperations(
  contexts: HandlerContexts,
  realtime: RealtimeDoor,
  validateReplies: boolean,
  allowsOrigin: (origin: string) => boolean,
): ServedOperations {
  return {
    contract: joinContracts(
      contractOf({ routes: responsesApiRoutes, validators, bodyChecks: responsesApiBodyChecks, validateReplies }),
      contractOf({ routes: chatCompletionsRoutes, validators: chatValidators, validateReplies }),
      contractOf({ routes: messagesRoutes, validators: messagesValidators, validateReplies }),
      contractOf({ routes: audioRoutes, validators: audioValidators, bodyChecks: audioBodyChecks, validateReplies }),
      ...(contexts.mcp === null ? [] : [MCP_CONTRACT]),
    ),
    handlers: {
      ...responsesApiHandlers(contexts),
      ...doorHandlers(contexts, allowsOrigin),
      ...admittedSecrets(realtime),
      ...refusals(NOT_YET, notImplemented),
    },
    faults: { ...responsesApiFaults, errorFormOf: messagesErrorForm },
  };
}
