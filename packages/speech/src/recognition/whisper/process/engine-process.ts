import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readJson } from "@antiphon/base/json/read-json.ts";
import { type ProgramEnd, startGuarded, statusText } from "@antiphon/programs/guarded-child.ts";
import { Agent, FormData, fetch, type Response } from "undici";
import { pcmBytes } from "../../../audio/pcm.ts";
import { wavHeader } from "../../../audio/wav.ts";
import { SPEECH_RATE_HZ, type SpeechTask } from "../../speech-engine.ts";
import { type EngineReply, readEngineReply } from "../engine-reply.ts";
import type { BuiltServer } from "./build-server.ts";

export interface EngineCommand {
  readonly server: BuiltServer;
  readonly modelPath: string;
  readonly threads: number;
}

export interface EngineRequest {
  readonly samples: Int16Array;
  /** How many encoder positions to compute; null for all. */
  readonly positions: number | null;
  /** A language code that the engine knows, or `auto`. */
  readonly language: string;
  readonly prompt: string | null;
  /** Transcribes if absent. */
  readonly task?: SpeechTask;
  /** 0 if absent. */
  readonly temperature?: number;
}

/** The engine is running but rejected this question. */
export class EngineRefusal extends Error {
  override readonly name = "EngineRefusal";
}

/** The engine ended before it was ready. The message is a sentence without a full stop. */
export class EngineStartError extends Error {
  override readonly name = "EngineStartError";
}

const HOST = "127.0.0.1";
const SECRET_BYTES = 16;
const POLL_MS = 25;
const START_MS_MAX = 10 * 60_000;
const REPLY_BYTES_MAX = 16 * 1024 * 1024;
/** The engine uses no more than half of its text window for the prompt. */
const PROMPT_CHARACTERS_MAX = 2000;

/** Exit statuses of the engine: SIGILL, and its own status for a model that cannot be loaded. */
const ILLEGAL_INSTRUCTION = 128 + 4;
const MODEL_NOT_LOADED = 3;

/** The engine answers one question at a time and may close idle connections, so each question gets a new connection. */
const CONNECTIONS = { pipelining: 0, headersTimeout: 0, bodyTimeout: 0 } as const;

/** Where an engine listens. */
type Address =
  | { readonly type: "socket"; readonly folder: string; readonly path: string }
  | { readonly type: "port"; readonly port: number; readonly secretPath: string };

/** Operating systems limit the path of a socket to 104 or 108 bytes. */
const SOCKET_PATH_BYTES_MAX = 100;

/**
 * A whisper.cpp server as a child process that keeps its model in memory. It has no access control and loads any file,
 * so only this process may reach it: it listens on a Unix socket in a folder of mode 700. A server without socket
 * support listens on loopback under a secret path, which other users of the machine can read in the process list.
 */
export class EngineProcess {
  readonly #url: string;
  readonly #connections: Agent;
  readonly #kill: () => void;
  /** Resolves when the process has ended, for any reason. */
  readonly exit: Promise<ProgramEnd>;

  private constructor(address: Address, exit: Promise<ProgramEnd>, kill: () => void) {
    const isSocket = address.type === "socket";
    this.#url = isSocket ? `http://${HOST}` : `http://${HOST}:${address.port}${address.secretPath}`;
    this.#connections = new Agent({ ...CONNECTIONS, ...(isSocket ? { connect: { socketPath: address.path } } : {}) });
    this.exit = exit;
    this.#kill = kill;
  }

