import type {
  ResponseCreateFrame,
  ResponseSteerAcceptedEvent,
  ResponseSteerFailedEvent,
  ResponseSteerPendingEvent,
  WebSocketErrorFrame,
} from "@antiphon/contracts/responses-api/types.ts";
import type { ResponsesClientEvent } from "openai/resources/responses/responses";
import { CALL, COMPLETED, type ExampleEvent, type Unnumbered, WEATHER } from "./example-events.fixture.ts";
import { exampleResponse, RESPONSE_ID } from "./example-response.fixture.ts";
import { EXAMPLE_MODEL as model } from "./interaction.fixture.ts";
import { LANE } from "./socket-situations.fixture.ts";

/** An event of steering. */
export type SteeringExample = Unnumbered<
  ResponseSteerAcceptedEvent | ResponseSteerFailedEvent | ResponseSteerPendingEvent
>;

/** A frame that the types of both clients allow. */
type CreateFrame = ResponseCreateFrame & ResponsesClientEvent.ResponseCreate;

export interface FrameExample {
  /** Completes the sentence "a frame that …". */
  readonly does: string;
  /** A string is sent unchanged. */
  readonly frame: CreateFrame | string;
  /** The last event of the turn, or the error that refuses the frame. */
  readonly reply: ExampleEvent | SteeringExample | WebSocketErrorFrame;
  /** The pattern that the whole error message must match. */
  readonly message?: string;
}

const type = "response.create";
const HELLO = { type, model, input: "Say hello", store: false } as const;
const UNKNOWN_ID = "resp_unknown";
const NOT_FOUND = "^Previous response with id 'resp_[^']+' not found[.]$";
const LANE_NAME =
  "The 'stream_id' field must be a non-empty string with at most 256 characters and may only contain letters, numbers, underscores, hyphens, and periods.";
const LANES =
  "This WebSocket connection has reached its maximum number of distinct stream IDs (32). Reuse an existing stream_id or open a new WebSocket connection.";
const NO_TOKENS = {
  input_tokens: 0,
  input_tokens_details: { cache_write_tokens: 0, cached_tokens: 0 },
  output_tokens: 0,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 0,
};

const ADDED_INPUT = "Rather in French.";
const STEER = { id: "steer_0123456789abcdef01234567", previous_response_id: RESPONSE_ID };

/** Frames by the state in which they are sent. Any provider can enter these states. */
export const FRAMES: Readonly<Record<string, readonly FrameExample[]>> = {
  "an open socket": [
    { does: "asks for a response", frame: HELLO, reply: completed({ store: false }) },
    {
      does: "asks for a response in a lane",
      frame: { ...HELLO, stream_id: LANE },
      reply: { ...completed({ store: false }), stream_id: LANE },
    },
    {
      does: "asks for nothing but to get warm",
      frame: { ...HELLO, generate: false },
      reply: completed({ store: false, output: [], usage: NO_TOKENS }),
    },
    { does: "asks for a response that is stored", frame: { ...HELLO, store: true }, reply: COMPLETED },
    {
      does: "goes on after an unknown response",
      frame: { ...HELLO, previous_response_id: UNKNOWN_ID },
      reply: refusal(
        "previous_response_not_found",
        "previous_response_id",
        `Previous response with id '${UNKNOWN_ID}' not found.`,
      ),
      message: NOT_FOUND,
    },
    {
      does: "names a lane by no name",
      frame: JSON.stringify({ ...HELLO, stream_id: "a b" }),
      reply: refusal("invalid_stream_id", "stream_id", LANE_NAME),
      message: literal(LANE_NAME),
    },
    {
      does: "asks an unknown model",
      frame: { ...HELLO, model: "no-such-model" },
      reply: refusal("model_not_found", "model", "The requested model 'no-such-model' does not exist."),
      message: literal("The requested model 'no-such-model' does not exist."),
    },
    {
      does: "has a temperature that is too high",
      frame: JSON.stringify({ ...HELLO, temperature: 3 }),
      reply: refusal("decimal_above_max_value", "temperature", "Invalid 'temperature': decimal above maximum value."),
    },
    {
      does: "has an unknown member",
      frame: JSON.stringify({ ...HELLO, colour: 1 }),
      reply: refusal("unknown_parameter", "colour", "Unknown parameter: 'colour'."),
      message: "^Unknown parameter: 'colour'[.].*$",
    },
  ],
  "a response of this socket that is not stored": [
    {
      does: "goes on after it",
      frame: { ...HELLO, previous_response_id: RESPONSE_ID },
      reply: completed({ store: false, previous_response_id: RESPONSE_ID }),
    },
    {
      does: "goes on after it in a lane",
      frame: { ...HELLO, previous_response_id: RESPONSE_ID, stream_id: LANE },
      reply: { ...completed({ store: false, previous_response_id: RESPONSE_ID }), stream_id: LANE },
    },
  ],
  "a function call of this socket that nobody has answered": [
    {
      does: "brings the output of the call",
      frame: {
        type,
        model,
        store: false,
        previous_response_id: RESPONSE_ID,
        input: [{ type: "function_call_output", call_id: CALL.call_id, output: "Sunny" }],
        tools: [WEATHER],
      },
      reply: completed({
        store: false,
        previous_response_id: RESPONSE_ID,
        tools: [{ ...WEATHER, output_schema: null }],
      }),
    },
  ],
  "a response of another socket that is not stored": [
    { does: "goes on after it where it is unknown", ...goesOnInVain() },
  ],
  "a response of this socket whose continuation was refused": [
    { does: "goes on after it once more", ...goesOnInVain() },
  ],
  "a socket with 32 lanes": [
    {
      does: "opens one more lane",
      frame: { ...HELLO, stream_id: "one-more" },
      reply: { ...refusal("websocket_stream_limit_reached", "stream_id", LANES), stream_id: "one-more" },
      message: literal(LANES),
    },
  ],
};

