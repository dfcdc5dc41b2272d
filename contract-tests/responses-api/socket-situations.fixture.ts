import { COMPLETED, type ExampleEvent, PREFIX, TEXT_BLOCK } from "./example-events.fixture.ts";
import { exampleResponse, messageSaying } from "./example-response.fixture.ts";
import { SOUND_EVENTS } from "./extension-events.fixture.ts";
import { MCP_LIST_FAILURE } from "./hosted-tool-events.fixture.ts";
import { PENDING_SITUATIONS, type PendingSituation } from "./pending-situations.fixture.ts";
import { BACKGROUND_EVENTS } from "./run-events.fixture.ts";
import { type AnyExample, SITUATIONS, STAGED_SITUATIONS } from "./stream-situations.fixture.ts";

export const LANE = "weather";

/** Situations that exist over HTTP only. */
const OVER_HTTP_ONLY: readonly string[] = [
  "a response made in the background",
  "a response of the background whose events are read once more",
  "a response of the background that is cancelled",
  "a spoken answer that is read under the names of the reference",
  "an MCP server that lists no tools",
];

/** Events that a frame alone can cause. */
export const SOCKET_SITUATIONS: Readonly<Record<string, readonly AnyExample[]>> = {
  ...without(OVER_HTTP_ONLY, SITUATIONS),
  "a response in a lane": [...PREFIX, ...TEXT_BLOCK, COMPLETED].map(inLane),
};

/** Events that only our server sends over a socket. */
export const STAGED_SOCKET_SITUATIONS: Readonly<Record<string, readonly AnyExample[]>> = {
  ...without(OVER_HTTP_ONLY, STAGED_SITUATIONS),
  "a response that is cancelled while a socket tells of it": [
    {
      type: "response.failed",
      response: exampleResponse({
        status: "cancelled",
        completed_at: null,
        output: [{ ...messageSaying("The sea"), status: "incomplete" }],
        service_tier: "auto",
        usage: null,
      }),
    },
  ],
};

/** Events that no server, or not yet our server, sends over a socket. */
export const PENDING_SOCKET_SITUATIONS: Readonly<Record<string, PendingSituation>> = {
  ...PENDING_SITUATIONS,
  "a response of the background that a socket tells of": {
    reason: "sockets refuse the background: what nobody waits for is asked for over HTTP",
    events: BACKGROUND_EVENTS.filter(({ type }) => type === "response.queued"),
  },
  "an MCP server that lists no tools": {
    reason: "the request is refused before it becomes a response; only in the background it has become one",
    events: MCP_LIST_FAILURE,
  },
  "a spoken answer that a socket tells of under the names of the reference": {
    reason: "sound is an extension, which is told in the extension dialect",
    events: SOUND_EVENTS,
  },
};

export const TIME_OVER = {
  state: "a socket whose time is over",
  error: {
    type: "error",
    status: 400,
    error: {
      type: "invalid_request_error",
      code: "websocket_connection_limit_reached",
      message: `Responses websocket connection limit reached (60 minutes). Create a new websocket connection to continue.`,
      param: null,
    },
  },
  message:
    "^Responses websocket connection limit reached [(].+[)][.] Create a new websocket connection to continue[.]$",
} as const;

function inLane(event: ExampleEvent): ExampleEvent {
  return { ...event, stream_id: LANE };
}

function without(
  states: readonly string[],
  situations: Readonly<Record<string, readonly AnyExample[]>>,
): Record<string, readonly AnyExample[]> {
  return Object.fromEntries(Object.entries(situations).filter(([state]) => !states.includes(state)));
}
