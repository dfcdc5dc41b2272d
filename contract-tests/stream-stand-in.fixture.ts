import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createInterface } from "node:readline";
import { type WebSocket, WebSocketServer } from "ws";

/** What a stand-in sends: at the start, after the first message, and after later messages. */
export interface Script {
  readonly opening: readonly object[];
  readonly answers: readonly object[];
  /** Sent after later messages, before the stream ends. Null ends the stream after `answers`. */
  readonly ending: readonly object[] | null;
}

export interface StandIn {
  readonly url: string;
  /** The client's messages in order. */
  readonly received: readonly unknown[];
  close(): Promise<void>;
}

/** Starts a stand-in for a stream server, over NDJSON and WebSocket, that follows its script. */
export async function startStandIn(script: Script): Promise<StandIn> {
  const received: unknown[] = [];
  const server = createServer((request, response) => serveLines(request, response, script, received));
  const sockets = new WebSocketServer({ server });
  sockets.on("connection", (socket) => serveSocket(socket, script, received));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const close = async (): Promise<void> => {
    for (const socket of sockets.clients) socket.terminate();
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  };
  return { url: `http://127.0.0.1:${port}`, received, close };
}

function serveLines(request: IncomingMessage, response: ServerResponse, script: Script, received: unknown[]): void {
  response.writeHead(200, { "content-type": "application/x-ndjson" });
  const say = (message: object): void => void response.write(`${JSON.stringify(message)}\n`);
  const play = player(script, received, say, () => response.end());
  createInterface({ input: request }).on("line", (line) => line !== "" && play(line));
}

function serveSocket(socket: WebSocket, script: Script, received: unknown[]): void {
  const say = (message: object): void => socket.send(JSON.stringify(message));
  const play = player(script, received, say, () => socket.close(1000));
  socket.on("message", (bytes: Buffer) => play(bytes.toString()));
}

/** Returns the function that handles each message. */
function player(
  { opening, answers, ending }: Script,
  received: unknown[],
  say: (message: object) => void,
  end: () => void,
): (text: string) => void {
  opening.forEach(say);
  return (text) => {
    const isFirst = received.push(JSON.parse(text)) === 1;
    (isFirst ? answers : (ending ?? [])).forEach(say);
    if (!isFirst || ending === null) end();
  };
}
