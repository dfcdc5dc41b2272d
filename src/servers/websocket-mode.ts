import type { Upgrade } from "@antiphon/http-kit/websocket/websocket.ts";
import type { Config } from "../config/load-config.ts";
import type { Principal } from "../responses-api/access/authenticate.ts";
import type { CreateContext } from "../responses-api/create/begin-response.ts";
import { upgradeNotOffered } from "../responses-api/errors/server-errors.ts";
import { tooManyWebSockets, tooManyWebSocketsOfKey } from "../responses-api/errors/websocket-errors.ts";
import { ALL_CONNECTIONS_CHARACTERS_MAX, CharacterBudget } from "../responses-api/websocket/connection-memory.ts";
import { errorFrame } from "../responses-api/websocket/error-frame.ts";
import { serveConnection } from "../responses-api/websocket/serve-connection.ts";
import { byteBudgetsOf } from "./byte-budgets.ts";

const PATH = "/v1/responses";

/** WebSocket mode of Interface A, or its refusal if it is switched off. */
export function websocketMode(context: CreateContext, config: Config): Upgrade<Principal> {
  if (!config.websocketMode) return { path: PATH, refuse: upgradeNotOffered };
  const budget = new CharacterBudget(ALL_CONNECTIONS_CHARACTERS_MAX);
  const { incoming } = byteBudgetsOf(config);
  const limits = { lifetimeMs: config.websocketLifetimeMs, budget, incoming };
  return {
    path: PATH,
    secured: true,
    messageBytesMax: config.bodyBytesMax,
    room: {
      socketsMax: config.websocketConnectionsMax,
      refuse: tooManyWebSockets,
      perCaller: {
        socketsMax: config.websocketConnectionsPerKeyMax,
        nameOf: ({ keyId }) => keyId,
        refuse: tooManyWebSocketsOfKey,
      },
    },
    errorMessage: (fault) => errorFrame(fault, null),
    handle: (messages, caller) => serveConnection(context, limits, messages, caller),
  };
}
