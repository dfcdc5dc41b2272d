import {
  receiveWebSocketFramesTypes,
  sendDialectEventsTypes,
  sendResponseEventsTypes,
  sendWebSocketFramesTypes,
} from "@antiphon/contracts/responses-api/events.ts";
import { describe, expect, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { type Parties, readInteractionsOf } from "../pact-files.fixture.ts";
import { SOCKET_TALKERS, SSE_READERS } from "./message-pacts.fixture.ts";

/**
 * Errors that only WebSocket mode has, and one shared with HTTP of each kind: request, state, caller, model, server.
 */
const ERROR_CODES = [
  "previous_response_not_found",
  "invalid_stream_id",
  "websocket_stream_limit_reached",
  "websocket_connection_limit_reached",
  "response_not_found",
  "invalid_json",
  "missing_required_parameter",
  "unknown_parameter",
  "unsupported_parameter",
  "model_not_found",
  "rate_limit_error",
  "insufficient_quota",
  "server_is_overloaded",
];

describe.each(SSE_READERS)("the pact of $consumer about events", (parties) => {
  const { said } = readMessages(parties);
  const types = typesOf(said);

  test("has a message of every type that a stream may carry", () => {
    verifies("contract.parity.same-checks-both-providers");
    expect(missing([...sendResponseEventsTypes, ...sendDialectEventsTypes], types)).toEqual([]);
  });

  test("has none of a type that the contract does not know", () => {
    expect(missing(types, [...sendResponseEventsTypes, ...sendDialectEventsTypes])).toEqual([]);
  });
});

describe.each(SOCKET_TALKERS)("the pact of $consumer about sockets", (parties) => {
  const { said, sent } = readMessages(parties);
  const refusals = said.filter((message) => typeof Object(message).status === "number");

  test("has a message of every type that the server may send", () => {
    verifies("contract.parity.same-checks-both-providers");
    expect(missing(sendWebSocketFramesTypes, typesOf(said))).toEqual([]);
    const streamErrors = said.filter((message) => Object(message).type === "error" && !refusals.includes(message));
    expect(streamErrors).not.toEqual([]); // The stream's error event, not the WebSocket frame of the same type.
  });

  test("has a message of every type that a client may send", () => {
    expect(missing(receiveWebSocketFramesTypes, typesOf(sent))).toEqual([]);
  });

  test("has every error", () => {
    verifies("websocket.responses.error-shape");
    expect(
      missing(
        ERROR_CODES,
        refusals.map((message) => String(Object(message).error?.code)),
      ),
    ).toEqual([]);
  });
});

interface Messages {
  readonly said: readonly unknown[];
  /** The frames that the consumer sends. */
  readonly sent: readonly unknown[];
}

function readMessages(parties: Parties): Messages {
  const interactions = readInteractionsOf(parties);
  return {
    said: interactions.map(({ contents, response }) => Object(contents ?? Object(response)[0]?.contents).content),
    sent: interactions.flatMap(({ request }) => (request === undefined ? [] : [Object(request).contents?.content])),
  };
}

function typesOf(messages: readonly unknown[]): string[] {
  return [...new Set(messages.map((message) => String(Object(message).type)))];
}

function missing(wanted: readonly string[], there: readonly string[]): string[] {
  return wanted.filter((one) => !there.includes(one));
}
