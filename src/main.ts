#!/usr/bin/env node
import { readCommandLine } from "./config/command-line.ts";
import { ConfigError } from "./config/config-error.ts";
import { helpText } from "./config/describe-settings.ts";
import { loadConfig } from "./config/load-config.ts";
import { readEnvironment } from "./config/read-environment.ts";
import { secretsOf } from "./config/secrets-of.ts";
import { ScenarioError } from "./model-engines/built-in/scenario/scenario-error.ts";
import { openSpeech } from "./servers/choose-speech.ts";
import { KeysCommandError, runKeysCommand } from "./servers/keys-command.ts";
import { runLintStream } from "./servers/lint-stream-command.ts";
import { startLocalStt } from "./servers/local-stt.ts";
import { type ResponsesApiServer, startResponsesApi } from "./servers/responses-api.ts";
import { rotateSealKey } from "./servers/seal-keys.ts";
import { showSpeechProgress } from "./servers/speech-progress.ts";
import { type SttCloudServer, startSttCloud } from "./servers/stt-cloud.ts";
import { openLog } from "./telemetry/log.ts";

const FAILURE_EXIT_CODE = 1;
const USAGE_EXIT_CODE = 2;

/** Keys and lists go where scripts read them. */
const OUTPUTS = { print: console.log, note: console.error };

const [first = "", ...others] = process.argv.slice(2);
if (first === "keys") await runKeysCommand(others, readEnvironment(), OUTPUTS).catch(giveUp);
else if (first === "lint-stream") await lintStream().catch(giveUp);
else if (readCommandLine(process.argv.slice(2)).wantsHelp) console.log(helpText());
else if (first === "rotate-seal-key") await rotate().catch(giveUp);
else if (first === "stt-cloud") await serveCloud().catch(giveUp);
else await serve().catch(giveUp);

async function lintStream(): Promise<void> {
  process.exitCode = await runLintStream(others, readEnvironment(), { ...OUTPUTS, stdin: process.stdin });
}

async function rotate(): Promise<void> {
  const count = rotateSealKey(loadConfig(readEnvironment(), others).dataDir);
  console.log(
    `A new key seals from the next start on; ${count - 1} older open what they sealed. Running servers learn to open it by themselves.`,
  );
}

/** Serves both interfaces until told to stop. */
async function serve(): Promise<void> {
  const config = loadConfig(readEnvironment(), process.argv.slice(2));
  const log = openLog({ level: config.logLevel, secrets: secretsOf(config) });
  const speech = openSpeech(config, log.child({ part: "speech" }));
  const responsesApi = await startResponsesApi(
    config,
    log.child({ interface: "responses-api" }),
    config.speechEngine === "none" ? null : speech.engine,
  ).catch(async (error: unknown) => {
    await speech.close();
    throw error;
  });
  const localStt = await startLocalStt(config, log.child({ interface: "local-stt" }), speech.engine).catch(
    async (error: unknown) => {
      await Promise.all([responsesApi.close(), speech.close()]);
      throw error;
    },
  );
  greet(responsesApi, localStt.url);
  if (process.stderr.isTTY) showSpeechProgress(speech.engine, process.stderr);
  const stop = async (): Promise<void> => {
    await Promise.all([responsesApi.close(), localStt.close()]);
    await speech.close();
    log.flush();
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => void stop());
}

/** Serves the cloud stream until told to stop. */
async function serveCloud(): Promise<void> {
  const config = loadConfig(readEnvironment(), others);
  const log = openLog({ level: config.logLevel, secrets: secretsOf(config) });
  const speech = openSpeech(config, log.child({ part: "speech" }));
  const server = await startSttCloud(config, log.child({ interface: "cloud-stt" }), speech.engine).catch(
    async (error: unknown) => {
      await speech.close();
      throw error;
    },
  );
  console.log(`Cloud stream       ${server.url.replace("http", "ws")}/stt/v1/stream`);
  greetWithKey(server);
  if (process.stderr.isTTY) showSpeechProgress(speech.engine, process.stderr);
  const stop = async (): Promise<void> => {
    await server.close();
    await speech.close();
    log.flush();
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => void stop());
}

/** What an operator can mend is said in a sentence; anything else keeps its stack. */
function giveUp(error: unknown): never {
  if (error instanceof ConfigError) {
    console.error(error.message);
    process.exit(USAGE_EXIT_CODE);
  }
  const isPlain = error instanceof ScenarioError || error instanceof KeysCommandError;
  console.error(isPlain ? error.message : (listenFault(error) ?? error));
  process.exit(FAILURE_EXIT_CODE);
}

function listenFault(error: unknown): string | null {
  if (!(error instanceof Error && "syscall" in error && error.syscall === "listen")) return null;
  return `Cannot serve: ${error.message}. ${first === "stt-cloud" ? "STT_CLOUD_HOST and STT_CLOUD_PORT" : "HOST, PORT and STT_PORT"} choose other addresses.`;
}

function greet(server: ResponsesApiServer, sttUrl: string): void {
  console.log(`Responses API      ${server.url}/v1   reference: ${server.url}/docs`);
  console.log(`Speech to text     ${sttUrl}`);
  console.log(`Answers come from  ${server.model.description}`);
  greetWithKey(server);
}

function greetWithKey({ keys }: Pick<ResponsesApiServer | SttCloudServer, "keys">): void {
  if (keys.made !== null) console.log(`API key            ${keys.made}   (shown this once; kept in ${keys.file})`);
}
