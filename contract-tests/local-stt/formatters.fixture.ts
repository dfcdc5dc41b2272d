import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";

const PROVIDER = join(import.meta.dirname, "../../tests/local-stt/chat-process.ts");
const KEY = "sk-the-key-of-the-formatter-0123456789";

/** A reserved port on which no server listens. */
export const UNREACHABLE_URL = "http://127.0.0.1:9/v1";

/** The settings of a server that uses the formatter at `baseUrl`. */
export function formattingAt(baseUrl: string, changes: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { FORMATTER_BASE_URL: baseUrl, FORMATTER_API_KEY: KEY, FORMATTER_MODEL: "writer", ...changes };
}

export interface Formatter {
  readonly baseUrl: string;
  close(): Promise<void>;
}

/** Starts a chat-completions server in its own process, with a key and the model `writer`. */
export async function startFormatter(): Promise<Formatter> {
  const child = spawn(process.execPath, [PROVIDER, "--key", KEY], { stdio: ["ignore", "pipe", "inherit"] });
  const gone = once(child, "exit");
  const close = async (): Promise<void> => {
    child.kill("SIGKILL");
    await gone;
  };
  for await (const line of createInterface({ input: child.stdout })) {
    const [, port] = /^port (\d+)$/.exec(line) ?? [];
    if (port !== undefined) return { baseUrl: `http://127.0.0.1:${port}/v1`, close };
  }
  throw new Error("the formatter ended");
}

/** Starts a chat-completions server that sends one word and closes the connection. */
export async function startBreakingFormatter(): Promise<Formatter> {
  const chunk = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1_700_000_000, model: "writer" };
  const choices = [{ index: 0, delta: { role: "assistant", content: "Good " }, finish_reason: null }];
  const server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`data: ${JSON.stringify({ ...chunk, choices })}\n\n`, () => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  };
  return { baseUrl: `http://127.0.0.1:${port}/v1`, close };
}
