import { expect, test } from "vitest";
import { lastChunk, serveChat, sse, textChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { textPieces } from "../kit/event-stream.ts";
import { isAlive } from "../kit/processes.ts";
import { readResponse, readStream } from "../responses/read-stream.ts";
import { verifies } from "../verifies.ts";
import { type SeveralProcesses, startProcesses, TEST_TIMEOUT_MS } from "./several-processes.ts";

const WORDS = 30;
const WORD_MS = 100;

/** Speaks slowly. The first answer to `hang` never begins. */
async function serveSlowly() {
  const hung: string[] = [];
  const { origin } = await serveChat(async (response, { body }) => {
    if (body.includes("hang") && hung.length === 0) return void hung.push(body);
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (let word = 0; word < WORDS; word++) {
      response.write(sse(textChunk(`word${word} `)));
      await new Promise((resolve) => setTimeout(resolve, WORD_MS));
    }
    return response.end(sse(lastChunk("stop"), "[DONE]"));
  });
  return { url: `${origin}/v1`, hasHung: () => hung.length > 0 };
}

interface OpenStream {
  readonly maker: number;
  /** The text of the stream; what had arrived if the connection broke. */
  readonly text: Promise<string>;
}

async function openStream(server: SeveralProcesses): Promise<OpenStream> {
  const reply = await server.post("/v1/responses", { model: "m", input: "Tell", stream: true });
  const opened = Promise.withResolvers<string>();
  const read = async (): Promise<string> => {
    let text = "";
    try {
      for await (const piece of textPieces(reply)) {
        text += piece;
        const id = /"id":"(resp_\w+)"/.exec(text)?.[1];
        if (id !== undefined) opened.resolve(id);
      }
    } catch {
      // Its process was killed.
    }
    return text;
  };
  const text = read();
  return { maker: await server.makerOf(await opened.promise), text };
}

test(
  "a killed process is replaced, its background response is taken over, and the streams of others go on",
  async () => {
    verifies("operations.processes.deaths");
    const model = await serveSlowly();
    const server = await startProcesses(2, { env: { MODEL_BASE_URL: model.url } });
    const before = server.pids();
    const background = await readResponse(
      await server.post("/v1/responses", { model: "m", input: "hang", background: true }),
    );
    const victim = await server.makerOf(background.id);
    await expect.poll(model.hasHung).toBe(true);
    const streams = await Promise.all(Array.from({ length: 6 }, () => openStream(server)));
    process.kill(victim, "SIGKILL");
    await expect.poll(() => server.pids().filter((pid) => !before.includes(pid)).length).toBe(1);
    const texts = await Promise.all(streams.map(({ text }) => text));
    const spared = texts.filter((_, index) => streams[index]?.maker !== victim);
    expect(spared.length).toBeGreaterThan(0);
    for (const text of spared) {
      const { final } = await readStream(new Response(text));
      expect(final).toMatchObject({ status: "completed" });
    }
    const path = `/v1/responses/${background.id}`;
    const status = async () => (await readResponse(await server.fetch(path))).status;
    await expect.poll(status, { timeout: 60_000 }).toBe("completed");
    expect(server.lines()).toContainEqual(
      expect.objectContaining({ msg: "a process died", childPid: victim, process: "primary", level: 50 }),
    );
    expect(await server.stop()).toBe(0);
  },
  TEST_TIMEOUT_MS,
);

test(
  "SIGHUP replaces all processes without a refused connection or a cut stream",
  async () => {
    verifies("operations.processes.restart");
    const model = await serveSlowly();
    const server = await startProcesses(2, { env: { MODEL_BASE_URL: model.url, DRAIN_MS: "60s" } });
    const before = server.pids();
    const streams = await Promise.all(Array.from({ length: 4 }, () => openStream(server)));
    process.kill(server.pid, "SIGHUP");
    const statuses: number[] = [];
    const isOver = () => server.lines().some(({ msg }) => msg === "all processes restarted");
    while (!isOver()) {
      const replies = await Promise.all(["/healthz", "/readyz"].map((path) => server.fetch(path)));
      statuses.push(...replies.map(({ status }) => status));
      streams.push(await openStream(server));
    }
    expect(statuses).toEqual(statuses.map(() => 200));
    expect(streams.length).toBeGreaterThan(4);
    for (const { text } of streams)
      expect((await readStream(new Response(await text))).final).toMatchObject({ status: "completed" });
    const after = server.pids();
    expect(after).toHaveLength(2);
    expect(after.filter((pid) => before.includes(pid))).toEqual([]);
    expect(server.said().match(/^Responses API/gm)).toHaveLength(1);
  },
  TEST_TIMEOUT_MS,
);

test.each(["SIGTERM", "SIGINT"] as const)(
  "%s lets the streams of all processes end, and then all with code 0",
  async (signal) => {
    verifies("operations.processes.restart");
    const model = await serveSlowly();
    const server = await startProcesses(2, { env: { MODEL_BASE_URL: model.url, DRAIN_MS: "60s" } });
    const pids = server.pids();
    const streams = await Promise.all(Array.from({ length: 4 }, () => openStream(server)));
    expect(new Set(streams.map(({ maker }) => maker)).size).toBe(2);
    expect(await server.stop(signal)).toBe(0);
    for (const { text } of streams)
      expect((await readStream(new Response(await text))).final).toMatchObject({ status: "completed" });
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  },
  TEST_TIMEOUT_MS,
);

test(
  "the processes end by themselves if the primary is killed",
  async () => {
    verifies("operations.processes.deaths");
    const server = await startProcesses(2);
    const pids = server.pids();
    await server.kill();
    await expect.poll(() => pids.filter(isAlive)).toEqual([]);
  },
  TEST_TIMEOUT_MS,
);
