/**
 * Counts the files that take part in a request: those with a function that is called in every counted request. A first
 * request warms the server up. V8 does the counting. `--list` prints the files.
 */

import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { pcmBytes } from "@antiphon/speech/audio/pcm.ts";
import { WebSocket } from "ws";
import { tones } from "../tests/speech/tones.ts";
import { toneModelFile, whisperForTests } from "../tests/speech/whisper-for-tests.ts";
import { type CoveredServer, type CoveredServerOptions, startCoveredServer } from "./covered-server.ts";

/** Time for work after the reply, such as a log line. */
const SETTLE_MS = 100;
const COUNTED_REQUESTS = 8;
const READY_MS_MAX = 60_000;
const ANSWER_MS_MAX = 10_000;
const MODEL = "antiphon-built-in";
/** An answer that takes longer than this script. */
const ENDLESS = `scenarios: [{ when: { input_contains: endless }, events: [{ text: It begins }, { delay_ms: 600000 }] }]`;

interface Kind {
  readonly name: string;
  readonly options: () => Promise<CoveredServerOptions | null>;
  /** Prepares the server and returns a function that does one request. */
  readonly prepare: (server: CoveredServer) => Promise<() => Promise<void>>;
}

const plain = async (): Promise<CoveredServerOptions> => ({});

const KINDS: readonly Kind[] = [
  {
    name: "streamed create",
    options: plain,
    prepare: async (server) => async () => {
      await (await server.fetch("/v1/responses", { model: MODEL, input: "Hello!", stream: true })).text();
    },
  },
  {
    name: "plain GET of a response",
    options: plain,
    prepare: async (server) => {
      const id = await create(server, { input: "Hello!" });
      return async () => {
        await (await server.fetch(`/v1/responses/${id}`)).text();
      };
    },
  },
  {
    name: "cancel in the background",
    options: async () => ({ scenario: ENDLESS }),
    prepare: async (server) => {
      const waiting: string[] = [];
      for (let count = 0; count <= COUNTED_REQUESTS; count += 1) waiting.push(await createEndless(server));
      return async () => {
        await (await server.fetch(`/v1/responses/${waiting.shift()}/cancel`, {})).text();
      };
    },
  },
  { name: "WebSocket chunk of speech", options: speechOptions, prepare: prepareSpeech },
];

const { values } = parseArgs({ options: { list: { type: "boolean", default: false } } });
console.log(`${"request".padEnd(27)}${"ours".padStart(6)}${"generated/".padStart(12)}`);
for (const kind of KINDS) await show(kind);

async function show({ name, options, prepare }: Kind): Promise<void> {
  const chosen = await options();
  if (chosen === null) return console.log(`${name.padEnd(27)} left out: the speech engine cannot be built here`);
  const server = await startCoveredServer(chosen);
  try {
    const request = await prepare(server);
    const files = await filesOf(request, server);
    const ours = files.filter((path) => /^(src|packages)\//.test(path));
    const generated = files.filter((path) => path.startsWith("generated/"));
    console.log(`${name.padEnd(27)}${String(ours.length).padStart(6)}${String(generated.length).padStart(12)}`);
    if (values.list) for (const path of [...ours, ...generated]) console.log(`  ${path}`);
  } finally {
    await server.stop();
  }
}

/** The files of every counted request. This leaves out files that only a timer of the server runs by chance. */
async function filesOf(request: () => Promise<void>, server: CoveredServer): Promise<readonly string[]> {
  const rounds: ReadonlySet<string>[] = [];
  for (let round = 0; round <= COUNTED_REQUESTS; round += 1) {
    await server.forget();
    await request();
    await sleep(SETTLE_MS);
    rounds.push(new Set(await server.filesCalled()));
  }
  const [, second = new Set<string>(), ...others] = rounds; // The first request also does work that happens only once.
  return [...second].filter((path) => others.every((files) => files.has(path)));
}

async function create(server: CoveredServer, members: object): Promise<string> {
  const reply = await server.fetch("/v1/responses", { model: MODEL, ...members });
  return /"id":\s*"(resp_\w+)"/.exec(await reply.text())?.[1] ?? "";
}

async function createEndless(server: CoveredServer): Promise<string> {
  const id = await create(server, { input: "endless", background: true });
  await sleep(SETTLE_MS); // Until the answer has started.
  return id;
}

async function speechOptions(): Promise<CoveredServerOptions | null> {
  const program = await whisperForTests();
  if (program === null) return null;
  const model = await toneModelFile();
  return {
    env: {
      SPEECH_ENGINE: "whisper",
      WHISPER_SERVER_PATH: program,
      WHISPER_MODEL_PATH: model,
      WHISPER_THREADS: "1",
    },
  };
}

/** Opens a stream. Each request sends one chunk and waits for its transcript. */
async function prepareSpeech({ speechUrl }: CoveredServer): Promise<() => Promise<void>> {
  const startedAt = performance.now();
  while (!(await (await fetch(`${speechUrl}/healthz`)).text()).includes('"ok":true')) {
    if (performance.now() - startedAt > READY_MS_MAX) throw new Error("the speech engine is not ready");
    await sleep(100);
  }
  const socket = new WebSocket(`${speechUrl.replace("http", "ws")}/ws/transcribe`);
  await once(socket, "message", { signal: AbortSignal.timeout(ANSWER_MS_MAX) }); // The server's greeting.
  const chunk = JSON.stringify({
    type: "chunk",
    audio_base64: Buffer.from(pcmBytes(tones("three"))).toString("base64"),
    sample_rate: 16_000,
  });
  return async () => {
    const final = Promise.withResolvers<void>();
    const hear = (message: Buffer): void => {
      if (message.includes('"transcript.final"')) final.resolve();
    };
    const timer = setTimeout(() => final.reject(new Error("the chunk was not transcribed")), ANSWER_MS_MAX);
    socket.on("message", hear);
    socket.send(chunk);
    socket.send('{"type":"flush"}');
    await final.promise;
    socket.off("message", hear);
    clearTimeout(timer);
  };
}