  /**
   * Starts the engine and resolves once its model is loaded. Rejects with `EngineStartError` or the signal's reason;
   * then no process is left.
   */
  static async start(command: EngineCommand, signal: AbortSignal): Promise<EngineProcess> {
    // The engine serves the files of its working folder, so it runs in a folder that is deleted after the start.
    const folder = await temporaryFolder();
    try {
      return await EngineProcess.#startIn(folder, command, signal);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  static async #startIn(folder: string, command: EngineCommand, signal: AbortSignal): Promise<EngineProcess> {
    const address = command.server.opensSocket ? await newSocket() : await freePort();
    const ownFolder = address.type === "socket" ? { ownFolder: address.folder } : {};
    const child = await startGuarded({
      program: command.server.program,
      args: commandLine(command, address),
      folder,
      environment: { GGML_NO_BACKTRACE: "1" }, // Attaching a debugger after a crash takes 300 ms.
      ...ownFolder,
    });
    const exit = removingSocket(child.exit, address);
    const engine = new EngineProcess(address, exit, () => child.kill());
    try {
      await engine.#untilReady(AbortSignal.any([signal, AbortSignal.timeout(START_MS_MAX)]));
      return engine;
    } catch (error) {
      engine.kill();
      const end = await exit;
      signal.throwIfAborted();
      throw error instanceof EngineStartError
        ? error
        : new EngineStartError(describeFailedStart(end, command), { cause: error });
    }
  }

  /**
   * Rejects with `EngineRefusal`, the signal's reason, or the error of a broken connection. An aborted question may
   * keep the engine busy for a while.
   */
  async ask(question: EngineRequest, signal: AbortSignal): Promise<EngineReply> {
    const body = inferenceForm(question);
    const reply = await this.#fetch("/inference", { method: "POST", body, signal });
    const text = await readReplyText(reply);
    if (!reply.ok) throw new EngineRefusal(`status ${reply.status}`);
    const engineReply = readEngineReply(readJson(text));
    if (engineReply === null) throw new EngineRefusal("the reply holds no segments");
    return engineReply;
  }

  /** Resolves when the engine has finished its current work. */
  async untilIdle(signal: AbortSignal): Promise<void> {
    const body = new FormData(); // The engine queues this request and rejects it in its turn, because it has no sound.
    body.set("response_format", "json");
    await readReplyText(await this.#fetch("/inference", { method: "POST", body, signal }));
  }

  kill(): void {
    this.#kill();
    void this.#connections.destroy();
  }

  #fetch(path: string, init: { method?: string; body?: FormData; signal: AbortSignal }): Promise<Response> {
    return fetch(`${this.#url}${path}`, { ...init, dispatcher: this.#connections, redirect: "error" });
  }

  async #untilReady(signal: AbortSignal): Promise<void> {
    const exit = this.exit.then(() => "gone" as const);
    for (;;) {
      const isReady = this.#fetch("/health", { signal }).then(
        async (reply) => {
          await reply.body?.cancel();
          return reply.ok;
        },
        () => false,
      );
      const outcome = await Promise.race([isReady, exit]);
      if (outcome === true) return;
      if (outcome === "gone") throw new Error("the engine ended while it started");
      await sleep(POLL_MS, undefined, { signal });
    }
  }
}

/** Why an engine ended, as a clause for an error message. */
export function describeEnd({ status }: ProgramEnd): string {
  if (status === ILLEGAL_INSTRUCTION) return "this processor lacks instructions that the engine was built for";
  return `it exited with ${statusText(status)}`;
}

function describeFailedStart(end: ProgramEnd, { modelPath }: EngineCommand): string {
  if (end.status === MODEL_NOT_LOADED) return `The speech engine cannot load the model ${modelPath}`;
  return `The speech engine does not start: ${describeEnd(end)}`;
}

/**
 * With flash attention the engine rounds windows up to multiples of 256 positions and fills the rest with data of an
 * earlier sound, whose words then appear again.
 */
const WITHOUT_FLASH_ATTENTION = ["--no-flash-attn"] as const;

function commandLine({ modelPath, threads }: EngineCommand, address: Address): string[] {
  const listening =
    address.type === "socket"
      ? ["--host", address.path]
      : ["--host", HOST, "--port", String(address.port), "--request-path", address.secretPath];
  const folders = ["--public", ".", "--tmp-dir", "."];
  const decoding = ["--model", modelPath, "--threads", String(threads), "--beam-size", "1", "--best-of", "1"];
  return [...listening, ...folders, ...decoding, "--suppress-nst", ...WITHOUT_FLASH_ATTENTION];
}

/**
 * Form fields of every question. Language probabilities would cost a second pass. A large `max_len` avoids line breaks
 * inside words. No text carries over to the next window (`max_context`), because that causes loops. The two thresholds
 * avoid invented text at quiet ends. `temperature_inc` 0 disables random sampling, so that a recording always gives the
 * same text.
 */
const FIELDS: Readonly<Record<string, string>> = {
  response_format: "verbose_json",
  no_language_probabilities: "true",
  max_len: "4096",
  max_context: "0",
  temperature_inc: "0",
  entropy_thold: "2.8",
  logprob_thold: "-1.25",
};

function inferenceForm(request: EngineRequest): FormData {
  const { samples, positions, language, prompt, task, temperature = 0 } = request;
  const form = new FormData();
  const bytes = pcmBytes(samples);
  const file = Uint8Array.from(Buffer.concat([wavHeader(SPEECH_RATE_HZ, bytes.length), bytes]));
  form.set("file", new Blob([file], { type: "audio/wav" }), "sound.wav");
  for (const [name, value] of Object.entries(FIELDS)) form.set(name, value);
  form.set("language", language);
  if (task === "translate") form.set("translate", "true");
  if (temperature > 0) form.set("temperature", String(temperature));
  if (positions !== null) form.set("audio_ctx", String(positions));
  if (prompt !== null) {
    form.set("prompt", prompt.slice(-PROMPT_CHARACTERS_MAX));
    form.set("max_context", "-1");
  }
  return form;
}

async function readReplyText(reply: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of reply.body ?? []) {
    if (!(piece instanceof Uint8Array)) continue;
    bytes += piece.length;
    if (bytes > REPLY_BYTES_MAX) throw new EngineRefusal("the reply is too long");
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

/** Has mode 700, so that only this user can open it. */
function temporaryFolder(): Promise<string> {
  const bytes = Buffer.byteLength(join(tmpdir(), "antiphon-whisper-XXXXXX/socket"));
  return mkdtemp(join(bytes > SOCKET_PATH_BYTES_MAX ? "/tmp" : tmpdir(), "antiphon-whisper-"));
}

async function newSocket(): Promise<Address> {
  const folder = await temporaryFolder();
  return { type: "socket", folder, path: join(folder, "socket") };
}

async function removingSocket(exit: Promise<ProgramEnd>, address: Address): Promise<ProgramEnd> {
  const end = await exit;
  if (address.type === "socket") await rm(address.folder, { recursive: true, force: true });
  return end;
}

async function freePort(): Promise<Address> {
  const server = createServer();
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  server.once("error", reject);
  server.listen(0, HOST, () => {
    const address = server.address();
    server.close(() => {
      if (typeof address === "object" && address !== null) resolve(address.port);
      else reject(new EngineStartError("There is no free port for the speech engine"));
    });
  });
  return { type: "port", port: await promise, secretPath: `/${randomBytes(SECRET_BYTES).toString("hex")}` };
}
