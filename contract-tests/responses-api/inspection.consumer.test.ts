import { MatchersV3 } from "@pact-foundation/pact";
import { describe, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { shapeOf } from "../shape.fixture.ts";
import { checkAnswer } from "./answer.fixture.ts";
import { RESPONSE_ID } from "./example-response.fixture.ts";
import { checkRefusal, UNKNOWN_ID } from "./refusal.fixture.ts";

const { arrayContaining, boolean, fromProviderState, integer, like, string } = MatchersV3;
const given = ["a stored response", "a server with extensions"] as const;
const pathTo = (rest: string) =>
  fromProviderState(`/v1/responses/\${response_id}/${rest}`, `/v1/responses/${RESPONSE_ID}/${rest}`);

const SUMMARY = {
  id: RESPONSE_ID,
  object: "response.summary",
  created_at: 1_795_000_000,
  completed_at: 1_795_000_001,
  status: "completed",
  is_live: false,
  kind: "plain",
  model: "m",
  background: false,
  conversation: null,
  previous_response_id: null,
  price: null,
  error: null,
  incomplete_details: null,
  input_preview: "Say hello",
};
const LATER_ID = RESPONSE_ID.replace("resp_0", "resp_1");
const EVENT = { sequence_number: 0, type: "response.created", at_ms: 1, item_id: null, output_index: null };

const EFFECT_ID = RESPONSE_ID.replace("resp_", "mcp_");
const EFFECT = {
  id: EFFECT_ID,
  object: "response.effect",
  response_id: RESPONSE_ID,
  created_at: 1_795_000_000,
  name: "pay",
  server_label: "bank",
  effect: "may_have",
  state: "unknown",
  key: `${RESPONSE_ID}.${EFFECT_ID}`,
  approval_request_id: null,
  attempts: [{ started_at_ms: 1_795_000_000_000, ended_at_ms: 1_795_000_000_100, node: "left", state: "unknown" }],
  settlement: null,
} as const;
const unsure = ["a response with a call whose outcome is unknown", "a server with extensions"] as const;
const effectPath = fromProviderState(
  "/v1/responses/${response_id}/effects/${effect_id}",
  `/v1/responses/${RESPONSE_ID}/effects/${EFFECT_ID}`,
);

function effectShape(effect: typeof EFFECT | (Omit<typeof EFFECT, "state"> & { readonly state: "done" })) {
  const { key, attempts, ...rest } = effect;
  const [attempt] = attempts;
  const attemptShape = { ...Object(shapeOf(attempt)), node: string(attempt.node) };
  return { ...Object(shapeOf(rest)), key: string(key), attempts: [attemptShape] };
}

/** Only our server has these operations. */
describe("a client that looks at what was made", () => {
  test("lists responses", async () => {
    verifies("contract.parity.same-checks-both-providers");
    const page = { object: "list", data: [SUMMARY], first_id: RESPONSE_ID, has_more: false, last_id: RESPONSE_ID };
    const query = { kind: "plain", limit: 100 } as const;
    await checkAnswer(
      {
        given,
        request: "for the list of responses",
        method: "GET",
        path: "/v1/responses",
        query: { kind: "plain", limit: "100" },
        reply: {
          json: { ...Object(shapeOf(page)), data: arrayContaining(shapeOf(SUMMARY)), has_more: boolean(false) },
        },
      },
      page,
      {
        official: (client) => client.get("/responses", { query }),
        own: (client) => client.listResponses(query),
      },
    );
  });

  test("lists the responses that continue another", async () => {
    const later = { ...SUMMARY, id: LATER_ID, previous_response_id: RESPONSE_ID };
    const page = { object: "list", data: [later], first_id: LATER_ID, has_more: false, last_id: LATER_ID };
    const query = { previous_response_id: RESPONSE_ID };
    await checkAnswer(
      {
        given: ["a response that another continues", "a server with extensions"],
        request: "for the responses that continue one",
        method: "GET",
        path: "/v1/responses",
        query: { previous_response_id: fromProviderState("${response_id}", RESPONSE_ID) },
        reply: { json: shapeOf(page) },
      },
      page,
      {
        official: (client) => client.get("/responses", { query }),
        own: (client) => client.listResponses(query),
      },
    );
  });

  test("is refused a page that is too long", async () => {
    await checkRefusal(
      {
        given: ["a server with extensions"],
        request: "for too many responses",
        method: "GET",
        path: "/v1/responses",
        query: { limit: "101" },
      },
      {
        status: 400,
        code: "integer_above_max_value",
        param: "limit",
        message: string("Invalid 'limit': integer above maximum value."),
      },
      {
        official: (client) => client.get("/responses", { query: { limit: 101 } }),
        own: (client) => client.listResponses({ limit: 101 }),
      },
    );
  });

  test("counts them", async () => {
    const numbers = { runs: 0, failed: 0, input_tokens: 0, output_tokens: 0 };
    const statistics = {
      object: "response.statistics",
      from: 1_795_000_000,
      to: 1_795_086_400,
      bucket_seconds: 86_400,
      is_partial: false,
    };
    const query = { buckets: 1 };
    await checkAnswer(
      {
        given,
        request: "for statistics of responses",
        method: "GET",
        path: "/v1/responses/statistics",
        query: { buckets: "1" },
        reply: {
          json: {
            ...Object(shapeOf(statistics)),
            buckets: arrayContaining(shapeOf({ start: 1_795_000_000, ...numbers })),
            models: arrayContaining(like({ model: "m", runs: 1 })),
          },
        },
      },
      statistics,
      {
        official: (client) => client.get("/responses/statistics", { query }),
        own: (client) => client.getResponseStatistics(query),
      },
    );
  });

  test("reads when events were made", async () => {
    const timeline = { object: "list", data: [EVENT], has_more: true };
    await checkAnswer(
      {
        given,
        request: "for the timeline of a response",
        method: "GET",
        path: pathTo("timeline"),
        query: { limit: "1" },
        reply: { json: { ...timeline, data: arrayContaining({ ...EVENT, at_ms: integer(1) }) } },
      },
      timeline,
      {
        official: (client) => client.get(`/responses/${RESPONSE_ID}/timeline`, { query: { limit: 1 } }),
        own: (client) => client.listResponseTimeline(RESPONSE_ID, { limit: 1 }),
      },
    );
  });

  test("reads and deletes what other servers were asked", async () => {
    const list = { object: "list", data: [], notes: [], tool_results: [], is_kept: false, is_complete: true };
    const exchanges = `/responses/${RESPONSE_ID}/exchanges`;
    await checkAnswer(
      {
        given,
        request: "for the exchanges of a response",
        method: "GET",
        path: pathTo("exchanges"),
        reply: { json: list },
      },
      list,
      {
        official: (client) => client.get(exchanges),
        own: (client) => client.listResponseExchanges(RESPONSE_ID),
      },
    );
    const deleted = { id: RESPONSE_ID, object: "response.exchanges.deleted", deleted: true };
    await checkAnswer(
      {
        given,
        request: "to delete the exchanges of a response",
        method: "DELETE",
        path: pathTo("exchanges"),
        reply: { json: shapeOf(deleted) },
      },
      deleted,
      {
        official: (client) => client.delete(exchanges),
        own: (client) => client.deleteResponseExchanges(RESPONSE_ID),
      },
    );
  });

  test("reads the calls of a response, and settles one whose outcome is unknown", async () => {
    const query = { limit: 1 } as const;
    const list = { object: "list", data: [EFFECT], first_id: EFFECT_ID, has_more: false, last_id: EFFECT_ID };
    const official = `/responses/${RESPONSE_ID}/effects`;
    await checkAnswer(
      {
        given: unsure,
        request: "for the calls of a response",
        method: "GET",
        path: pathTo("effects"),
        query: { limit: "1" },
        reply: {
          json: { ...list, data: [effectShape(EFFECT)], first_id: string(EFFECT_ID), last_id: string(EFFECT_ID) },
        },
      },
      list,
      {
        official: (client) => client.get(official, { query }),
        own: (client) => client.listResponseEffects(RESPONSE_ID, query),
      },
    );
    const body = { state: "done", note: "The bank shows it." } as const;
    const settledEffect = { ...EFFECT, state: "done" as const };
    const key = like({ id: "key_1" });
    await checkAnswer(
      {
        given: unsure,
        request: "to settle a call",
        method: "POST",
        path: effectPath,
        body,
        reply: {
          json: { ...effectShape(settledEffect), settlement: { ...body, settled_at: integer(1_795_000_100), key } },
        },
      },
      { ...settledEffect, settlement: { ...body, settled_at: 1_795_000_100, key: { id: "key_1" } } },
      {
        official: (client) => client.post(`${official}/${EFFECT_ID}`, { body }),
        own: (client) => client.settleResponseEffect(RESPONSE_ID, EFFECT_ID, body),
      },
    );
  });

  test("is refused to settle a call again", async () => {
    const body = { state: "failed" } as const;
    await checkRefusal(
      {
        given: ["a response with a call that a person has settled", "a server with extensions"],
        request: "to settle a call again",
        method: "POST",
        path: effectPath,
        body,
      },
      {
        status: 400,
        code: "effect_not_unknown",
        param: null,
        message: string(`The outcome of call '${EFFECT_ID}' is not unknown: its state is done.`),
      },
      {
        official: (client) => client.post(`/responses/${RESPONSE_ID}/effects/${EFFECT_ID}`, { body }),
        own: (client) => client.settleResponseEffect(RESPONSE_ID, EFFECT_ID, body),
      },
    );
  });

  test("is refused to settle a call that is none", async () => {
    await checkRefusal(
      {
        given,
        request: "to settle an unknown call",
        method: "POST",
        path: pathTo("effects/mcp_0"),
        body: { state: "done" },
      },
      { status: 404, param: null, message: string(`No call 'mcp_0' found for response with id '${RESPONSE_ID}'.`) },
      {
        official: (client) => client.post(`/responses/${RESPONSE_ID}/effects/mcp_0`, { body: { state: "done" } }),
        own: (client) => client.settleResponseEffect(RESPONSE_ID, "mcp_0", { state: "done" }),
      },
    );
  });

  test("gets 404 for a response that does not exist", async () => {
    await checkRefusal(
      {
        given: ["a server with extensions"],
        request: "for the timeline of an unknown response",
        method: "GET",
        path: `/v1/responses/${UNKNOWN_ID}/timeline`,
      },
      { status: 404, param: null, message: `Response with id '${UNKNOWN_ID}' not found.` },
      {
        official: (client) => client.get(`/responses/${UNKNOWN_ID}/timeline`),
        own: (client) => client.listResponseTimeline(UNKNOWN_ID),
      },
    );
  });
});
