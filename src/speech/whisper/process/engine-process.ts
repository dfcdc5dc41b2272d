import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, FormData, fetch, type Response } from "undici";
import { pcmBytes } from "../../../audio/pcm.ts";
import { wavHeader } from "../../../audio/wav.ts";
import { readJson } from "../../../base/json/read-json.ts";
import { type ProgramEnd, startGuarded, statusText } from "../../../programs/guarded-child.ts";
import { SPEECH_RATE_HZ } from "../../speech-engine.ts";
import { type Heard, readReply } from "../engine-reply.ts";
import type { BuiltServer } from "./build-server.ts";

export interface EngineCommand {
  readonly server: BuiltServer;
  readonly modelPath: string;
  readonly threads: number;
}

export interface Question {
  readonly samples: Int16Array;
  /** How many positions of the encoder to look at; null: all. */
  readonly positions: number | null;
  /** A code that the engine knows, or `auto`. */
  readonly language: string;
  readonly prompt: string | null;
}

/** The engine lives, and does not answer this question. */
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
/** The engine itself uses no more than half of its text window. */
const PROMPT_CHARACTERS_MAX = 2000;

/** Signals by which a program ends that its processor, or its own checks, stop. */
const ILLEGAL_INSTRUCTION = 128 + 4;
const MODEL_NOT_LOADED = 3;

/**
 * The engine takes one question after the other, and closes its connections when it likes: each question gets one of
 * its own.
 */
const CONNECTIONS = { pipelining: 0, headersTimeout: 0, bodyTimeout: 0 } as const;

/** Where an engine listens. */
type Address =
  | { readonly type: "socket"; readonly folder: string; readonly path: string }
  | { readonly type: "port"; readonly port: number; readonly secretPath: string };

/** The operating system's limit of the path of a socket is 104 or 108 bytes. */
const SOCKET_PATH_BYTES_MAX = 100;

/**
 * whisper.cpp's server as a child that keeps its model in memory. It answers whoever reaches it and loads any file, so
 * nobody else may reach it: it listens on a Unix socket in a folder of mode 700. A server without that listens on
 * loopback, under a path that nobody can guess, but that other users of this machine can read in the list of processes.
 */
export class EngineProcess {
  readonly #url: string;
  readonly #connections: Agent;
  readonly #kill: () => void;
  /** Resolves when the engine is gone, for whatever reason. */
  readonly ended: Promise<ProgramEnd>;

  private constructor(address: Address, ended: Promise<ProgramEnd>, kill: () => void) {
    const isSocket = address.type === "socket";
    this.#url = isSocket ? `http://${HOST}` : `http://${HOST}:${address.port}${address.secretPath}`;
    this.#connections = new Agent({ ...CONNECTIONS, ...(isSocket ? { connect: { socketPath: address.path } } : {}) });
    this.ended = ended;
    this.#kill = kill;
  }

