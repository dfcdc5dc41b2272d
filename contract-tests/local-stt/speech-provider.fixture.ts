import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { silentLogger } from "../../src/base/logger.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { startLocalStt } from "../../src/servers/local-stt.ts";
import { createNoSpeech } from "../../src/speech/no-speech.ts";
import type { SpeechEngine } from "../../src/speech/speech-engine.ts";
import { settled } from "../../tests/local-stt-server.ts";
import { openEngine, toneModelFile, whisperForTests } from "../../tests/speech/whisper-for-tests.ts";
import { openFrontDoor, serverAt, type Target } from "../front-door.fixture.ts";
import { formattingAt, startBreakingFormatter, startFormatter } from "./formatters.fixture.ts";
import { type Setting, settingOf } from "./provider-states.fixture.ts";
import { STAGED_ENGINES } from "./speech-engines.fixture.ts";

/** The real engine; null where this machine cannot build it. */
export const program = await whisperForTests();

const SETTINGS = { STT_PORT: "0", DRAIN_MS: "1000", FIND_LOCAL_DAEMON: "false" };

export interface SpeechProvider {
  /** Where whatever state was asked for last is found. */
  readonly url: string;
  /** Starts a server in this state; the one before ends. */
  enter(state: string): Promise<void>;
  /** Stops the server. */
  leave(): Promise<void>;
  close(): Promise<void>;
}

/** Whether the state needs an engine that this machine cannot build. */
export function lacksEngine(state: string): boolean {
  return program === null && settingOf(state).engine === "tones";
}

/** The real server in any of its states. One engine and its model, and one formatter, serve all of them. */
export async function openSpeechProvider(): Promise<SpeechProvider> {
  const [door, tones, writing, breaking] = await Promise.all([
    openFrontDoor(),
    program === null ? null : openTones(program),
    startFormatter(),
    startBreakingFormatter(),
  ]);
  const speechFor = ({ engine }: Setting): SpeechEngine => {
    if (engine === undefined) return createNoSpeech("Speech is switched off");
    if (engine !== "tones") return STAGED_ENGINES[engine];
    if (tones === null) throw new Error("this machine has no engine");
    return tones;
  };
  const envFor = ({ formatter, env }: Setting): Record<string, string> => {
    if (formatter === undefined) return { ...SETTINGS, ...env };
    const { baseUrl } = formatter === "writing" ? writing : breaking;
    return { ...SETTINGS, ...formattingAt(baseUrl), ...env };
  };
  let leave = async (): Promise<void> => {};
  const enter = async (state: string): Promise<void> => {
    await leave();
    const setting = settingOf(state);
    const server = await startLocalStt(loadConfig(envFor(setting), []), silentLogger, speechFor(setting));
    const { target, undo } = await arrange(setting, server);
    door.leadTo(target);
    leave = async () => {
      undo();
      await server.close();
    };
  };
  const close = async (): Promise<void> => {
    await Promise.all([door.close(), leave()]);
    await Promise.all([tones?.close(), writing.close(), breaking.close()]);
  };
  return { url: door.url, enter, leave: () => leave(), close };
}

async function openTones(path: string) {
  const engine = openEngine(path, await toneModelFile());
  await settled(engine);
  return engine;
}

interface Server {
  readonly url: string;
  close(): Promise<void>;
}

interface Arranged {
  readonly target: Target;
  undo(): void;
}

async function arrange({ then }: Setting, server: Server): Promise<Arranged> {
  const target = serverAt(server.url);
  if (then === undefined) return { target, undo: () => {} };
  const stream = await openStream(server.url);
  if (then === "take_all_streams") return { target, undo: () => void stream.destroy() };
  const early = target(); // A server that is stopping takes no more connections.
  await once(early, "connect");
  void server.close();
  return { target: () => early, undo: () => [stream, early].forEach((socket) => socket.destroy()) };
}

/** A stream that says nothing, which a stopping server waits for. */
async function openStream(url: string): Promise<Socket> {
  const { hostname, port, host } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on("error", () => {});
  const head = ["POST /stream/transcribe HTTP/1.1", `Host: ${host}`, "Content-Type: application/x-ndjson"];
  socket.write(`${[...head, "Transfer-Encoding: chunked"].join("\r\n")}\r\n\r\n`);
  await once(socket, "data");
  return socket;
}
