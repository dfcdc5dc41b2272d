import { expect, test } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { openSocket, type TestSocket } from "../websocket/socket.ts";

const MEBIBYTE = 1024 * 1024;
const SCENARIO = `
scenarios:
  - when: { input_contains: for ever }
    events: [{ text: Begun }, { delay_ms: 600000 }, { text: " and done." }]
`;
/** Of the 2 MiB allowed for a message. */
const LARGE = "x".repeat(1.5 * MEBIBYTE);

async function serve(): Promise<TestServer> {
  const env = {
    BODY_BYTES_MAX: String(2 * MEBIBYTE),
    BACKEND_MAX_UPLOAD_MB: "1",
    INCOMING_BYTES_MAX: String(4 * MEBIBYTE),
  };
  return await startTestServer({ env, scenario: SCENARIO });
}

const OVERLOADED = { type: "error", status: 503, error: { code: "server_is_overloaded" } };

/** Sends the start of a message, and never its end. */
async function begin(server: TestServer): Promise<TestSocket> {
  const socket = await openSocket(server);
  socket.socket.send(LARGE, { fin: false });
  return socket;
}

test("unfinished messages hold at most the budget, and small messages pass", async () => {
  verifies("websocket.responses.incoming-budget");
  const server = await serve();
  const sockets = await Promise.all(Array.from({ length: 12 }, () => begin(server)));
  const closed = (): readonly TestSocket[] => sockets.filter(({ socket }) => socket.readyState === socket.CLOSED);
  await expect.poll(() => closed().length, { timeout: 10_000 }).toBeGreaterThanOrEqual(10);
  for (const { frames } of closed()) expect(frames).toMatchObject([OVERLOADED]);
  const small = await openSocket(server);
  expect((await small.create({ store: false })).response.status).toBe("completed");
  for (const socket of sockets) socket.leave();
  const large = async (): Promise<number> =>
    (await server.post("/v1/responses", { model: "antiphon-built-in", input: LARGE })).status;
  await expect.poll(large, { timeout: 5_000 }).toBe(200);
});

test("queued messages count too", async () => {
  verifies("websocket.responses.incoming-budget");
  const server = await serve();
  const [waiting, other] = [await openSocket(server), await openSocket(server)];
  waiting.ask({ input: "for ever" });
  await waiting.until("response.output_text.delta");
  for (let frame = 0; frame < 2; frame += 1) waiting.ask({ input: LARGE });
  waiting.send("not JSON");
  expect(await waiting.until("error")).toMatchObject({ status: 400 }); // Both frames have been read and are queued.
  const create = async (): Promise<number> =>
    (await server.post("/v1/responses", { model: "antiphon-built-in", input: LARGE })).status;
  await expect.poll(create, { timeout: 5_000 }).toBe(503);
  other.ask({ input: LARGE });
  expect((await other.turn()).refusal).toMatchObject(OVERLOADED);
  expect(await other.closed).toBe(1011);
  expect((await (await openSocket(server)).create({ store: false })).response.status).toBe("completed");
  waiting.leave();
  await expect.poll(create, { timeout: 5_000 }).toBe(200);
});
