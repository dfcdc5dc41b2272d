import type { ServerResponse } from "node:http";
import { wavHeader } from "@antiphon/speech/audio/wav.ts";
import {
  type ChatServer,
  type ReceivedCall,
  serveChat,
} from "../../src/model-engines/chat-completions/chat-server.fixture.ts";

export const VOICE_KEY = "sk-key-of-the-voice-9876543210";

export interface SpeechCall {
  readonly model: string;
  readonly input: string;
  readonly voice: string;
  readonly response_format: string;
}

export interface VoiceServer {
  readonly calls: readonly ReceivedCall[];
  /** The texts to speak, one per call. */
  readonly asked: () => readonly SpeechCall[];
  /** The settings that point our server to it. */
  readonly env: Readonly<Record<string, string>>;
}

export type Speaking = (response: ServerResponse, asked: SpeechCall, index: number) => unknown;

/** A real server with `/v1/audio/speech`, until the test ends. */
export async function serveVoice(speak: Speaking = speakWav): Promise<VoiceServer> {
  const server: ChatServer = await serveChat((response, call) =>
    speak(response, JSON.parse(call.body), server.calls.length - 1),
  );
  return {
    calls: server.calls,
    asked: () => server.calls.map(({ body }): SpeechCall => JSON.parse(body)),
    env: { VOICE_BASE_URL: `${server.origin}/v1`, VOICE_API_KEY: VOICE_KEY, VOICE_MODEL: "a-voice-model" },
  };
}

export const SERVER_RATE_HZ = 24_000;
const SAMPLES_PER_CHARACTER = 240;

/** Makes 10 ms of sound per character, at a quarter of full loudness. */
export function toneOf(text: string): Buffer {
  const tone = Buffer.alloc(text.length * SAMPLES_PER_CHARACTER * 2);
  for (let index = 0; index < tone.length / 2; index += 1)
    tone.writeInt16LE(Math.round(11_585 * Math.sin((2 * Math.PI * 440 * index) / SERVER_RATE_HZ)), index * 2);
  return tone;
}

export function speakWav(response: ServerResponse, { input }: SpeechCall): void {
  response.writeHead(200, { "content-type": "audio/wav" });
  response.write(wavHeader(SERVER_RATE_HZ, null));
  response.end(toneOf(input));
}
