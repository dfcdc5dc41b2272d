import { onTestFinished } from "vitest";
import { type LocalSttServer, type LocalSttServerOptions, settled, startLocalSttServer } from "../local-stt-server.ts";
import { toneModelFile, whisperForTests } from "../speech/whisper-for-tests.ts";

/** The real engine; null if this machine cannot build it. */
export const program = await whisperForTests();

/** The speech-to-text server with the real engine and the model of tone words, until the test ends. */
export async function startToneServer(options: LocalSttServerOptions = {}): Promise<LocalSttServer> {
  const server = await openToneServer(options);
  onTestFinished(() => server.close());
  return server;
}

/** The same; the caller closes it. */
export async function openToneServer(options: LocalSttServerOptions = {}): Promise<LocalSttServer> {
  const server = await startLocalSttServer({ ...options, env: { ...(await toneSettings()), ...options.env } });
  await settled(server.speech);
  return server;
}

/** Settings that make any server use the model of tone words. */
export async function toneSettings(): Promise<Record<string, string>> {
  return {
    SPEECH_ENGINE: "whisper",
    WHISPER_SERVER_PATH: program ?? "",
    WHISPER_MODEL_PATH: await toneModelFile(),
    WHISPER_THREADS: "1",
    FIND_LOCAL_DAEMON: "false",
  };
}
