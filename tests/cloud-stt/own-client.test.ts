import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { pcmBytes } from "@antiphon/speech/audio/pcm.ts";
import { describe, expect, onTestFinished, test } from "vitest";
import { WebSocket as WsSocket } from "ws";
import {
  AntiphonCloudSpeech,
  APIUserAbortError,
  AuthenticationError,
  type CloudClientMessage,
  type CloudServerMessage,
  type CloudSpeechOptions,
  IdleTimeoutError,
  InvalidMessageError,
  pcmMessages,
  RateLimitError,
  StreamBrokenError,
  UnsupportedFormatError,
} from "../../packages/client/src/index.ts";
import { pausingAfter } from "../../packages/client/src/speech/pausing-source.fixture.ts";
import type { ToneWord } from "../../scripts/fixture-model/tone-words.ts";
import { sound } from "../speech/tones.ts";
import { verifies } from "../verifies.ts";
import { API_KEY, startCloudServer } from "./cloud-server.ts";
import { program, sharedToneSpeech } from "./tone-speech.ts";

const HEARTBEAT: CloudClientMessage = { type: "heartbeat" };
const AT_ONCE = 20;

function clientOf(url: string, options: Partial<CloudSpeechOptions> = {}): AntiphonCloudSpeech {
  return new AntiphonCloudSpeech({ baseUrl: url, apiKey: API_KEY, ...options });
}

function spoken(...parts: readonly (ToneWord | number)[]): AsyncGenerator<CloudClientMessage, void> {
  return pcmMessages([pcmBytes(sound(...parts))]);
}

async function* say(...messages: readonly CloudClientMessage[]): AsyncGenerator<CloudClientMessage, void> {
  yield* messages;
}

/** The texts of all finals. */
async function finals(stream: AsyncIterable<CloudServerMessage>): Promise<string[]> {
  const texts: string[] = [];
  for await (const message of stream) if (message.type === "final") texts.push(message.text);
  return texts;
}

async function wordsOf(stream: AsyncIterable<CloudServerMessage>): Promise<string> {
  return (await finals(stream)).filter((text) => text !== "").join(" ");
}

