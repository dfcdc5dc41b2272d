import { describe, expect, onTestFinished, test } from "vitest";
import { lastChunk, sse, textChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { startTestServer } from "../kit/test-server.ts";
import { type BehindUpstream, serveBehind } from "../responses/behind-upstream.ts";
import { verifies } from "../verifies.ts";
import { openSocket, type ServerFrame } from "./socket.ts";

interface HeldModel extends BehindUpstream {
  /** The last user messages of the calls in progress, in order of arrival. */
  readonly held: readonly string[];
  /** Lets the model answer its latest call with this text. */
  answer(input: string): void;
}

/** A model server that answers when the test says so. */
async function startHeldModel(): Promise<HeldModel> {
  const held: string[] = [];
  const answers = new Map<string, () => void>();
  const behind = await serveBehind((response, { path, body }) => {
    if (!path.endsWith("/chat/completions")) return response.writeHead(404).end();
    const input: string = JSON.parse(body).messages.at(-1).content;
    held.push(input);
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(sse(textChunk(`to ${input}`)));
    answers.set(input, () => response.end(sse(lastChunk("stop"), "[DONE]")));
  });
  onTestFinished(() => [...answers.values()].forEach((end) => end()));
  return { ...behind, held, answer: (input) => answers.get(input)?.() };
}

const ASK = { model: "m", store: false };

test("without a lane, responses are made one at a time, in order", async () => {
  verifies("websocket.responses.one-at-a-time");
  const model = await startHeldModel();
  const socket = await openSocket(model.server);
  for (const input of ["one", "two", "three"]) socket.ask({ ...ASK, input });
  for (const [index, input] of ["one", "two", "three"].entries()) {
    await expect.poll(() => model.held.length, { interval: 5 }).toBe(index + 1);
    model.answer(input);
    expect((await socket.turn()).text).toBe(`to ${input}`);
  }
});

test("frames of one lane are served in order, and lanes in parallel", async () => {
  verifies("websocket.responses.lanes-run-in-parallel");
  const model = await startHeldModel();
  const socket = await openSocket(model.server);
  for (const input of ["a1", "a2"]) socket.ask({ ...ASK, input, stream_id: "a" });
  for (const input of ["b1", "b2"]) socket.ask({ ...ASK, input, stream_id: "b" });
  socket.ask({ ...ASK, input: "none" });
  await expect.poll(() => model.held.toSorted(), { interval: 5 }).toEqual(["a1", "b1", "none"]);
  model.answer("b1");
  const first = await socket.turn("b");
  expect(first.text).toBe("to b1");
  expect(first.frames.every((frame) => laneOf(frame) === "b")).toBe(true);
  expect(first.frames.map((frame) => ("sequence_number" in frame ? frame.sequence_number : null))).toEqual(
    first.frames.map((_, index) => index),
  );
  await expect.poll(() => model.held.at(-1), { interval: 5 }).toBe("b2");
  expect(model.held).not.toContain("a2");
  for (const input of ["a1", "b2", "none"]) model.answer(input);
  expect((await socket.turn("a")).text).toBe("to a1");
  expect((await socket.turn("b")).text).toBe("to b2");
  const laneless = await socket.turn();
  expect(laneless.text).toBe("to none");
  expect(laneless.frames.every((frame) => laneOf(frame) === undefined)).toBe(true);
});

test("a 33rd lane is refused, and the other 32 continue", async () => {
  verifies("websocket.responses.lane-limit");
  const server = await startTestServer();
  const socket = await openSocket(server);
  const names = Array.from({ length: 32 }, (_, index) => `lane_${index}.-`);
  for (const stream_id of names) socket.ask({ stream_id });
  for (const name of names) expect((await socket.turn(name)).response.status).toBe("completed");
  expect((await socket.create({ stream_id: "one_more" })).refusal).toEqual({
    type: "error",
    status: 400,
    stream_id: "one_more",
    error: {
      type: "invalid_request_error",
      code: "websocket_stream_limit_reached",
      param: "stream_id",
      message:
        "This WebSocket connection has reached its maximum number of distinct stream IDs (32). Reuse an existing stream_id or open a new WebSocket connection.",
    },
  });
  expect((await socket.create({ stream_id: "lane_31.-" })).response.status).toBe("completed");
  expect((await socket.create()).response.status).toBe("completed");
});

test("16 responses are made at the same time, and the others wait", async () => {
  verifies("websocket.responses.in-flight-limit");
  const model = await startHeldModel();
  const socket = await openSocket(model.server);
  const names = Array.from({ length: 20 }, (_, index) => `lane${index}`);
  for (const name of names) socket.ask({ ...ASK, input: name, stream_id: name });
  await expect.poll(() => model.held.length, { interval: 5 }).toBe(16);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(model.held.toSorted()).toEqual(names.slice(0, 16).toSorted());
  for (const [index, name] of names.entries()) {
    await expect.poll(() => model.held.includes(name), { interval: 5 }).toBe(true);
    model.answer(name);
    expect((await socket.turn(name)).text).toBe(`to ${name}`);
    await expect.poll(() => model.held.length, { interval: 5 }).toBe(Math.min(20, 17 + index));
  }
});

describe("a lane continues the response of another lane", () => {
  test("that has ended", async () => {
    verifies("websocket.responses.fork");
    const model = await startHeldModel();
    const socket = await openSocket(model.server);
    socket.ask({ ...ASK, input: "trunk", stream_id: "a" });
    await socket.until("response.output_text.delta", "a");
    model.answer("trunk");
    const trunk = await socket.turn("a");
    for (const name of ["b", "c"]) {
      socket.ask({ ...ASK, input: `branch ${name}`, stream_id: name, previous_response_id: trunk.response.id });
      await socket.until("response.output_text.delta", name);
      expect(model.asked()).toMatchObject({ messages: messages("trunk", "to trunk", `branch ${name}`) });
      model.answer(`branch ${name}`);
      await socket.turn(name);
    }
  });

  test.each([true, false])("that is in progress, once it has ended (store: %s)", async (store) => {
    verifies("websocket.responses.fork");
    const model = await startHeldModel();
    const socket = await openSocket(model.server);
    socket.ask({ ...ASK, store, input: "trunk", stream_id: "a" });
    const created = await socket.until("response.in_progress", "a");
    const id = "response" in created ? created.response.id : "";
    socket.ask({ ...ASK, input: "branch", stream_id: "b", previous_response_id: id });
    socket.ask({ ...ASK, store, input: "next", stream_id: "a" });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(model.held).toEqual(["trunk"]);
    model.answer("trunk");
    await expect.poll(() => model.held.toSorted(), { interval: 5 }).toEqual(["branch", "next", "trunk"]);
    for (const input of ["branch", "next"]) model.answer(input);
    expect((await socket.turn("b")).text).toBe("to branch");
    const asked = model.upstream.calls.map(({ body }) => body).find((body) => body.includes("branch"));
    expect(JSON.parse(asked ?? "")).toMatchObject({ messages: messages("trunk", "to trunk", "branch") });
  });
});

function messages(first: string, answer: string, second: string): object {
  return [
    { role: "user", content: first },
    { role: "assistant", content: answer },
    { role: "user", content: second },
  ];
}

function laneOf(frame: ServerFrame): string | undefined {
  return "stream_id" in frame ? frame.stream_id : undefined;
}
