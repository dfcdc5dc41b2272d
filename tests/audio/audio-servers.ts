import { engineHearing } from "@antiphon/speech/audio-api/engine-hearing.ts";
import OpenAI from "openai";
import { onTestFinished } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { openToneServer } from "../local-stt/tone-server.ts";
import { type LocalSttServer, type LocalSttServerOptions, startLocalSttServer } from "../local-stt-server.ts";

export const DOORS = ["Interface A", "Interface B", "another process of Interface A"] as const;
export type Door = (typeof DOORS)[number];

export interface AudioServer {
  /** Has no trailing slash and no `/v1`. */
  readonly url: string;
  readonly client: OpenAI;
  /** The speech server that hears. */
  readonly local: LocalSttServer;
  /** Sends a form to a path below /v1/audio. */
  readonly post: (path: string, form: FormData, signal?: AbortSignal) => Promise<Response>;
  close(): Promise<void>;
}

/** One of both interfaces, with the engine that hears tones, until the test ends. */
export async function startAudioServer(door: Door, options: LocalSttServerOptions = {}): Promise<AudioServer> {
  const server = await openAudioServer(door, options);
  onTestFinished(() => server.close());
  return server;
}

/** The same; the caller closes it. */
export async function openAudioServer(door: Door, options: LocalSttServerOptions = {}): Promise<AudioServer> {
  const local = await (options.speech === undefined
    ? openToneServer(options)
    : startLocalSttServer(withEngine(options)));
  const responsesApi = door === "Interface B" ? null : await interfaceA(door, local, options);
  const { url, apiKey } = responsesApi ?? { url: local.url, apiKey: "none" };
  return {
    url,
    local,
    client: new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 }),
    post: async (path, form, signal) => {
      // A form is sent as a stream, which fails beside its request if the server answers before it has read all of it.
      const encoding = new Response(form);
      const body = await encoding.arrayBuffer();
      const headers = new Headers({ "content-type": encoding.headers.get("content-type") ?? "" });
      if (responsesApi !== null) headers.set("authorization", `Bearer ${apiKey}`);
      const abort = signal === undefined ? {} : { signal };
      return fetch(`${url}/v1/audio${path}`, { method: "POST", body, headers, ...abort });
    },
    close: async () => {
      await responsesApi?.close();
      await local.close();
    },
  };
}

/** A given engine counts only where the settings name one. */
function withEngine(options: LocalSttServerOptions): LocalSttServerOptions {
  return { ...options, env: { SPEECH_ENGINE: "whisper", ...options.env } };
}

/** With the engine in its own process, or with one that it asks over HTTP. */
function interfaceA(
  door: Door,
  { url, speech, recordings }: LocalSttServer,
  { env = {} }: LocalSttServerOptions,
): Promise<TestServer> {
  const hearing = engineHearing(speech, recordings);
  const own = { hearing, neighbour: null };
  return startTestServer({ env, heardBy: door === "Interface A" ? own : { hearing: null, neighbour: () => url } });
}

/** A form with this recording, and parts whose lists are repeated. */
export function recordingForm(
  recording: Uint8Array<ArrayBuffer>,
  parts: Readonly<Record<string, string | readonly string[]>> = {},
): FormData {
  const form = new FormData();
  form.append("file", new Blob([recording]), "recording.wav");
  for (const [name, values] of Object.entries(parts)) for (const value of [values].flat()) form.append(name, value);
  return form;
}