describe.skipIf(program === null)("our client on our cloud stream", () => {
  const speech = sharedToneSpeech();

  test("transcribes PCM in a minimal program and ends cleanly", async () => {
    verifies("cloud.stream.entry-point", "cloud.client.ends-in-order");
    const server = await startCloudServer({ speech: speech() });
    const heard = await finals(await clientOf(server.url).stream(spoken("three", 200, "one", 1000, "four", 300)));
    expect(heard.filter((text) => text !== "")).toEqual(["three one", "four"]);
    await expect.poll(() => server.streamsOpen()).toBe(0);
  });

  test("does not treat silence as a failure", async () => {
    verifies("cloud.stream.empty-final");
    const server = await startCloudServer({ speech: speech() });
    expect(await finals(await clientOf(server.url).stream(spoken(2000)))).toEqual([""]);
    expect(await finals(await clientOf(server.url).stream(say()))).toEqual([""]);
  });

  test("keeps a stream open by heartbeats during silence", async () => {
    verifies("cloud.stream.heartbeat-keeps-open");
    const server = await startCloudServer({ speech: speech(), env: { STT_CLOUD_IDLE_TIMEOUT_MS: "1200" } });
    async function* thinking() {
      yield* spoken("one", 300);
      await new Promise((resolve) => setTimeout(resolve, 3000));
      yield* spoken("two", 300);
    }
    expect(await wordsOf(await clientOf(server.url, { heartbeatMs: 300 }).stream(thinking()))).toBe("one two");
    const silent = await clientOf(server.url, { heartbeatMs: 60_000 }).stream(thinking());
    await expect(finals(silent)).rejects.toBeInstanceOf(IdleTimeoutError);
  });

  test.each([
    ["a broken message", { type: "audio", audio_base64: "*" } as const, InvalidMessageError, "invalid_message"],
    [
      "audio of another kind",
      { type: "audio", audio_base64: "AAAA", encoding: "mp3" } as const,
      UnsupportedFormatError,
      "unsupported_format",
    ],
  ])("rejects with a typed error for %s, after the words that it is owed", async (_name, message, ErrorClass, code) => {
    verifies("cloud.client.typed-errors");
    const server = await startCloudServer({ speech: speech() });
    const [first] = await Array.fromAsync(spoken("five", 300));
    const heard: string[] = [];
    const reading = (async () => {
      for await (const one of await clientOf(server.url).stream(say(first ?? HEARTBEAT, message, HEARTBEAT)))
        if (one.type === "final") heard.push(one.text);
    })();
    await expect(reading).rejects.toMatchObject({ code, status: null });
    await expect(reading).rejects.toBeInstanceOf(ErrorClass);
    expect(heard).toEqual(["five"]);
  });

  test("does not retry a refused key, whether or not the socket gives the reason", async () => {
    verifies("cloud.stream.bad-key-is-401");
    const server = await startCloudServer({ speech: speech() });
    const openSocket = (url: string, headers: Readonly<Record<string, string>>) => new WsSocket(url, { headers });
    for (const options of [{}, { openSocket }]) {
      let asked = 0;
      const fetchOnce = (url: string, init: RequestInit) => {
        asked += 1;
        return fetch(url, init);
      };
      const client = clientOf(server.url, { apiKey: "sk-wrong", fetch: fetchOnce, ...options });
      const failure: unknown = await client.stream(say()).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(AuthenticationError);
      expect(failure).toMatchObject({ status: 401 });
      expect(asked).toBe("openSocket" in options ? 0 : 1);
    }
  });

  test("waits for the end of a rate limit, then gets its words", async () => {
    verifies("cloud.stream.rate-limit-waits-60-seconds");
    const env = { STT_CLOUD_STREAMS_PER_MINUTE: "1", STT_CLOUD_RATE_LIMIT_WAIT_MS: "1000" };
    const server = await startCloudServer({ speech: speech(), env });
    const client = clientOf(server.url);
    const words = await Promise.all([
      client.stream(spoken("six", 300)).then(wordsOf),
      client.stream(spoken("two", 300)).then(wordsOf),
    ]);
    expect(words).toEqual(["six", "two"]);
  });

  test("stops at once when its signal aborts, both while waiting and while streaming", async () => {
    verifies("client.abort.signal-ends-call");
    const server = await startCloudServer({ speech: speech(), env: { STT_CLOUD_STREAMS_PER_MINUTE: "1" } });
    const client = clientOf(server.url);
    const controller = new AbortController();
    const { messages, isCancelled } = pausingAfter(...(await Array.fromAsync(spoken("one", 200, "two"))));
    const stream = await client.stream(messages, { signal: controller.signal });
    const waiting = client.stream(say(), { signal: controller.signal });
    const outcomes = Promise.allSettled([finals(stream), waiting]);
    controller.abort();
    for (const outcome of await outcomes)
      expect(outcome).toMatchObject({ status: "rejected", reason: expect.any(APIUserAbortError) });
    await isCancelled;
    await expect.poll(() => server.streamsOpen()).toBe(0);
  });

  test("closes the connection and cancels the audio source when the loop is left early", async () => {
    verifies("client.streams.leaving-early-closes");
    const server = await startCloudServer({ speech: speech() });
    const { messages, isCancelled } = pausingAfter(...(await Array.fromAsync(spoken("one", 1200))));
    for await (const message of await clientOf(server.url).stream(messages)) if (message.type === "final") break;
    await isCancelled;
    await expect.poll(() => server.streamsOpen()).toBe(0);
  });

  test("works with many streams at once", async () => {
    const server = await startCloudServer({ speech: speech() });
    const client = clientOf(server.url);
    const words: readonly ToneWord[] = ["one", "two", "three", "four", "five"];
    const crowd = Array.from({ length: AT_ONCE }, (_, index) => words[index % words.length] ?? "zero");
    const heard = await Promise.all(
      crowd.map(async (word) => wordsOf(await client.stream(spoken(word, 900, "zero", 300)))),
    );
    expect(heard).toEqual(crowd.map((word) => `${word} zero`));
  });

  test("finishes its stream on a stopping server, and gets no new stream there", async () => {
    verifies("cloud.stream.drain");
    const server = await startCloudServer({ speech: speech(), env: { DRAIN_MS: "20000" } });
    const { promise: isStopping, resolve: stop } = Promise.withResolvers<void>();
    async function* talk() {
      yield* spoken("seven", 1000);
      await isStopping;
      yield* spoken("nine", 300);
    }
    const texts: string[] = [];
    let closing: Promise<void> | null = null;
    for await (const message of await clientOf(server.url).stream(talk())) {
      if (message.type !== "final") continue;
      texts.push(message.text);
      closing ??= server.close();
      stop();
    }
    expect(texts.filter((text) => text !== "")).toEqual(["seven", "nine"]);
    await closing;
    await expect(clientOf(server.url, { attemptsMax: 1 }).stream(say())).rejects.toThrow("failed");
  });

  test("rejects if the stopping server's time runs out", async () => {
    verifies("cloud.stream.drain", "client.streams.broken-stream-rejects");
    const server = await startCloudServer({ speech: speech(), env: { DRAIN_MS: "50" } });
    const { messages, isCancelled } = pausingAfter(...(await Array.fromAsync(spoken("one", 1200))));
    const reading = (async () => {
      for await (const message of await clientOf(server.url).stream(messages))
        if (message.type === "final") void server.close();
    })();
    await expect(reading).rejects.toBeInstanceOf(StreamBrokenError);
    await isCancelled;
  });
});

