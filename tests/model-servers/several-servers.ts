import { writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import type { Logger } from "@antiphon/base/logger.ts";
import { sse } from "../../src/model-engines/chat-completions/chat-chunks.fixture.ts";
import { type ChatServer, serveChat } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { type Answer, says } from "../responses/behind-upstream.ts";

/** A server in front of several model servers of the test. */
export interface SeveralServers {
  readonly server: TestServer;
  /** The turns that a model server was asked for. */
  readonly turnsOf: (name: string) => number;
  readonly callsOf: (name: string) => ChatServer["calls"];
  /** The path of MODELS_FILE. */
  readonly modelsFile: string;
  /** Writes another `models:` part into the file. */
  readonly rewrite: (models: string) => void;
}

export interface SeveralOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Members of a server's entry, by its name. */
  readonly entries?: Readonly<Record<string, string>>;
  readonly log?: Logger;
}

/** `models`: the part of the file below `models:`. */
export async function serveSeveral(
  answers: Readonly<Record<string, Answer>>,
  models: string,
  { env = {}, entries = {}, log }: SeveralOptions = {},
): Promise<SeveralServers> {
  const servers = new Map<string, ChatServer>();
  for (const [name, answer] of Object.entries(answers)) servers.set(name, await serveChat(answer));
  const file = join(temporaryFolder(), "models.yaml");
  const urls = [...servers].map(([name, { origin }]) => {
    return `  ${name}: { url: "${origin}/v1"${entries[name] === undefined ? "" : `, ${entries[name]}`} }`;
  });
  const rewrite = (text: string): void => writeFileSync(file, `servers:\n${urls.join("\n")}\nmodels:\n${text}\n`);
  rewrite(models);
  const server = await startTestServer({
    env: { MODELS_FILE: file, ...env },
    ...(log === undefined ? {} : { log }),
  });
  const callsOf = (name: string) => servers.get(name)?.calls ?? [];
  const turnsOf = (name: string) => callsOf(name).filter(({ body }) => body.includes('"stream":true')).length;
  return { server, turnsOf, callsOf, modelsFile: file, rewrite };
}

/** Says a text, which tells who said it. */
export const saysWell = says("Well done");

/** Refuses every turn with a status. */
export function refuses(status: number, headers: Readonly<Record<string, string>> = {}): Answer {
  return (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify({ error: { message: `Status ${status}.`, type: "server_error" } }));
  };
}

/** Breaks the connection after the head, and after these chunks. */
export function breaksAfter(...said: readonly unknown[]): Answer {
  return (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (said.length === 0) response.flushHeaders();
    else response.write(sse(...said));
    setImmediate(() => response.destroy());
  };
}

/** Accepts the turn and never begins its answer. */
export const saysNothing: Answer = (response: ServerResponse) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.flushHeaders();
};

/** Closes the connection without a reply. */
export const resets: Answer = (response: ServerResponse) => response.socket?.resetAndDestroy();
