import { type Logger, silentLogger } from "@antiphon/base/logger.ts";
import type { RecordingTranscriber } from "@antiphon/speech/recognition/recording-transcriber.ts";
import type { SpeechEngine } from "@antiphon/speech/recognition/speech-engine.ts";
import { loadConfig } from "../src/config/load-config.ts";
import { hearingWith, openSpeech } from "../src/servers/choices/choose-speech.ts";
import { startLocalStt } from "../src/servers/local-stt.ts";

export interface LocalSttServerOptions {
  /** Left out: no engine. */
  readonly env?: Readonly<Record<string, string>>;
  readonly log?: Logger;
  /** Replaces the logger that the environment configures. The caller closes it. */
  readonly speech?: SpeechEngine;
}

export interface LocalSttServer {
  readonly url: string;
  readonly speech: SpeechEngine;
  readonly recordings: RecordingTranscriber;
  close(): Promise<void>;
}

/** The speech-to-text server alone, on a free port. */
export async function startLocalSttServer({
  env = {},
  log,
  speech: given,
}: LocalSttServerOptions = {}): Promise<LocalSttServer> {
  const config = loadConfig(
    { STT_PORT: "0", DRAIN_MS: "1000", SPEECH_ENGINE: "none", FIND_LOCAL_DAEMON: "false", ...env },
    [],
  );
  const logger = log ?? { ...silentLogger, error: (fields: object, message: string) => console.error(message, fields) };
  const speech =
    given === undefined ? openSpeech(config, logger) : { ...hearingWith(given, config), close: async () => {} };
  const server = await startLocalStt(config, logger, speech).catch(async (error: unknown) => {
    await speech.close();
    throw error;
  });
  return {
    url: server.url,
    speech: speech.engine,
    recordings: speech.recordings,
    close: async () => {
      await server.close();
      await speech.close();
    },
  };
}

/** Resolves when the engine is ready or has failed. */
export async function settled(speech: SpeechEngine): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const isSettled = (): boolean => ["ready", "demo", "failed"].includes(speech.status().state);
  const stop = speech.watch(() => isSettled() && resolve());
  if (isSettled()) resolve();
  await promise;
  stop();
}
