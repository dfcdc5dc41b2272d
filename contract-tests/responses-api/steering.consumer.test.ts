import { MatchersV3 } from "@pact-foundation/pact";
import { describe, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { shapeOf } from "../shape.fixture.ts";
import { checkAnswer } from "./answer.fixture.ts";
import { RESPONSE_ID, responseShape } from "./example-response.fixture.ts";
import type { State } from "./provider-states.ts";
import { checkRefusal } from "./refusal.fixture.ts";

const { eachLike, fromProviderState, integer, like, regex } = MatchersV3;

const given = ["a background response under way"] as const;
const UNDER_WAY = {
  status: "in_progress",
  background: true,
  completed_at: null,
  service_tier: "auto",
  usage: null,
} as const;
const PAUSE = { since: 1_795_000_000, status: "pausing" } as const;
const STEER = {
  id: "steer_0123456789abcdef0067000000012345",
  object: "response.steer",
  created_at: 1_795_000_000,
  error: null,
  input: "Rather in French.",
  previous_response_id: RESPONSE_ID,
  required_input: [],
  status: "accepted",
  successor_id: null,
  turn: null,
} as const;

function pathOf(operation: "pause" | "resume" | "steer") {
  return fromProviderState(`/v1/responses/\${response_id}/${operation}`, `/v1/responses/${RESPONSE_ID}/${operation}`);
}

describe("a client of a background response", () => {
  test("pauses it", async () => {
    verifies("responses.pause.stops-between-turns");
    const pause = { ...PAUSE, since: integer(PAUSE.since) };
    await checkAnswer(
      {
        given,
        request: "to pause a response",
        method: "POST",
        path: pathOf("pause"),
        reply: { json: responseShape({ ...UNDER_WAY, output: [] }, { output: like([]), pause }) },
      },
      { status: "in_progress", pause: PAUSE },
      {
        official: (client) => client.post(`/responses/${RESPONSE_ID}/pause`),
        own: (client) => client.pauseResponse(RESPONSE_ID),
      },
    );
  });

  test("resumes it", async () => {
    verifies("responses.pause.stops-between-turns");
    await checkAnswer(
      {
        given,
        request: "to resume a response",
        method: "POST",
        path: pathOf("resume"),
        reply: { json: responseShape({ ...UNDER_WAY, output: [] }, { output: like([]) }) },
      },
      { status: "in_progress" },
      {
        official: (client) => client.post(`/responses/${RESPONSE_ID}/resume`),
        own: (client) => client.resumeResponse(RESPONSE_ID),
      },
    );
  });

  test("adds input to it", async () => {
    verifies("responses.steer.successor");
    const body = { input: STEER.input };
    await checkAnswer(
      {
        given,
        request: "to add input to a response",
        method: "POST",
        path: pathOf("steer"),
        body,
        status: 202,
        reply: { json: shapeOf(STEER) },
      },
      STEER,
      {
        official: (client) => client.post(`/responses/${RESPONSE_ID}/steer`, { body }),
        own: (client) => client.steerResponse(RESPONSE_ID, body),
      },
    );
  });

  test("lists the input that was added to it", async () => {
    verifies("responses.steer.names-the-turn");
    await checkAnswer(
      {
        given: ["a background response with added input"],
        request: "for the input that was added to a response",
        method: "GET",
        path: pathOf("steer"),
        reply: { json: { object: "list", data: eachLike(Object(shapeOf(STEER))) } },
      },
      { data: [STEER] },
      {
        official: (client) => client.get(`/responses/${RESPONSE_ID}/steer`),
        own: (client) => client.listResponseSteers(RESPONSE_ID),
      },
    );
  });
});

interface Refused {
  readonly given: State;
  readonly request: string;
  readonly code: string;
  readonly message: unknown;
}

const NOT_PAUSED: readonly Refused[] = [
  {
    given: "a response made in the background",
    request: "to pause a response that has ended",
    code: "response_not_active",
    message: regex("^Response 'resp_.+' is not in progress\\.$", `Response '${RESPONSE_ID}' is not in progress.`),
  },
  {
    given: "a stored response",
    request: "to pause a response in the foreground",
    code: "pause_not_supported",
    message: "Only background responses can be paused: the client of another one waits on its connection.",
  },
];

const NOT_STEERED: readonly Refused[] = [
  {
    given: "a response made in the background",
    request: "to add input to a response that has completed",
    code: "response_already_completed",
    message: regex("^Response 'resp_.+' has completed already\\.$", `Response '${RESPONSE_ID}' has completed already.`),
  },
  {
    given: "a background response of a conversation under way",
    request: "to add input to a response of a conversation",
    code: "steering_not_supported",
    message: "Input can be added to background responses without a conversation and without automatic compaction only.",
  },
  {
    given: "a background response with as much input as it takes",
    request: "to add too much input to a response",
    code: "too_many_pending_steers",
    message: regex(
      "^16 inputs wait already for response 'resp_.+'\\.$",
      `16 inputs wait already for response '${RESPONSE_ID}'.`,
    ),
  },
];

test.each(NOT_PAUSED)("a client that asks $request is told why not", async ({ given: state, request, ...refusal }) => {
  verifies("responses.pause.refused");
  await checkRefusal(
    { given: [state], request, method: "POST", path: pathOf("pause") },
    { status: 400, param: null, ...refusal },
    {
      official: (client) => client.post(`/responses/${RESPONSE_ID}/pause`),
      own: (client) => client.pauseResponse(RESPONSE_ID),
    },
  );
});

test.each(NOT_STEERED)("a client that asks $request is told why not", async ({ given: state, request, ...refusal }) => {
  verifies("responses.steer.refused");
  const body = { input: STEER.input };
  await checkRefusal(
    { given: [state], request, method: "POST", path: pathOf("steer"), body },
    { status: 400, param: null, ...refusal },
    {
      official: (client) => client.post(`/responses/${RESPONSE_ID}/steer`, { body }),
      own: (client) => client.steerResponse(RESPONSE_ID, body),
    },
  );
});
