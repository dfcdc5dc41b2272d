import { describe, expect, onTestFinished, test } from "vitest";
import { sse, textChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { type Answer, serveBehind } from "../responses/behind-upstream.ts";
import { verifies } from "../verifies.ts";
import { isRefusal, openSocket, type ServerFrame, type TestSocket } from "./socket.ts";

const ASK = { model: "m", input: "Hi", store: false };

/** A socket of a server whose model starts and never ends, or says nothing. `left` counts its aborted calls. */
async function openEndless({ speaks = true } = {}) {
  let left = 0;
  const answer: Answer = (response, { path }) => {
    if (!path.endsWith("/chat/completions")) return response.writeHead(404).end();
    response.once("close", () => left++);
    onTestFinished(() => void response.destroy());
    if (!speaks) return null;
    response.writeHead(200, { "content-type": "text/event-stream" });
    return response.write(sse(textChunk("The sea")));
  };
  const behind = await serveBehind(answer, speaks ? {} : { STREAM_START_WAIT_MS: "60000" });
  return { ...behind, socket: await openSocket(behind.server), left: () => left };
}

/** The id of the response in progress in a lane, once it has output. */
async function speaking(socket: TestSocket, lane?: string): Promise<string> {
  const created = await socket.until("response.created", lane);
  await socket.until("response.output_text.delta", lane);
  return "response" in created ? created.response.id : "";
}

const endOf = (frames: readonly ServerFrame[]): unknown => {
  const last = frames.at(-1);
  return last !== undefined && "response" in last ? [last.type, last.response.status] : last?.type;
};
const CANCELLED = ["response.failed", "cancelled"];

describe("response.cancel", () => {
  test.each([true, false])(
    "stops the response with its id (stored: %s), aborts the model call and leaves the socket open",
    async (store) => {
      verifies("websocket.responses.cancel");
      const { socket, left, server } = await openEndless();
      for (const turn of [1, 2]) {
        socket.ask({ ...ASK, store });
        const id = await speaking(socket);
        socket.send({ type: "response.cancel", response_id: id });
        const { frames, response } = await socket.turn();
        expect(endOf(frames)).toEqual(CANCELLED);
        expect(response.output).toMatchObject([{ status: "incomplete", content: [{ text: "The sea" }] }]);
        await expect.poll(left).toBe(turn);
        const kept = await server.fetch(`/v1/responses/${id}`);
        expect(kept.status).toBe(store ? 200 : 404);
        if (store) expect(await kept.json()).toMatchObject({ status: "cancelled" });
      }
    },
  );

  test("without an id stops the response of its lane, or the only one of the connection", async () => {
    verifies("websocket.responses.cancel");
    const { socket } = await openEndless();
    for (const stream_id of ["a", "b"]) {
      socket.ask({ ...ASK, stream_id });
      await speaking(socket, stream_id);
    }
    socket.send({ type: "response.cancel" });
    const refused = await socket.frame();
    expect(isRefusal(refused) && refused).toMatchObject({
      status: 404,
      error: { code: "response_not_found", param: null },
    });
    socket.send({ type: "response.cancel", stream_id: "a" });
    expect(endOf((await socket.turn("a")).frames)).toEqual(CANCELLED);
    socket.send({ type: "response.cancel", response_id: null });
    expect(endOf((await socket.turn("b")).frames)).toEqual(CANCELLED);
  });

  test("lets the next frame of the lane start", async () => {
    verifies("websocket.responses.cancel");
    const { socket } = await openEndless();
    socket.ask(ASK);
    const id = await speaking(socket);
    socket.ask({ ...ASK, input: "Next" });
    socket.send({ type: "response.cancel", response_id: id });
    expect(endOf((await socket.turn()).frames)).toEqual(CANCELLED);
    expect(await speaking(socket)).not.toBe(id);
  });

  test("stops a response that its model has not accepted yet", async () => {
    verifies("websocket.responses.cancel");
    const { socket, left, upstream } = await openEndless({ speaks: false });
    socket.ask(ASK);
    await expect.poll(() => upstream.calls.filter(({ path }) => path.endsWith("/chat/completions")).length).toBe(1);
    socket.send({ type: "response.cancel" });
    expect(endOf((await socket.turn()).frames)).toEqual(CANCELLED);
    await expect.poll(left).toBe(1);
  });

  test("gets an error for a response that is not in progress on the connection", async () => {
    verifies("websocket.responses.cancel");
    const { socket, server } = await openEndless();
    const other = await openSocket(server);
    other.ask(ASK);
    const elsewhere = await speaking(other);
    for (const response_id of ["resp_x", elsewhere]) {
      socket.send({ type: "response.cancel", response_id });
      expect((await socket.turn()).refusal).toEqual({
        type: "error",
        status: 404,
        error: {
          type: "invalid_request_error",
          code: "response_not_found",
          param: "response_id",
          message: `Response with id '${response_id}' not found among those that are being made on this connection.`,
        },
      });
    }
    socket.send({ type: "response.cancel" });
    expect((await socket.turn()).refusal.error).toMatchObject({ code: "response_not_found", param: null });
    const wrong = [{ response_id: 7 }, { reason: "late" }];
    for (const [index, code] of ["invalid_type", "unknown_parameter"].entries()) {
      socket.send({ type: "response.cancel", ...wrong[index] });
      expect((await socket.turn()).refusal.error.code).toBe(code);
    }
    other.send({ type: "response.cancel", response_id: elsewhere });
    expect(endOf((await other.turn()).frames)).toEqual(CANCELLED);
  });
});

test("an invalid frame gets its error at once, even while a response is in progress", async () => {
  verifies("websocket.responses.errors-at-once");
  const { socket } = await openEndless();
  socket.ask(ASK);
  const id = await speaking(socket);
  const wrong = [
    "nonsense",
    "[]",
    { type: "nothing" },
    { type: "response.create", model: "m" },
    { type: "response.create", ...ASK, colour: 1 },
  ];
  const codes: (string | null)[] = [];
  for (const frame of wrong) {
    socket.send(frame);
    const refused = await socket.until("error");
    codes.push(isRefusal(refused) ? refused.error.code : null);
    socket.frames.splice(socket.frames.indexOf(refused), 1);
  }
  expect(codes).toEqual([
    "invalid_json",
    "invalid_type",
    "invalid_value",
    "missing_required_parameter",
    "unknown_parameter",
  ]);
  socket.send({ type: "response.cancel", response_id: id });
  expect(endOf((await socket.turn()).frames)).toEqual(CANCELLED);
});
