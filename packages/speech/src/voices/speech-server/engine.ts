import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import { FrameGatherer, type PcmChunk, samplesOf } from "../../audio/pcm.ts";
import { WavError, WavReader } from "../../audio/wav.ts";
import { type Voice, type VoiceEngine, VoiceError } from "../ports.ts";

const SENTENCE_TIMEOUT_MS = 120_000;
/** Five minutes of sound at the highest rate. */
const SENTENCE_BYTES_MAX = 5 * 60 * 48_000 * 2;
const COMPLAINT_BYTES_MAX = 4096;
/** The sample rate of the reference's `pcm`, for servers that do not name their own. */
const PCM_RATE_HZ = 24_000;

/** Address, credentials and model of the speech server. */
export interface SpeechServerOptions {
  /** URL up to and including `/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string | null;
  readonly model: string;
  /** The voice for requests that name none, because the server requires one. */
  readonly voice: string;
}

type Format = "wav" | "pcm";

/** Speaks through `POST /v1/audio/speech` of a server, with one call per sentence. */
export function createSpeechServerEngine(options: SpeechServerOptions): VoiceEngine {
  return new SpeechServerEngine(options);
}

class SpeechServerEngine implements VoiceEngine {
  readonly name = "speech server";
  readonly referenceVoices = [];
  readonly #options: SpeechServerOptions;
  /**
   * WAV is tried first, because it names its rate and encoding, while raw PCM differs between servers. Not every server
   * has WAV.
   */
  #format: Format = "wav";

  constructor(options: SpeechServerOptions) {
    this.#options = options;
  }

  /** The protocol uses the reference's names. */
  voiceFor(name: string): string {
    return name;
  }

  /** Null: the protocol cannot list voices. */
  async listVoices(): Promise<readonly Voice[] | null> {
    return null;
  }

  async *speak(text: string, voice: string | null, signal: AbortSignal): AsyncGenerator<PcmChunk> {
    const late = AbortSignal.timeout(SENTENCE_TIMEOUT_MS);
    const leaving = new AbortController(); // Aborts the call when the caller stops iterating.
    try {
      const reply = await this.#ask(text, voice, AbortSignal.any([signal, late, leaving.signal]));
      yield* readSound(reply);
    } catch (error) {
      if (signal.aborted) return;
      if (late.aborted) throw new VoiceError(`the speech server took longer than ${SENTENCE_TIMEOUT_MS / 1000} s`);
      throw error instanceof VoiceError
        ? error
        : new VoiceError("the connection to the speech server broke during its answer", { cause: error });
    } finally {
      leaving.abort();
    }
  }

  async #ask(text: string, voice: string | null, signal: AbortSignal): Promise<Response> {
    const first = this.#format;
    const reply = await this.#post(text, voice, first, signal);
    if (reply.ok) return reply;
    const other = first === "wav" ? "pcm" : "wav";
    if (reply.status !== 400 && reply.status !== 422) throw await refusal(reply);
    await reply.body?.cancel();
    const second = await this.#post(text, voice, other, signal);
    if (!second.ok) throw await refusal(second);
    this.#format = other;
    return second;
  }

  async #post(text: string, voice: string | null, format: Format, signal: AbortSignal): Promise<Response> {
    const { baseUrl, apiKey, model, voice: defaultVoice } = this.#options;
    try {
      return await fetch(`${baseUrl.replace(/\/+$/, "")}/audio/speech`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
        },
        body: JSON.stringify({ model, input: text, voice: voice ?? defaultVoice, response_format: format }),
        redirect: "error",
        signal,
      });
    } catch (error) {
      signal.throwIfAborted();
      throw new VoiceError(`the speech server at ${new URL(baseUrl).origin} cannot be reached`, { cause: error });
    }
  }
}

async function refusal(reply: Response): Promise<VoiceError> {
  let text = "";
  for await (const bytes of bodyBytes(reply)) {
    text += Buffer.from(bytes).toString("utf8");
    if (text.length > COMPLAINT_BYTES_MAX) break;
  }
  return new VoiceError(`the speech server answered ${reply.status}${errorCode(text)}`);
}

/** The code of an error. Its message is not used, because it may repeat the text or the key. */
function errorCode(body: string): string {
  const json = jsonOrUndefined(body);
  const error = isRecord(json) && isRecord(json["error"]) ? json["error"] : {};
  const code = error["code"] ?? error["type"];
  return typeof code === "string" && /^[\w.-]{1,64}$/.test(code) ? ` (${code})` : "";
}

/** Detects the format by the first bytes, because servers may ignore the requested format. */
async function* readSound(reply: Response): AsyncGenerator<PcmChunk> {
  let read: ((bytes: Uint8Array) => PcmChunk) | null = null;
  let head = new Uint8Array(0);
  let total = 0;
  for await (const bytes of bodyBytes(reply)) {
    total += bytes.length;
    if (total > SENTENCE_BYTES_MAX)
      throw new VoiceError(`the speech server sent more than ${SENTENCE_BYTES_MAX} bytes`);
    head = Buffer.concat([head, bytes]);
    if (read === null && head.length < 4) continue;
    read ??= readerOf(head, reply.headers.get("content-type") ?? "");
    const chunk = read(head);
    head = new Uint8Array(0);
    if (chunk.samples.length > 0) yield chunk;
  }
}

function readerOf(head: Uint8Array, contentType: string): (bytes: Uint8Array) => PcmChunk {
  const start = Buffer.from(head).toString("latin1", 0, 4);
  if (start === "RIFF") return wavReader();
  if (/^(OggS|ID3|fLaC)/.test(start) || /json|html|mpeg|mp3|aac|ogg/i.test(contentType))
    throw new VoiceError(`the speech server sent ${contentType || "something else"} instead of WAV or PCM`);
  const rate = Number(/rate=(\d{4,6})/i.exec(contentType)?.[1] ?? PCM_RATE_HZ);
  const frames = new FrameGatherer(2);
  return (bytes) => ({ sampleRateHz: rate, samples: samplesOf(frames.push(bytes)) });
}

function wavReader(): (bytes: Uint8Array) => PcmChunk {
  const wav = new WavReader();
  return (bytes) => {
    try {
      const samples = wav.push(bytes);
      return { sampleRateHz: wav.format?.sampleRateHz ?? PCM_RATE_HZ, samples };
    } catch (error) {
      throw error instanceof WavError ? new VoiceError(`the speech server: ${error.message}`, { cause: error }) : error;
    }
  };
}

async function* bodyBytes(reply: Response): AsyncGenerator<Uint8Array> {
  if (reply.body === null) return;
  for await (const bytes of reply.body) yield bytes;
}
