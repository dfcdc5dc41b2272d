import { jsonOrText } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import { readTranscriptionJson } from "@antiphon/contracts/audio/readers.js";
import { pcmBytes } from "../audio/pcm.ts";
import { wavHeader } from "../audio/wav.ts";
import type { NeighbourUrl } from "../audio-api/ports.ts";
import { SPEECH_RATE_HZ, SpeechError } from "../recognition/speech-engine.ts";
import type { HeardPiece, PieceHearing, PieceRequest } from "./ports.ts";

/** Hears pieces with the speech engine of another process of this program, by its route for recordings. */
export function neighbourPieces(url: NeighbourUrl): PieceHearing {
  return {
    model: () => null,
    knowsLanguage: () => true,
    refusal: () => null,
    async hearPiece(samples, request) {
      const base = url();
      if (base === null) throw engineAway(undefined);
      const form = await encodedPiece(samples, request);
      const { signal } = request;
      const reply = await fetch(`${base}/v1/audio/transcriptions`, { ...form, signal, redirect: "error" })
        .then(async (answer) => ({ ...factsOf(answer), body: jsonOrText(await answer.text()) }))
        .catch((error: unknown) => {
          signal.throwIfAborted();
          throw engineAway(error);
        });
      if (reply.status !== 200) throw engineFault(reply);
      return pieceOf(reply.body);
    },
  };
}

interface EncodedForm {
  readonly method: "POST";
  readonly body: Uint8Array<ArrayBuffer>;
  readonly headers: Readonly<Record<string, string>>;
}

async function encodedPiece(samples: Int16Array, { language, prompt }: PieceRequest): Promise<EncodedForm> {
  const bytes = pcmBytes(samples);
  const form = new FormData();
  const file = new Blob([new Uint8Array(wavHeader(SPEECH_RATE_HZ, bytes.length)), new Uint8Array(bytes)]);
  form.append("file", file, "piece.wav");
  form.append("include[]", "logprobs");
  if (language !== null) form.append("language", language);
  if (prompt !== null) form.append("prompt", prompt);
  const encoding = new Response(form);
  const body = new Uint8Array(await encoding.arrayBuffer());
  return { method: "POST", body, headers: { "content-type": encoding.headers.get("content-type") ?? "" } };
}

interface EngineAnswer {
  readonly status: number;
  /** The header `Retry-After`. */
  readonly retrySeconds: string | null;
}

function factsOf({ status, headers }: Response): EngineAnswer {
  return { status, retrySeconds: headers.get("retry-after") };
}

function pieceOf(body: unknown): HeardPiece {
  if (!readTranscriptionJson(body)) throw engineAway(new Error("the reply is not a transcript"));
  return { text: body.text, language: body.languages?.[0]?.code ?? null, logprobs: body.logprobs ?? [] };
}

function engineAway(cause: unknown): SpeechError {
  return new SpeechError("unavailable", "The process with the speech engine cannot be reached", cause);
}

/** A busy engine is worth another try in a second; one that is loading, later. */
function engineFault({ status, retrySeconds, body }: EngineAnswer & { readonly body: unknown }): SpeechError {
  const error = isRecord(body) && isRecord(body["error"]) ? body["error"] : {};
  const { message } = error;
  const words = typeof message === "string" ? message.replace(/\.$/, "") : `The speech engine answered with ${status}`;
  if (status === 503) return new SpeechError(retrySeconds === "1" ? "busy" : "loading", words);
  return new SpeechError(status < 500 ? "refused" : "crashed", words);
}
