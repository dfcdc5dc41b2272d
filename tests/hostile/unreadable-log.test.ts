import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { expireLease, serveModel, start } from "../crash/lives.ts";
import type { ChildServer } from "../kit/child-server.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { query } from "../kit/tested-store.ts";
import { expectDense, type ReadStream, readStream } from "../outages/nodes.ts";
import { isShort } from "../trials.ts";
import { verifies } from "../verifies.ts";
import { openSocket } from "../websocket/socket.ts";

const TEST_TIMEOUT_MS = 120_000;

/** Two servers on one database. */
async function startTwo() {
  const [folder, model] = [temporaryFolder(), await serveModel()];
  const log = { LOG_LEVEL: "warn" };
  const [maker, other] = [await start(folder, model.url, log), await start(folder, model.url, log)];
  const body = { model: "m", input: "wait", stream: true, stream_options: { include_obfuscation: false } };
  return { folder, maker, other, streamed: readStream(await maker.post("/v1/responses", body)) };
}

/** Makes the log unreadable for all servers, which nobody can expect to pass; or readable again. */
async function breakLog(folder: string): Promise<void> {
  await query(folder, "alter table event_chunks rename to event_chunks_away");
}

async function mendLog(folder: string): Promise<void> {
  await query(folder, "alter table event_chunks_away rename to event_chunks");
}

async function attach(server: ChildServer, id: string, after = ""): Promise<ReadStream> {
  return readStream(await server.fetch(`/v1/responses/${id}/events?dialect=reference${after}`));
}

/** The lines of the log about streams that were cut. */
function cuts(server: ChildServer): readonly object[] {
  return server.lines().filter(({ msg }) => String(msg).startsWith("cutting a stream"));
}

test(
  "an attached stream whose log cannot be read is cut without an event, and the log of the server says once why",
  async () => {
    verifies("responses.stream.unreadable-is-cut");
    const { folder, other, streamed } = await startTwo();
    const id = await streamed.id;
    const attached = await attach(other, id);
    await expect.poll(() => attached.types).toContain("response.output_text.delta");
    await breakLog(folder);
    expect(await attached.over).toBe(false);
    expectDense(attached.numbers);
    expect(attached.types).not.toContain("error");
    await expect
      .poll(() => cuts(other))
      .toMatchObject([
        {
          level: 50,
          responseId: id,
          requestId: expect.stringMatching(/^req_/),
          err: { cause: { message: expect.stringContaining("no such table") } },
        },
      ]);
  },
  TEST_TIMEOUT_MS,
);

test.skipIf(isShort)(
  "streams of responses that another server took, and whose log cannot be read, are cut, and can be resumed afterwards",
  async () => {
    verifies("responses.stream.unreadable-is-cut");
    const { folder, maker, streamed } = await startTwo();
    const socket = await openSocket(maker);
    socket.ask({ model: "m", input: "wait" });
    await socket.until("response.output_text.delta");
    await expect.poll(() => streamed.types).toContain("response.output_text.delta");
    const underWay = () => query(folder, "select id from responses where status = 'in_progress'");
    maker.pause();
    await expireLease(folder);
    while ((await underWay()).length > 0) await sleep(50); // The other server ends the responses as failed.
    await breakLog(folder);
    maker.resume();
    expect(await streamed.over).toBe(false);
    expect(await socket.closed).toBe(1013);
    for (const types of [streamed.types, socket.frames.map(({ type }) => type)]) {
      expect(types.at(-1)).toBe("response.output_text.delta");
      expect(types).not.toContain("error");
    }
    await expect.poll(() => cuts(maker)).toHaveLength(2);
    await mendLog(folder);
    const rest = await attach(maker, await streamed.id, `&starting_after=${streamed.numbers.at(-1)}`);
    expect(await rest.over).toBe(true);
    expectDense([...streamed.numbers, ...rest.numbers]);
    expect(rest.types.at(-1)).toBe("response.failed");
  },
  TEST_TIMEOUT_MS,
);
