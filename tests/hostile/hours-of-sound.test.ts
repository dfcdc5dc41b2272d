import { expect, test } from "vitest";
import { memoryOf } from "../kit/processes.ts";
import { startChildToneServer } from "../local-stt/child-tone-server.ts";
import { silentOpus } from "../local-stt/oversized-files.ts";
import { program } from "../local-stt/tone-server.ts";
import { verifies } from "../verifies.ts";

const MEBIBYTE = 1024 * 1024;
/** Ogg pages of half a minute. They make an hour, which is 115 MB as samples. */
const PAGES = 120;
const AT_ONCE = 2;
/** Memory for the decoding threads, about 60 MB each. The samples of the recordings would take more. */
const GROWTH_BYTES_MAX = 200 * MEBIBYTE;

test.skipIf(program === null || process.platform !== "linux")(
  "the Responses API transcribes small files of many hours without holding their samples in memory",
  { timeout: 120_000 },
  async () => {
    verifies("media.audio.memory-is-bounded");
    const server = await startChildToneServer();
    const ask = (data: Buffer): Promise<Response> =>
      server.post("/v1/responses", {
        model: "antiphon-built-in",
        input: [{ type: "input_audio", data: data.toString("base64"), format: "ogg" }],
      });
    await (await ask(silentOpus(1))).text();
    const { peakBytes: before } = await memoryOf(server.pid);
    // Each file differs, so no answer comes from a cache.
    const replies = await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => ask(silentOpus(PAGES + index))));
    for (const reply of replies) expect([reply.status, await reply.text()]).toEqual([200, expect.any(String)]);
    expect((await memoryOf(server.pid)).peakBytes - before).toBeLessThan(GROWTH_BYTES_MAX);
    expect(server.complaints()).toBe("");
  },
);
