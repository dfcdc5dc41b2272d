import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";

const [ROUTED, BOUND, UNBOUND] = [
  "sk-routed-0123456789abcdef",
  "sk-bound-0123456789abcdef",
  "sk-plain-0123456789abcdef",
];
const KEYS = [`${ROUTED}=acme/web`, `${ROUTED}=acme/api`, `${ROUTED}=globex/web`, `${BOUND}=acme/web`, UNBOUND].join();

type Headers = Readonly<Record<string, string>>;

describe("a key", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ env: { API_KEYS: KEYS } });
  });
  afterAll(() => server.close());

  const ask = (key: string, headers: Headers, path = "/v1/models", init: RequestInit = {}): Promise<Response> =>
    fetch(server.url + path, { ...init, headers: { ...headers, authorization: `Bearer ${key}` } });
  const ownerOf = ({ headers }: Response): string =>
    `${headers.get("openai-organization")}/${headers.get("openai-project")}`;
  const check = async (key: string, headers: Headers, owner: string): Promise<void> => {
    const reply = await ask(key, headers);
    expect([reply.status, ownerOf(reply)]).toEqual([200, owner]);
    await reply.text();
  };
  const checkRefused = async (headers: Headers, code: string): Promise<void> => {
    const reply = await ask(ROUTED, headers);
    expect([reply.status, ownerOf(reply)]).toEqual([401, "null/null"]);
    expect(reply.headers.get("www-authenticate")).toBe('Bearer realm="OpenAI API"');
    expect(await reply.json()).toMatchObject({ error: { code, type: "invalid_request_error", param: null } });
  };

  test("acts for the first of its owners unless the request is routed", async () => {
    verifies("auth.headers.routing-is-echoed", "auth.headers.provider-routing-is-optional");
    await check(ROUTED, {}, "acme/web");
    await check(BOUND, {}, "acme/web");
  });

  test("is routed to another owner by either pair of headers; the reference's pair wins", async () => {
    verifies("auth.headers.reference-routing-names-accepted", "auth.headers.routing-within-the-key");
    await check(ROUTED, { "provider-project": "api" }, "acme/api");
    await check(ROUTED, { "provider-organization": "globex" }, "globex/web");
    await check(ROUTED, { "openai-organization": "acme", "openai-project": "api" }, "acme/api");
    await check(ROUTED, { "openai-project": "api", "provider-project": "web" }, "acme/api");
    await check(ROUTED, { "openai-organization": "acme", "provider-project": "api" }, "acme/api");
    await check(ROUTED, { "openai-organization": "", "provider-organization": "globex" }, "globex/web");
  });

  test("is refused for an owner that is not one of its owners", async () => {
    verifies("auth.headers.routing-within-the-key");
    await checkRefused({ "openai-organization": "initech" }, "mismatched_organization");
    await checkRefused({ "provider-organization": "initech", "provider-project": "web" }, "mismatched_organization");
    await checkRefused({ "openai-project": "secret" }, "mismatched_project");
    await checkRefused({ "openai-organization": "globex", "openai-project": "api" }, "mismatched_project");
  });

  test("without an owner is not routed and not refused", async () => {
    verifies("auth.headers.routing-means-nothing-to-unbound-keys");
    await check(UNBOUND, { "openai-organization": "org-of-another-provider" }, "default/default");
  });

  test("gets its owner in every reply: errors, streams, and refused bodies", async () => {
    verifies("auth.headers.routing-is-echoed");
    const post = (body: string): Promise<Response> =>
      ask(BOUND, { "content-type": "application/json" }, "/v1/responses", { method: "POST", body });
    const replies = [
      await ask(BOUND, {}, "/v1/responses/resp_nothing"),
      await post("{"),
      await post('{"model":"antiphon-built-in","input":"Hi","stream":true}'),
      await post('{"model":"antiphon-built-in","input":"Hi","previous_response_id":"resp_nothing"}'),
    ];
    expect(replies.map(({ status }) => status)).toEqual([404, 400, 200, 400]);
    for (const reply of replies) expect(ownerOf(reply)).toBe("acme/web");
    await Promise.all(replies.map((reply) => reply.text()));
    const health = await fetch(`${server.url}/healthz`);
    expect(ownerOf(health)).toBe("null/null");
  });

  test("with several owners sees only the responses of the owner it is routed to", async () => {
    verifies("state.owner.other-key-gets-404");
    const body = '{"model":"antiphon-built-in","input":"Hi"}';
    const made = await ask(ROUTED, { "content-type": "application/json", "openai-project": "api" }, "/v1/responses", {
      method: "POST",
      body,
    });
    const { id } = JSON.parse(await made.text());
    const statusFor = async (headers: Headers): Promise<number> =>
      (await ask(ROUTED, headers, `/v1/responses/${id}`)).status;
    expect(await statusFor({ "openai-project": "api" })).toBe(200);
    expect(await statusFor({})).toBe(404);
    expect(await statusFor({ "openai-organization": "globex" })).toBe(404);
  });
});
