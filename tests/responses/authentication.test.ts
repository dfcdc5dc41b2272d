import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { checkReply, codeless, type Refusal } from "./check-refusal.ts";

const LONG_KEY = "sk-wrong-0123456789abcdefghijklmnopqrstuvwxyz";
const noKey = codeless(null, /^You didn't provide an API key\./, 401);
const wrongKey = (shown: string): Refusal => ({
  status: 401,
  code: "invalid_api_key",
  param: null,
  message: new RegExp(`^Incorrect API key provided: ${shown}\\. `),
});

describe("the bearer key", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.close());

  const check = async (headers: Record<string, string>, refusal: Refusal): Promise<void> => {
    for (const path of ["/v1/models", "/v1/responses/resp_x", "/v1/responses/resp_x/input_items"]) {
      const reply = await fetch(`${server.url}${path}`, { headers });
      expect(reply.headers.get("www-authenticate")).toBe('Bearer realm="OpenAI API"');
      await checkReply(reply, refusal);
    }
  };

  test("is required on every path of the interface", async () => {
    verifies("auth.key.missing-key-is-401");
    await check({}, noKey);
    await check({ authorization: `Basic ${LONG_KEY}` }, noKey);
  });

  test("is shown masked if it is wrong", async () => {
    verifies("auth.key.wrong-key-is-401", "auth.key.error-masks-the-key");
    await check({ authorization: `Bearer ${LONG_KEY}` }, wrongKey("sk-wrong\\*+wxyz"));
  });

  test("is checked before the body is read", async () => {
    const init = { method: "POST", headers: { "content-type": "application/json" }, body: "{" };
    await checkReply(await fetch(`${server.url}/v1/responses`, init), noKey);
  });

  test("is accompanied by a short, plain request id of the client", async () => {
    verifies("auth.headers.client-request-id-is-bounded");
    const call = (id: string) => server.fetch("/v1/models", { headers: { "x-client-request-id": id } });
    for (const id of ["mine", "", "~".repeat(512)]) expect((await call(id)).status, id).toBe(200);
    for (const id of ["~".repeat(513), "é", "a\tb"])
      await checkReply(await call(id), {
        code: "invalid_value",
        param: null,
        message: "Invalid 'X-Client-Request-Id': expected at most 512 ASCII characters.",
      });
  });

  test("is accepted with and without organization and project headers", async () => {
    verifies("auth.headers.provider-routing-is-optional");
    const routing = [{}, { "provider-organization": "org", "provider-project": "p" }, { "openai-organization": "org" }];
    for (const headers of routing) expect((await server.fetch("/v1/models", { headers })).status).toBe(200);
  });
});
