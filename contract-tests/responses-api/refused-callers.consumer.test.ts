import { MatchersV3 } from "@pact-foundation/pact";
import { describe, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { EXAMPLE_MODEL, theModel } from "./interaction.fixture.ts";
import { checkRefusal } from "./refusal.fixture.ts";

const { regex, string } = MatchersV3;
const MODELS = { method: "GET", path: "/v1/models" } as const;
const CREATE = { method: "POST", path: "/v1/responses" } as const;
const CHALLENGE = { "www-authenticate": regex('^Bearer realm=".+"$', 'Bearer realm="OpenAI API"') };
const body = { model: EXAMPLE_MODEL, input: "Hi" };

describe("a caller is refused", () => {
  test("with a wrong key", async () => {
    verifies("contract.parity.same-checks-both-providers", "auth.key.wrong-key-is-401");
    const message = string("Incorrect API key provided: sk-wrong.");
    await checkRefusal(
      { ...MODELS, request: "with a wrong key", wrongKey: "sk-wrong" },
      { status: 401, code: "invalid_api_key", param: null, message, headers: CHALLENGE },
      { official: (client) => client.models.list(), own: (client) => client.listModels() },
    );
  });

  test("without a key", async () => {
    const message = string("You didn't provide an API key.");
    await checkRefusal(
      { ...MODELS, request: "without a key", wrongKey: null },
      { status: 401, param: null, message, headers: CHALLENGE },
      { official: (client) => client.models.list(), own: (client) => client.listModels() },
    );
  });

  test("for an organization that its key may not act for", async () => {
    const headers = { "OpenAI-Organization": "somebody-else" };
    await checkRefusal(
      {
        ...MODELS,
        given: ["a caller who acts for one organization"],
        request: "for another organization",
        headers,
      },
      { status: 401, code: "mismatched_organization", param: null, message: string("Not yours."), headers: CHALLENGE },
      {
        official: (client) => client.withOptions({ organization: "somebody-else" }).models.list(),
        own: (client) => client.listModels({ headers }),
      },
    );
  });

  test("for a project that its key may not act for", async () => {
    const headers = { "OpenAI-Project": "something-else" };
    await checkRefusal(
      { ...MODELS, given: ["a caller who acts for one organization"], request: "for another project", headers },
      { status: 401, code: "mismatched_project", param: null, message: string("Not yours."), headers: CHALLENGE },
      {
        official: (client) => client.withOptions({ project: "something-else" }).models.list(),
        own: (client) => client.listModels({ headers }),
      },
    );
  });
});

describe("a request is refused", () => {
  test("at an address that is none", async () => {
    verifies("http.routes.unknown-path-is-404");
    await checkRefusal(
      { isAnonymous: true, request: "for nothing", method: "GET", path: "/v1/nothing" },
      { status: 404, param: null, message: string("Invalid URL (GET /v1/nothing)") },
      { official: (client) => client.get("/nothing") },
    );
  });

  test("with a method that its address does not know", async () => {
    await checkRefusal(
      {
        given: ["our own server"],
        isAnonymous: true,
        request: "with a wrong method",
        method: "PUT",
        path: "/v1/conversations",
        body: {},
      },
      { status: 405, param: null, message: string("Invalid method for URL (PUT /v1/conversations)") },
      { official: (client) => client.put("/conversations", { body: {} }) },
    );
  });

  test("with a name of its own that is too long", async () => {
    const headers = { "X-Client-Request-Id": "x".repeat(513) };
    await checkRefusal(
      { ...MODELS, given: ["our own server"], isAnonymous: true, request: "with a long name of its own", headers },
      { status: 400, code: "invalid_value", param: null, message: string("Invalid 'X-Client-Request-Id'.") },
      {
        official: (client) => client.models.list({ headers }),
        own: (client) => client.listModels({ headers }),
      },
    );
  });

  test("with a body that is no object", async () => {
    await checkRefusal(
      { ...CREATE, given: ["our own server"], request: "with a list as its body", body: [] },
      { status: 400, code: "invalid_type", param: null, message: string("Invalid body: expected an object.") },
      { official: (client) => client.post("/responses", { body: [] }) },
    );
  });

  test("with a body of a kind that is not taken", async () => {
    const contentType = { example: "text/plain", pattern: "^text/plain(;.*)?$" };
    await checkRefusal(
      {
        ...CREATE,
        given: ["our own server"],
        request: "with a plain text as its body",
        text: { example: "Hi", pattern: "^Hi$", contentType },
      },
      { status: 415, code: "unsupported_media_type", param: null, message: string("Unsupported content type.") },
      { official: (client) => client.post("/responses", { body: "Hi", headers: { "content-type": "text/plain" } }) },
    );
  });

  test("with a body that is too large", async () => {
    const input = "x".repeat(9000);
    await checkRefusal(
      {
        ...CREATE,
        given: ["a chat model", "a server that takes little"],
        request: "with a body that is too large",
        body: { model: theModel, input },
      },
      { status: 413, code: "request_too_large", param: null, message: string("The request body is too large.") },
      {
        official: (client) => client.responses.create({ ...body, input }),
        own: (client) => client.createResponse({ ...body, input }),
      },
    );
  });
});