/** Refuses one upgrade for each of the replies, and does not answer the others. */
async function refusingService(...replies: readonly string[]) {
  const upgrades: { readonly at: number; readonly request: IncomingMessage }[] = [];
  const server = createServer((_request, reply) => void reply.writeHead(400).end());
  server.on("upgrade", (request, socket) => {
    upgrades.push({ at: performance.now(), request });
    socket.on("error", () => {});
    const reply = replies[upgrades.length - 1];
    socket.end(`HTTP/1.1 ${reply ?? "500 No"}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  const { port }: Pick<AddressInfo, "port"> = typeof address === "object" && address !== null ? address : { port: 0 };
  return { url: `http://127.0.0.1:${port}`, upgrades };
}

describe("our client on another cloud service", () => {
  const openSocket = (url: string, headers: Readonly<Record<string, string>>) => new WsSocket(url, { headers });

  test("sends its key in x-api-key, and retries after Retry-After and not before", async () => {
    verifies("cloud.stream.entry-point", "cloud.stream.rate-limit-waits-60-seconds");
    const { url, upgrades } = await refusingService("429 Wait\r\nretry-after: 1", "401 No");
    const client = clientOf(url, { openSocket });
    await expect(client.stream(say())).rejects.toBeInstanceOf(AuthenticationError);
    expect(upgrades.map(({ request }) => request.headers["x-api-key"])).toEqual([API_KEY, API_KEY]);
    expect(upgrades[0]?.request.url).toBe("/stt/v1/stream");
    const [first, second] = upgrades;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(1000);
  });

  test("waits its configured time if the service names none, with all its streams, and gives up in the end", async () => {
    verifies("cloud.stream.rate-limit-waits-60-seconds");
    const { url, upgrades } = await refusingService(...Array.from({ length: 9 }, () => "429 Wait"));
    const client = clientOf(url, { openSocket, rateLimitWaitMs: 300, attemptsMax: 3 });
    await expect(client.stream(say())).rejects.toBeInstanceOf(RateLimitError);
    expect(upgrades).toHaveLength(3);
    await expect(client.stream(say())).rejects.toBeInstanceOf(RateLimitError);
    expect(upgrades).toHaveLength(6);
    const gaps = upgrades.slice(1).map(({ at }, index) => at - (upgrades[index]?.at ?? 0));
    for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(300); // The second call waits too.
  });

  test("does not wait longer than its patience", async () => {
    const { url, upgrades } = await refusingService("429 Wait\r\nretry-after: 86400");
    await expect(clientOf(url, { openSocket }).stream(say())).rejects.toBeInstanceOf(RateLimitError);
    expect(upgrades).toHaveLength(1);
  });

  test("retries failures that may pass", async () => {
    verifies("client.retries.on-transient-failures");
    const { url, upgrades } = await refusingService("503 Full\r\nretry-after: 1", "401 No");
    await expect(clientOf(url, { openSocket }).stream(say())).rejects.toBeInstanceOf(AuthenticationError);
    expect(upgrades).toHaveLength(2);
  });

  test.each(["http://stt.example.com", "ws://192.168.1.7:8238", "http://127.0.0.1.example.com"])(
    "does not send its key unencrypted to %s",
    (baseUrl) => {
      verifies("cloud.client.key-not-in-the-clear");
      expect(() => clientOf(baseUrl)).toThrow("The key would travel in the clear");
    },
  );

  test("accepts https and wss anywhere, and http and ws on the loopback address", () => {
    for (const baseUrl of ["https://stt.example.com/a/", "wss://stt.example.com", "ws://localhost:1", "http://[::1]:1"])
      expect(() => clientOf(baseUrl)).not.toThrow();
  });

  test.each([
    { apiKey: "" },
    { apiKey: "two words" },
    { heartbeatMs: 0 },
    { heartbeatMs: 300_000 },
    { attemptsMax: Number.NaN },
  ])("refuses options that can never work: %o", (options) => {
    expect(() => clientOf("https://stt.example.com", options)).toThrow(/must be/);
  });
});

test("explains to browsers that they cannot send the key", () => {
  Object.defineProperty(globalThis, "location", { value: {}, configurable: true });
  onTestFinished(() => void Reflect.deleteProperty(globalThis, "location"));
  expect(() => clientOf("https://stt.example.com")).toThrow("Browsers cannot send x-api-key");
  expect(() => clientOf("https://stt.example.com", { openSocket: (url) => new WsSocket(url) })).not.toThrow();
});

test("splits PCM of any length into messages of at most 32 kB, with no byte lost", async () => {
  const bytes = Uint8Array.from({ length: 70_001 }, (_, index) => (index * 31) % 256);
  const messages = await Array.fromAsync(pcmMessages([bytes, new Uint8Array(0), bytes.subarray(0, 3)], 8000));
  const pieces = messages.map(({ audio_base64 }) => Buffer.from(audio_base64, "base64"));
  expect(pieces.map(({ length }) => length)).toEqual([32_000, 32_000, 6001, 3]);
  expect(Buffer.concat(pieces)).toEqual(Buffer.concat([bytes, bytes.subarray(0, 3)]));
  expect(messages[0]?.sample_rate).toBe(8000);
});
