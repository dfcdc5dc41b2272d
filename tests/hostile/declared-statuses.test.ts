import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { serveHttp } from "../kit/http-server.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { type LocalSttServer, startLocalSttServer } from "../local-stt-server.ts";
import { verifies } from "../verifies.ts";
import { type ContractOperation, contractOperations } from "./contract-operations.ts";
import { localSttDocument } from "./contract-schema.ts";

const JSON_TYPE = { "content-type": "application/json" };
const LONG_ID = { "x-client-request-id": "x".repeat(513) };

const responsesApi = contractOperations();
const localStt = contractOperations(localSttDocument);

/** An invalid body, refused by every operation before reading it. */
function sendTo(url: string, { method, path }: ContractOperation, init: RequestInit = {}): Promise<Response> {
  return fetch(url + path.replaceAll(/\{\w+\}/g, "x1"), { method, ...init });
}

function expectDeclared({ operationId, replies }: ContractOperation, status: number): void {
  expect([...replies.keys()], `${operationId} sends ${status}`).toContain(status);
}

describe("the Responses API declares", () => {
  verifies("http.statuses.all-are-declared");
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ env: { BODY_BYTES_MAX: "1024", UPLOAD_BYTES_MAX: "1024" } });
  });
  afterAll(() => server.close());
  const key = (): Record<string, string> => ({ authorization: `Bearer ${server.apiKey}` });

  test.each(responsesApi)("what $operationId sends for a bad X-Client-Request-Id", async (operation) => {
    const reply = await sendTo(server.url, operation, { headers: LONG_ID });
    expect(reply.status).toBe(400);
    expectDeclared(operation, reply.status);
  });

  test.each(responsesApi.filter(({ bodyTypes }) => bodyTypes.length > 0))(
    "what $operationId sends for bodies of another type, in another coding, too large and too slow",
    async (operation) => {
      const headers = { ...key(), "content-type": operation.bodyTypes[0] ?? "" };
      const form = { "content-type": "multipart/form-data; boundary=b" };
      const type = operation.bodyTypes[0] === "multipart/form-data" ? form : {};
      const large = `--b\r\ncontent-disposition: form-data; name="file"; filename="f"\r\n\r\n${"x".repeat(2_000_000)}`;
      const tries: [number, RequestInit][] = [
        [415, { headers: { ...key(), "content-type": "text/csv" }, body: "a,b" }],
        [415, { headers: { ...headers, ...type, "content-encoding": "compress" }, body: "{}" }],
        [413, { headers: { ...headers, ...type }, body: large }],
      ];
      for (const [status, init] of tries) {
        const reply = await sendTo(server.url, operation, init);
        if (reply.status !== 501)
          expect([operation.operationId, reply.status]).toEqual([operation.operationId, status]);
        expectDeclared(operation, status);
      }
      expectDeclared(operation, 408);
    },
  );
});

/** Members of requests beside the model. */
const BODIES: Readonly<Record<string, object>> = {
  createResponse: { input: "Hi" },
  compactResponse: { input: "Hi" },
  countInputTokens: { input: "Hi" },
  createEmbedding: { input: "Hi" },
  createRerank: { query: "Hi", documents: ["Hi"] },
};

describe("the Responses API declares its reply to a model server's status", () => {
  verifies("http.statuses.all-are-declared");
  const asking = responsesApi.filter(({ operationId }) =>
    [...Object.keys(BODIES), "listModels", "getModel"].includes(operationId),
  );
  const statuses = [400, 401, 402, 403, 404, 405, 406, 408, 409, 410, 413, 415, 418, 422, 424, 425, 426, 429, 431, 451];

  test.each([...statuses, 300, 307, 500, 501, 502, 503, 504, 505, 507, 511, 520, 529])("%i", async (given) => {
    const { url } = await serveHttp((_request, response: ServerResponse) => {
      response.writeHead(given, JSON_TYPE).end(JSON.stringify({ error: { message: "No.", type: "x", code: "y" } }));
    });
    const server = await startTestServer({ env: { MODEL_BASE_URL: `${url}/v1` } });
    for (const operation of asking) {
      const body = operation.method === "GET" ? null : JSON.stringify({ model: "m", ...BODIES[operation.operationId] });
      const headers = { authorization: `Bearer ${server.apiKey}`, ...(body === null ? {} : JSON_TYPE) };
      const reply = await sendTo(server.url, operation, { headers, body });
      await reply.text();
      expectDeclared(operation, reply.status);
    }
  });
});

describe("the speech server declares", () => {
  verifies("http.statuses.all-are-declared");
  let server: LocalSttServer;
  beforeAll(async () => {
    server = await startLocalSttServer({ env: { BACKEND_MAX_UPLOAD_MB: "1" } });
  });
  afterAll(() => server.close());

  test.each(localStt)("what $operationId sends for bad headers", async (operation) => {
    for (const [status, headers] of [
      [400, LONG_ID],
      [403, { origin: "https://elsewhere.example" }],
    ] as const) {
      const reply = await sendTo(server.url, operation, { headers });
      expect(reply.status).toBe(status);
      expectDeclared(operation, status);
    }
  });

  test.each(localStt.filter(({ bodyTypes }) => bodyTypes.length > 0))(
    "what $operationId sends for bodies of another type, in another coding and too large",
    async (operation) => {
      const [type = ""] = operation.bodyTypes;
      const headers = { "content-type": type === "multipart/form-data" ? `${type}; boundary=b` : type };
      const large = `--b\r\ncontent-disposition: form-data; name="audio"; filename="f"\r\n\r\n${"x".repeat(5_000_000)}`;
      const tries: RequestInit[] = [
        { headers: { "content-type": "text/csv" }, body: "a,b" },
        { headers: { ...headers, "content-encoding": "compress" }, body: "{}" },
        { headers, body: large },
        { headers, body: "{" },
      ];
      for (const init of tries) {
        const reply = await sendTo(server.url, operation, init);
        await reply.text();
        expectDeclared(operation, reply.status);
      }
    },
  );

  test("and names no setting for a body limit that has none", async () => {
    const body = JSON.stringify({ text: "x".repeat(5_000_000) });
    const reply = await fetch(`${server.url}/format`, { method: "POST", headers: JSON_TYPE, body });
    const said = await reply.text();
    expect([reply.status, said]).toEqual([413, expect.stringContaining("larger than 4194304 bytes.")]);
    expect(said).not.toContain("BACKEND_MAX_UPLOAD_MB");
  });
});