/** Frames whose answers differ from the reference on purpose, or that need a server of these tests. */
export const STAGED_FRAMES: Readonly<Record<string, readonly FrameExample[]>> = {
  "a socket that bears with broken frames": [
    {
      does: "is no JSON",
      frame: "nonsense",
      reply: refusal("invalid_json", null, "Invalid body: failed to parse JSON value."),
      message: "^Invalid body: failed to parse JSON.*$",
    },
    {
      does: "is no object",
      frame: JSON.stringify([type]),
      reply: refusal("invalid_type", null, "Invalid body: expected an object, but got an array instead."),
    },
    {
      does: "has no type",
      frame: JSON.stringify({ model, input: "Say hello" }),
      reply: refusal("missing_required_parameter", "type", "Missing required parameter: 'type'."),
    },
    {
      does: "has an unknown type",
      frame: JSON.stringify({ type: "response.inject", response_id: RESPONSE_ID, input: [] }),
      reply: refusal(
        "invalid_value",
        "type",
        "Invalid value: 'response.inject'. Supported values are: 'response.create', 'response.cancel', and 'response.steer'.",
      ),
    },
    {
      does: "cancels a response that is not being made",
      frame: JSON.stringify({ type: "response.cancel", response_id: UNKNOWN_ID }),
      reply: {
        ...refusal(
          "response_not_found",
          "response_id",
          `Response with id '${UNKNOWN_ID}' not found among those that are being made on this connection.`,
        ),
        status: 404,
      },
    },
    {
      does: "has a number for a type",
      frame: JSON.stringify({ type: 7 }),
      reply: refusal("invalid_type", "type", "Invalid type for 'type': expected a string, but got an integer instead."),
    },
    {
      does: "has no model",
      frame: { type, input: "Say hello" },
      reply: refusal("missing_required_parameter", "model", "Missing required parameter: 'model'."),
    },
    {
      does: "asks for the background",
      frame: JSON.stringify({ ...HELLO, background: true }),
      reply: refusal("unsupported_parameter", "background", "Unsupported parameter: 'background'."),
      message: "^Unsupported parameter: 'background'[.].*$",
    },
  ],
  "a caller beyond its rate limit": [
    {
      does: "comes too soon",
      frame: HELLO,
      reply: limited({
        "retry-after": "60",
        "x-ratelimit-limit-requests": "1",
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "60s",
      }),
    },
  ],
  "a socket that makes no response": [
    {
      does: "adds input to a response that is not made here",
      frame: steerFrame(UNKNOWN_ID),
      reply: {
        type: "response.steer.failed",
        error: { type: "invalid_request_error", code: "response_not_found", message: notInProgress(UNKNOWN_ID) },
        steer: { previous_response_id: UNKNOWN_ID, input: ADDED_INPUT },
      },
      message: literal(notInProgress(UNKNOWN_ID)),
    },
  ],
  "a response that this socket tells of": [
    {
      does: "adds input to the response",
      frame: steerFrame(RESPONSE_ID),
      reply: { type: "response.steer.accepted", steer: STEER },
    },
  ],
  "a response that this socket tells of and that will call a function": [
    {
      does: "adds input before the call",
      frame: steerFrame(RESPONSE_ID),
      reply: {
        type: "response.steer.pending",
        reason: "waiting_for_required_input",
        required_input: [{ type: "function_call_output", call_id: CALL.call_id, name: CALL.name }],
        steer: STEER,
      },
    },
  ],
  "a model whose quota is used up": [
    {
      does: "asks it",
      frame: { ...HELLO, input: "Please play: no quota" },
      reply: {
        type: "error",
        status: 429,
        error: {
          type: "insufficient_quota",
          code: "insufficient_quota",
          message: "The quota is used up.",
          param: null,
        },
      },
    },
  ],
  "a server that is stopping": [
    {
      does: "waits for its turn",
      frame: HELLO,
      reply: {
        type: "error",
        status: 503,
        error: {
          type: "service_unavailable_error",
          code: "server_is_overloaded",
          message: "The server is shutting down. Please retry in a moment.",
          param: null,
          headers: { "retry-after": "1" },
        },
      },
    },
  ],
};

function steerFrame(responseId: string): string {
  return JSON.stringify({ type: "response.steer", previous_response_id: responseId, input: ADDED_INPUT });
}

function notInProgress(responseId: string): string {
  return `Response '${responseId}' is not in progress on this connection.`;
}

function completed(members: Parameters<typeof exampleResponse>[0]): ExampleEvent {
  return { type: "response.completed", response: exampleResponse(members) };
}

function refusal(code: string, param: string | null, message: string): WebSocketErrorFrame {
  return { type: "error", status: 400, error: { type: "invalid_request_error", code, message, param } };
}

function limited(headers: Readonly<Record<string, string>>): WebSocketErrorFrame {
  const message = "Rate limit reached. Please try again in 60s.";
  return {
    type: "error",
    status: 429,
    error: { type: "rate_limit_error", code: "rate_limit_error", message, param: null, headers },
  };
}

function goesOnInVain(): Omit<FrameExample, "does"> {
  return {
    frame: { ...HELLO, previous_response_id: RESPONSE_ID },
    reply: refusal(
      "previous_response_not_found",
      "previous_response_id",
      `Previous response with id '${RESPONSE_ID}' not found.`,
    ),
    message: NOT_FOUND,
  };
}

function literal(text: string): string {
  return `^${text.replaceAll(/[().]/g, "[$&]")}$`;
}
