#!/usr/bin/env node
import pino from "pino";
import { readCommandLine } from "./config/command-line.ts";
import { ConfigError } from "./config/config-error.ts";
import { helpText } from "./config/describe-settings.ts";
import { type Config, loadConfig } from "./config/load-config.ts";
import { readEnvironment } from "./config/read-environment.ts";
import { startLocalStt } from "./servers/local-stt.ts";
import { type ResponsesApiServer, startResponsesApi } from "./servers/responses-api.ts";

const USAGE_EXIT_CODE = 2;

if (readCommandLine(process.argv.slice(2)).wantsHelp) console.log(helpText());
else await serve();

/** Serves both interfaces until told to stop. */
async function serve(): Promise<void> {
  const config = configuration();
  const log = pino({ level: config.logLevel, redact: ["*.authorization", "*.apiKey"] });
  const responsesApi = await startResponsesApi(config, log.child({ interface: "responses-api" }));
  const localStt = await startLocalStt(config, log.child({ interface: "local-stt" })).catch(async (error: unknown) => {
    await responsesApi.close();
    throw error;
  });
  greet(responsesApi, localStt.url);
  const stop = async (): Promise<void> => {
    await Promise.all([responsesApi.close(), localStt.close()]);
    log.flush();
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => void stop());
}

function configuration(): Config {
  try {
    return loadConfig(readEnvironment(), process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    console.error(error.message);
    process.exit(USAGE_EXIT_CODE);
  }
}

function greet({ url, model, keys }: ResponsesApiServer, sttUrl: string): void {
  console.log(`Responses API      ${url}/v1   reference: ${url}/docs`);
  console.log(`Speech to text     ${sttUrl}`);
  console.log(`Answers come from  ${model.description}`);
  if (keys.made !== null) console.log(`API key            ${keys.made}   (shown this once; kept in ${keys.file})`);
}
