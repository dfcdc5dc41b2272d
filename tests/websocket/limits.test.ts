import { expect, test } from "vitest";
import { makeKey, runKeys } from "../keys/keys-command.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { MODEL, openSocket, refusedUpgrade, type TestSocket } from "./socket.ts";

const SCENARIO = `
scenarios:
  - when: { input_contains: slowly }
    events: [{ text: Slow }, { delay_ms: 1700 }, { text: " and late." }]
  - when: { input_contains: for ever }
    events: [{ text: Begun }, { delay_ms: 600000 }, { text: " and done." }]
`;
const LIFETIME_MS = 1200;
const KEYS = ["sk-first-key-0123456789abcdef", "sk-second-key-0123456789abcdef"] as const;

async function serve(env: Readonly<Record<string, string>> = {}): Promise<TestServer> {
  return await startTestServer({ env, scenario: SCENARIO });
}

async function serveWithShortLifetime(): Promise<TestSocket> {
  return openSocket(await serve({ WEBSOCKET_LIFETIME_MS: String(LIFETIME_MS) }));
}

const LIMIT = {
  type: "error",
  status: 400,
  error: {
    type: "invalid_request_error",
    code: "websocket_connection_limit_reached",
    param: null,
    message:
      "Responses websocket connection limit reached (1.2 seconds). Create a new websocket connection to continue.",
  },
};

test("a connection at its time limit gets an error and is closed", async () => {
  verifies("websocket.responses.lifetime");
  const socket = await serveWithShortLifetime();
  expect((await socket.create()).response.status).toBe("completed");
  expect((await socket.turn()).refusal).toEqual(LIMIT);
  expect(await socket.closed).toBe(1000);
});

test("a response in progress at the time limit may end", async () => {
  verifies("websocket.responses.lifetime");
  const socket = await serveWithShortLifetime();
  socket.ask({ input: "slowly" });
  expect((await socket.turn()).text).toBe("Slow and late.");
  expect((await socket.turn()).refusal).toEqual(LIMIT);
  expect(await socket.closed).toBe(1000);
});

test("frames queued at the time limit are refused, each in its lane", async () => {
  const socket = await serveWithShortLifetime();
  for (const stream_id of ["a", "a", "b"]) socket.ask({ input: "slowly", stream_id });
  socket.ask({ stream_id: "b" });
  for (const lane of ["a", "b"]) {
    expect((await socket.turn(lane)).text).toBe("Slow and late.");
    expect((await socket.turn(lane)).refusal).toEqual({ ...LIMIT, stream_id: lane });
  }
  expect(await socket.closed).toBe(1000);
  expect(socket.frames).toEqual([]);
});

test("a response that does not end in time is cancelled", async () => {
  const socket = await serveWithShortLifetime();
  socket.ask({ input: "for ever" });
  expect((await socket.turn()).response).toMatchObject({ status: "cancelled" });
  expect((await socket.turn()).refusal).toEqual(LIMIT);
  expect(await socket.closed).toBe(1000);
});

test("if WebSocket mode is off, an upgrade gets 426", async () => {
  verifies("websocket.responses.switched-off");
  const server = await serve({ WEBSOCKET_MODE: "false" });
  const { status, body } = await refusedUpgrade(server, { authorization: `Bearer ${server.apiKey}` });
  expect(status).toBe(426);
  expect(body).toMatchObject({ error: { code: "upgrade_required" } });
  expect((await server.post("/v1/responses", { model: MODEL, input: "Hi" })).status).toBe(200);
});

test("an upgrade needs a key", async () => {
  verifies("websocket.responses.needs-the-key");
  const server = await serve();
  const none = await refusedUpgrade(server, {});
  const wrong = await refusedUpgrade(server, { authorization: "Bearer sk-wrong-0123456789abcdef" });
  expect([none.status, wrong.status]).toEqual([401, 401]);
  expect(wrong.body).toMatchObject({ error: { code: "invalid_api_key" } });
});

