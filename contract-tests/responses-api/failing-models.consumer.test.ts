import { MatchersV3 } from "@pact-foundation/pact";
import { describe, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { checkAnswer } from "./answer.fixture.ts";
import { messageSaying, RESPONSE_ID, responseShape } from "./example-response.fixture.ts";
import { EXAMPLE_MODEL, theModel } from "./interaction.fixture.ts";
import { checkRefusal, checkRefusedCreate, type RefusedCreates } from "./refusal.fixture.ts";

const { fromProviderState, integer, like, regex, string } = MatchersV3;
const CREATE = { method: "POST", path: "/v1/responses" } as const;
const model = EXAMPLE_MODEL;
const fault = { type: "server_error", code: "server_error", param: null } as const;
const seconds = regex("^[1-9]\\d*$", "2");
const count = regex("^\\d+$", "1000");
const duration = regex("^(\\d+h)?(\\d+m)?\\d+(\\.\\d+)?s$|^\\d+ms$", "59.5s");

const MODELS: RefusedCreates = {
  "to a model that is rate-limited": {
    given: ["a model that is rate-limited"],
    asked: { input: "Please play: rate limit" },
    refusal: {
      status: 429,
      type: "tokens",
      code: "rate_limit_exceeded",
      param: null,
      message: regex("^.*Please try again in \\d+(\\.\\d+)?m?s\\..*$", "Rate limit reached. Please try again in 2s."),
      headers: { "retry-after": seconds },
    },
  },
  "to a model whose credit is used up": {
    given: ["a model whose credit is used up"],
    asked: { input: "Please play: no credit" },
    refusal: {
      status: 429,
      type: "insufficient_quota",
      code: "insufficient_quota",
      param: null,
      message: string("You exceeded your current quota."),
    },
  },
  "to a model that fails": {
    given: ["a model that fails"],
    asked: { input: "Please play: fail" },
    refusal: { ...fault, status: 500, message: string("The model failed.") },
  },
  "to a model that cannot be reached": {
    given: ["a model that cannot be reached"],
    asked: { input: "Please play: unreachable" },
    refusal: { ...fault, status: 502, message: string("The model cannot be reached.") },
  },
  "to a model that is overloaded": {
    given: ["a model that is overloaded"],
    asked: { input: "Please play: overloaded" },
    refusal: {
      ...fault,
      status: 503,
      message: string("The model is overloaded."),
      headers: { "retry-after": seconds },
    },
  },
  "to a model that is too slow": {
    given: ["a model that is too slow"],
    asked: { input: "Please play: too slow" },
    refusal: { ...fault, status: 504, message: string("The model was too slow.") },
  },
  "for more background responses than can wait": {
    given: ["a full queue of background responses"],
    asked: { input: "Hi", background: true },
    refusal: {
      status: 503,
      type: "service_unavailable_error",
      code: "server_is_overloaded",
      param: null,
      message: string("There are 1 background responses waiting already. Please retry in a moment."),
      headers: { "retry-after": seconds },
    },
  },
};

describe("a client is told that it is not answered now", () => {
  describe("by the model:", () => {
    verifies("contract.parity.same-checks-both-providers", "errors.catalogue.out-of-credit");
    verifies("errors.catalogue.server-fault", "errors.catalogue.overloaded");
    test.each(Object.entries(MODELS))("a request %s", checkRefusedCreate);
  });

  test("because the minute of its key is used up", async () => {
    verifies("errors.ratelimit.own-limit-is-429", "errors.ratelimit.carries-retry-headers");
    verifies("errors.ratelimit.parsable-delay-text");
    const body = { model, input: "Hi" };
    await checkRefusal(
      {
        ...CREATE,
        given: ["a chat model", "a caller whose minute is used up"],
        request: "that is too much for the minute",
        body: { ...body, model: theModel },
      },
      {
        status: 429,
        type: "rate_limit_error",
        code: "rate_limit_error",
        param: null,
        message: regex("^.*Please try again in \\d+(\\.\\d+)?m?s\\..*$", "Please try again in 59.5s."),
        headers: {
          "retry-after": seconds,
          "x-ratelimit-limit-requests": count,
          "x-ratelimit-limit-tokens": count,
          "x-ratelimit-remaining-requests": count,
          "x-ratelimit-remaining-tokens": "0",
          "x-ratelimit-reset-requests": duration,
          "x-ratelimit-reset-tokens": duration,
        },
      },
      { official: (client) => client.responses.create(body), own: (client) => client.createResponse(body) },
    );
  });
});

describe("a client whose response failed", () => {
  const failure = { code: "server_error", message: "The model broke off." } as const;
  const partial = { ...messageSaying("So far so"), status: "incomplete" } as const;
  const failed = { status: "failed", completed_at: null, error: failure, service_tier: "auto", usage: null } as const;
  const output = like([partial]);
  const seen = { status: "failed", error: failure, usage: null };

  test("learns it from the response", async () => {
    verifies("errors.stage.after-creation-is-200-failed");
    const input = "Please play: break off";
    await checkAnswer(
      {
        ...CREATE,
        given: ["a chat model", "a model that fails while it answers"],
        request: "to a model that fails while it answers",
        body: { model: theModel, input },
        reply: { json: responseShape({ ...failed }, { output }) },
      },
      seen,
      {
        official: (client) => client.responses.create({ model, input }),
        own: (client) => client.createResponse({ model, input }),
      },
    );
  });

  test("learns it when it fetches the response", async () => {
    const path = fromProviderState("/v1/responses/${response_id}", `/v1/responses/${RESPONSE_ID}`);
    await checkAnswer(
      {
        given: ["a response that failed"],
        request: "for a response that failed",
        method: "GET",
        path,
        reply: { json: responseShape({ ...failed, background: true }, { output, created_at: integer(1_795_000_000) }) },
      },
      { ...seen, background: true },
      {
        official: (client) => client.responses.retrieve(RESPONSE_ID),
        own: (client) => client.getResponse(RESPONSE_ID),
      },
    );
  });
});
