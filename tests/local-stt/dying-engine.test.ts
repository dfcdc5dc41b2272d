import { setTimeout as sleep } from "node:timers/promises";
import { isRecord } from "@antiphon/base/json/records.ts";
import { wavFile } from "@antiphon/speech/audio-formats/encoded-sound.fixture.ts";
import { expect, test } from "vitest";
import { memoryOf } from "../kit/processes.ts";
import { postAudio } from "../kit/upload.ts";
import { tones } from "../speech/tones.ts";
import { enginePids } from "../speech/whisper-for-tests.ts";
import { verifies } from "../verifies.ts";
import { programsOf, startChildToneServer } from "./child-tone-server.ts";
import { randomNumbers } from "./mutated-files.ts";
import { chunk, exchange } from "./stream-client.ts";
import { program } from "./tone-server.ts";

const MEBIBYTE = 1024 * 1024;
const REQUESTS = 100;
const AT_ONCE = 4;
const SPOKEN = wavFile(tones("eight", "two"), 16_000);
const CODES = ["transcription_failed", "model_failed", "model_loading", "busy"];
const random = randomNumbers(7);

/** Sends a request in one of three ways. Returns the words, or the code of an error. */
async function ask(url: string, round: number): Promise<string> {
  if (round % 3 !== 0) {
    const transport = round % 3 === 1 ? "ndjson" : "websocket";
    const heard = await exchange(url, transport, [chunk(tones("eight", "two")), { type: "end" }]);
    const final = heard.find(({ type }) => type === "transcript.final");
    if (final !== undefined) expect(heard.at(-1)).toEqual({ type: "stream.closed" });
    return final === undefined ? codeOf(heard.at(-1)) : String(final["text"]);
  }
  const reply = await postAudio(`${url}/transcribe`, SPOKEN, "blob");
  const body: unknown = await reply.json();
  return reply.status === 200 && isRecord(body) ? String(body["text"]) : codeOf(body);
}

/** The code of an error line, or of the body of a refusal. */
function codeOf(said: unknown): string {
  const error = isRecord(said) && isRecord(said["error"]) ? said["error"] : said;
  expect(error).toMatchObject({ code: expect.any(String), message: expect.stringMatching(/^[A-Z].*\.$/) });
  return isRecord(error) ? String(error["code"]) : "";
}

test.skipIf(program === null || process.platform !== "linux")(
  "a hundred requests get their words or a clear error while the engine is killed repeatedly",
  { timeout: 180_000 },
  async () => {
    verifies("stt.engine.deaths-reach-no-client-unexplained", "stt.stream.engine-crash-is-survived");
    const server = await startChildToneServer();
    for (let round = 0; round < 6; round += 1) expect(await ask(server.url, round)).toBe("eight two");
    const { residentBytes: before } = await memoryOf(server.pid);
    const outcomes: string[] = [];
    let kills = 0;
    const killing = (async () => {
      while (outcomes.length < REQUESTS) {
        await sleep(100 + random() * 1500);
        for (const pid of await enginePids(server.pid)) {
          process.kill(pid, "SIGKILL");
          kills += 1;
        }
      }
    })();
    let round = 0;
    const client = async (): Promise<void> => {
      while (round < REQUESTS) {
        const outcome = await ask(server.url, (round += 1));
        outcomes.push(outcome);
        if (outcome !== "eight two") await sleep(200);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, client));
    await killing;
    expect(kills).toBeGreaterThan(0);
    expect(outcomes).toHaveLength(REQUESTS);
    for (const outcome of outcomes) expect(["eight two", ...CODES]).toContain(outcome);
    const health = async (): Promise<unknown> => (await fetch(`${server.url}/healthz`)).json();
    await expect.poll(health, { timeout: 90_000, interval: 500 }).toMatchObject({ ok: true });
    for (let again = 0; again < 3; again += 1) expect(await ask(server.url, again)).toBe("eight two");
    expect(await programsOf(server.pid)).toHaveLength(1); // The guard of the one engine.
    expect(await enginePids(server.pid)).toHaveLength(1);
    const grown = async (): Promise<number> => (await memoryOf(server.pid)).residentBytes - before;
    await expect.poll(grown, { timeout: 10_000 }).toBeLessThan(96 * MEBIBYTE);
    expect(server.complaints()).toBe("");
  },
);