test("a revoked key is refused at the next frame", async () => {
  verifies("websocket.responses.revoked-key");
  const server = await serve();
  const apiKey = await makeKey(server.dataDir);
  const socket = await openSocket(server, { apiKey });
  expect((await socket.create()).response.status).toBe("completed");
  const { out } = await runKeys(server.dataDir, "list");
  const id =
    out
      .split("\n")
      .find((line) => line.includes(`…${apiKey.slice(-4)}`))
      ?.split(" ")[0] ?? "";
  expect((await runKeys(server.dataDir, "revoke", id)).code).toBe(0);
  const statusOfNext = async (): Promise<number> => {
    const turn = await socket.create();
    return turn.types[0] === "error" ? turn.refusal.status : 200;
  };
  await expect.poll(statusOfNext, { timeout: 15_000, interval: 200 }).toBe(401);
});

test("connections beyond the maximum are told to retry later, and succeed once one has left", async () => {
  verifies("websocket.responses.connections-limit");
  const server = await serve({ WEBSOCKET_CONNECTIONS_MAX: "2" });
  const [first] = [await openSocket(server), await openSocket(server)];
  const refused = await refusedUpgrade(server, { authorization: `Bearer ${server.apiKey}` });
  expect(refused.status).toBe(503);
  expect(refused.headers).toMatchObject({ "retry-after": "1" });
  expect(refused.body).toMatchObject({ error: { code: "server_is_overloaded" } });
  first.leave();
  const open = (): Promise<boolean> => openSocket(server).then(() => true);
  await expect.poll(open, { timeout: 2000 }).toBe(true);
});

test("connections of one key beyond its maximum are refused, and those of other keys are not", async () => {
  verifies("websocket.responses.connections-per-key");
  const server = await serve({ WEBSOCKET_CONNECTIONS_PER_KEY_MAX: "2", API_KEYS: `${KEYS[0]},${KEYS[1]}` });
  const [first] = [await openSocket(server), await openSocket(server)];
  const refused = await refusedUpgrade(server, { authorization: `Bearer ${KEYS[0]}` });
  expect(refused.status).toBe(429);
  expect(refused.headers).toMatchObject({ "retry-after": "1" });
  expect(refused.body).toMatchObject({ error: { type: "rate_limit_error", code: "rate_limit_error" } });
  const other = await openSocket(server, { apiKey: KEYS[1] });
  expect((await other.create()).response.status).toBe("completed");
  first.leave();
  const open = (): Promise<boolean> =>
    openSocket(server).then(
      () => true,
      () => false,
    );
  await expect.poll(open, { timeout: 2000 }).toBe(true);
});

test("a stopping server lets responses end, starts no others, and closes", async () => {
  verifies("websocket.responses.drain");
  const server = await startTestServer({ scenario: SCENARIO, env: { DRAIN_MS: "5000" } });
  const [busy, idle] = [await openSocket(server), await openSocket(server)];
  busy.ask({ input: "slowly" });
  busy.ask();
  await busy.until("response.output_text.delta");
  const stopped = server.close();
  expect(await idle.closed).toBe(1001);
  expect(idle.frames).toEqual([]);
  expect((await busy.turn()).text).toBe("Slow and late.");
  expect((await busy.turn()).refusal).toMatchObject({ status: 503, error: { code: "server_is_overloaded" } });
  expect(await busy.closed).toBe(1001);
  await stopped;
});

test("a response that outlasts the drain of a server ends with its last event before 1001", async () => {
  verifies("websocket.responses.drain", "transport.drain.cut-streams-are-told");
  const server = await startTestServer({ scenario: SCENARIO, env: { DRAIN_MS: "100" } });
  const socket = await openSocket(server);
  for (const stream_id of ["a", "b"]) socket.ask({ input: "for ever", stream_id });
  for (const lane of ["a", "b"]) await socket.until("response.output_text.delta", lane);
  const stopped = server.close();
  for (const lane of ["a", "b"]) expect((await socket.turn(lane)).response).toMatchObject({ status: "cancelled" });
  expect(await socket.closed).toBe(1001);
  await stopped;
});