  /**
   * Resolves once the model is loaded. Rejects with `EngineStartError` or the signal's reason, and leaves nothing
   * running then.
   */
  static async start(command: EngineCommand, signal: AbortSignal): Promise<EngineProcess> {
    // The engine shows what lies in its folder to whoever asks, so that is a folder in which nothing can ever lie: one
    // that is gone.
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
      environment: { GGML_NO_BACKTRACE: "1" }, // A debugger that looks for the cause of a crash takes 300 ms.
      ...ownFolder,
    });
    const ended = removingSocket(child.ended, address);
    const engine = new EngineProcess(address, ended, () => child.kill());
    try {
      await engine.#untilReady(AbortSignal.any([signal, AbortSignal.timeout(START_MS_MAX)]));
      return engine;
    } catch (error) {
      engine.kill();
      const end = await ended;
      signal.throwIfAborted();
      throw error instanceof EngineStartError
        ? error
        : new EngineStartError(whyNotStarted(end, command), { cause: error });
    }
  }

  /**
   * Rejects with `EngineRefusal`, the signal's reason, or whatever a broken connection gives. One that is aborted may
   * still keep the engine busy.
   */
  async ask(question: Question, signal: AbortSignal): Promise<Heard> {
    const body = formOf(question);
    const reply = await this.#fetch("/inference", { method: "POST", body, signal });
    const text = await readText(reply);
    if (!reply.ok) throw new EngineRefusal(`status ${reply.status}`);
    const heard = readReply(readJson(text));
    if (heard === null) throw new EngineRefusal("the reply holds no segments");
    return heard;
  }

  /** Resolves when the engine has ended whatever it was doing. */
  async untilIdle(signal: AbortSignal): Promise<void> {
    const body = new FormData(); // A question without sound has to wait for its turn, and is refused then.
    body.set("response_format", "json");
    await readText(await this.#fetch("/inference", { method: "POST", body, signal }));
  }

  kill(): void {
    this.#kill();
    void this.#connections.destroy();
  }

  #fetch(path: string, init: { method?: string; body?: FormData; signal: AbortSignal }): Promise<Response> {
    return fetch(`${this.#url}${path}`, { ...init, dispatcher: this.#connections, redirect: "error" });
  }

  async #untilReady(signal: AbortSignal): Promise<void> {
    const gone = this.ended.then(() => "gone" as const);
    for (;;) {
      const isReady = this.#fetch("/health", { signal }).then(
        async (reply) => {
          await reply.body?.cancel();
          return reply.ok;
        },
        () => false,
      );
      const outcome = await Promise.race([isReady, gone]);
      if (outcome === true) return;
      if (outcome === "gone") throw new Error("the engine ended while it started");
      await sleep(POLL_MS, undefined, { signal });
    }
  }
}

/** Why an engine that has run is gone: half a sentence. */
export function whyEnded({ status }: ProgramEnd): string {
  if (status === ILLEGAL_INSTRUCTION) return "this processor lacks instructions that the engine was built for";
  return `it ended with ${statusText(status)}`;
}

function whyNotStarted(end: ProgramEnd, { modelPath }: EngineCommand): string {
  if (end.status === MODEL_NOT_LOADED) return `The speech engine cannot load the model ${modelPath}`;
  return `The speech engine does not start: ${whyEnded(end)}`;
}

/**
 * With flash attention the engine rounds windows up to multiples of 256 positions, and fills the difference with what
 * it kept of an earlier sound: whose words are heard again then.
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
 * What a question says beside its sound. The probabilities of languages would cost a second pass; lines are not broken,
 * which the engine would do inside words; no text is carried from one window into the next, as that makes loops; the
 * two thresholds keep it from inventing text at quiet ends. The most likely token is taken always: where the engine is
 * in doubt it would otherwise draw at random, and hear the same recording differently each time.
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

function formOf({ samples, positions, language, prompt }: Question): FormData {
  const form = new FormData();
  const bytes = pcmBytes(samples);
  const file = Uint8Array.from(Buffer.concat([wavHeader(SPEECH_RATE_HZ, bytes.length), bytes]));
  form.set("file", new Blob([file], { type: "audio/wav" }), "sound.wav");
  for (const [name, value] of Object.entries(FIELDS)) form.set(name, value);
  form.set("language", language);
  if (positions !== null) form.set("audio_ctx", String(positions));
  if (prompt !== null) {
    form.set("prompt", prompt.slice(-PROMPT_CHARACTERS_MAX));
    form.set("max_context", "-1");
  }
  return form;
}

async function readText(reply: Response): Promise<string> {
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

/** Only this user can open it: the mode is 700. */
function temporaryFolder(): Promise<string> {
  const bytes = Buffer.byteLength(join(tmpdir(), "antiphon-whisper-XXXXXX/socket"));
  return mkdtemp(join(bytes > SOCKET_PATH_BYTES_MAX ? "/tmp" : tmpdir(), "antiphon-whisper-"));
}

async function newSocket(): Promise<Address> {
  const folder = await temporaryFolder();
  return { type: "socket", folder, path: join(folder, "socket") };
}

async function removingSocket(ended: Promise<ProgramEnd>, address: Address): Promise<ProgramEnd> {
  const end = await ended;
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
