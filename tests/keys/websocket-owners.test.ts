import { on, once } from "node:events";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import { startTestServer } from "../kit/test-server.ts";
import { MODEL } from "../responses/check-refusal.ts";
import { verifies } from "../verifies.ts";
import { makeKey, runKeys } from "./keys-command.ts";
import { makeThings, startWithTwoOwners, THEIR_KEY, type Things, type TwoOwners, unknownLike } from "./two-owners.ts";

type Headers = Readonly<Record<string, string>>;

/** A connection in WebSocket mode, and the headers of the upgrade reply. */
interface Connected {
  readonly socket: WebSocket;
  readonly headers: Headers;
  /** The last event of the response to a request. */
  last(request: object): Promise<string>;
}

function dial(url: string, key: string, headers: Headers = {}): WebSocket {
  const all = { ...headers, authorization: `Bearer ${key}` };
  const socket = new WebSocket(`${url.replace("http", "ws")}/v1/responses`, { headers: all });
  onTestFinished(() => socket.terminate());
  return socket;
}

async function connect(url: string, key: string, headers: Headers = {}): Promise<Connected> {
  const socket = dial(url, key, headers);
  const [[upgrade]] = await Promise.all([once(socket, "upgrade"), once(socket, "open")]);
  const last = async (request: object): Promise<string> => {
    const messages = on(socket, "message");
    socket.send(JSON.stringify({ type: "response.create", model: MODEL, input: "Hi", ...request }));
    for await (const [data] of messages) {
      const text = String(data);
      if (/^\{"type":"(error|response\.(completed|failed|incomplete))"/.test(text)) return text;
    }
    throw new Error("the connection said nothing more");
  };
  return { socket, headers: upgrade.headers, last };
}

describe("over a WebSocket", () => {
  let two: TwoOwners;
  let ours: Things;
  beforeAll(async () => {
    two = await startWithTwoOwners();
    ours = await makeThings(two.ours);
  });
  afterAll(() => two.server.close());

  const NAMED: Readonly<Record<string, (asked: Things) => object>> = {
    previous_response_id: ({ response_id }) => ({ previous_response_id: response_id }),
    conversation: ({ conversation_id }) => ({ conversation: conversation_id }),
    item_reference: ({ output_item_id: id }) => ({ input: [{ type: "item_reference", id }] }),
    file_id: ({ file_id }) => ({ input: [{ role: "user", content: [{ type: "input_file", file_id }] }] }),
  };
  test.each(Object.entries(NAMED))(
    "another owner's %s gets the same answer as one that never existed",
    async (_name, naming) => {
      verifies("state.owner.chaining-is-checked");
      const unknown = unknownLike(ours);
      const masked = async (asked: Things): Promise<string> => {
        const connection = await connect(two.server.url, THEIR_KEY);
        let text = await connection.last(naming(asked));
        for (const id of Object.values(asked)) text = text.replaceAll(id, "ASKED");
        return text;
      };
      const nothing = await masked(unknown);
      expect(nothing).toMatch(/^\{"type":"error","status":4/);
      expect(await masked(ours)).toBe(nothing);
    },
  );

  test("the upgrade reply shows the key's owner, and the upgrade is routed like any request", async () => {
    verifies("auth.headers.routing-is-echoed", "auth.headers.routing-within-the-key");
    const { headers } = await connect(two.server.url, THEIR_KEY, { "openai-project": "theirs" });
    expect([headers["openai-organization"], headers["openai-project"]]).toEqual(["acme", "theirs"]);
    const refused = dial(two.server.url, THEIR_KEY, { "openai-project": "ours" });
    refused.on("error", () => {});
    const [, reply] = await once(refused, "unexpected-response");
    expect(reply.statusCode).toBe(401);
  });

  test("a key beyond its limit gets an error, and the connection stays usable", async () => {
    verifies("errors.ratelimit.own-limit-is-429", "errors.ratelimit.parsable-delay-text");
    const server = await startTestServer({ env: { RATE_LIMIT_REQUESTS_PER_MINUTE: "1" } });
    const connection = await connect(server.url, server.apiKey);
    expect(await connection.last({})).toMatch(/^\{"type":"response.completed"/);
    const refusal = JSON.parse(await connection.last({}));
    expect(refusal).toMatchObject({ type: "error", status: 429, error: { code: "rate_limit_error" } });
    expect(refusal.error.message).toMatch(/try again in \d+(\.\d+)?s\.$/);
    expect(connection.socket.readyState).toBe(WebSocket.OPEN);
  });

  test("a revoked key cannot start anything more on an open connection", async () => {
    verifies("auth.keys.made-listed-revoked");
    const key = await makeKey(two.server.dataDir);
    const connection = await connect(two.server.url, key);
    expect(await connection.last({})).toMatch(/^\{"type":"response.completed"/);
    const { out } = await runKeys(two.server.dataDir, "list");
    const id =
      out
        .split("\n")
        .find((line) => line.includes(`…${key.slice(-4)}`))
        ?.split(" ")[0] ?? "";
    await runKeys(two.server.dataDir, "revoke", id);
    await expect.poll(() => connection.last({}), { timeout: 4_000, interval: 250 }).toMatch(/"code":"invalid_api_key"/);
  });
});
