import type { ApiError } from "@antiphon/base/api-error.ts";
import { jsonOf } from "@antiphon/base/json/json-text.ts";
import { ReplyCut } from "@antiphon/base/reply-cut.ts";
import { UnfinishedStream } from "@antiphon/base/streams/unfinished-stream.ts";
import type { WebSocket } from "ws";
import { ClientLeft } from "../exchange/exchange.ts";
import type { Unread } from "../exchange/unread-bytes.ts";
import { namedFault } from "../faults.ts";
import type { Flight } from "../in-flight.ts";
import type { ServedInterface } from "../options.ts";
import { cancelSource, logUnfinished } from "../stream/write-stream.ts";
import { type IncomingSocket, WebSocketInbox } from "./websocket-inbox.ts";

/** One session, and the parts of its interface that it uses. */
export interface Session extends Pick<ServedInterface, "faults" | "options" | "log"> {
  readonly requestId: string;
  /** The messages to send when the session fails; `last` is the latest message that was sent. */
  readonly errorMessages: (fault: ApiError, last: object | null) => readonly object[];
  /** Aborts when the server begins to stop. */
  readonly draining: AbortSignal;
  /** Whether messages that end while the server is stopping are followed by 1000 instead of 1001. */
  readonly endsByItself: boolean;
}

const CLOSE_NORMAL = 1000;
const CLOSE_GOING_AWAY = 1001;
const CLOSE_TOO_LARGE = 1009;

/** Close codes by the HTTP status of the error; other 4xx are closed with 1008, policy violation. */
const CLOSE_CODES: ReadonlyMap<number, number> = new Map([
  [408, CLOSE_GOING_AWAY],
  [413, CLOSE_TOO_LARGE],
  [415, 1003],
]);
const CLOSE_POLICY = 1008;
const CLOSE_FAULT = 1011;
const CLOSE_TRY_AGAIN = 1013;

/** While more bytes than this wait for a slow reader, no message is pulled from the handler. */
const BUFFERED_BYTES_MAX = 64 * 1024;

/**
 * How long a session that the server ends may still send messages, in milliseconds. Less than the time between the
 * server's abort and its closing of all connections.
 */
const LAST_MESSAGES_MS = 300;

/** Runs one session to its end. An error closes this socket only. */
export function runWebSocketSession(
  incoming: IncomingSocket,
  flight: Flight,
  handle: (messages: AsyncIterableIterator<unknown>) => AsyncIterable<object>,
  session: Session,
): void {
  const { socket } = incoming;
  const { pingIntervalMs } = session.options;
  const inbox = new WebSocketInbox(incoming, session.options.incoming.open(), session.faults);
  const source = handle(inbox)[Symbol.asyncIterator]();
  const stopPings = pingRegularly(socket, pingIntervalMs, () => inbox.checkRate(pingIntervalMs));
  socket.on("error", (error) =>
    session.log.debug({ err: error, requestId: session.requestId }, "WebSocket connection failed"),
  );
  let leaving: NodeJS.Timeout | undefined;
  const leave = (): void => {
    void inbox.return(); // Ends a handler that waits for messages.
    leaving = setTimeout(() => socket.close(CLOSE_GOING_AWAY), LAST_MESSAGES_MS);
  };
  flight.signal.addEventListener("abort", leave, { once: true });
  socket.once("close", (code) => {
    stopPings();
    flight.abort(new ClientLeft("the client closed its WebSocket"));
    clearTimeout(leaving);
    flight.end();
    cancelSource(source, session.log, session.requestId);
    session.log.info({ code, requestId: session.requestId }, "WebSocket closed");
  });
  const unread = session.options.unread.open(() => {
    session.log.warn({ requestId: session.requestId }, "closing WebSocket: client reads too slowly");
    flight.abort(new ReplyCut("the WebSocket was not read"));
    socket.terminate();
  });
  socket.once("close", () => unread.update(0));
  sendAll(socket, source, { ...session, signal: flight.signal, unread }).then(
    (code) => {
      socket.close(inbox.isOversized ? CLOSE_TOO_LARGE : flight.signal.aborted ? CLOSE_GOING_AWAY : code, "");
      if (code === CLOSE_TRY_AGAIN) flight.abort(new ReplyCut("the session broke"));
    },
    (error: unknown) =>
      session.log.error({ err: error, requestId: session.requestId }, "WebSocket could not be written"),
  );
}

/** Resolves to the code to close the socket with. */
async function sendAll(
  socket: WebSocket,
  source: AsyncIterator<object>,
  session: Session & { readonly signal: AbortSignal; readonly unread: Unread },
): Promise<number> {
  let last: object | null = null;
  try {
    for await (const message of { [Symbol.asyncIterator]: () => source }) {
      await sendMessage(socket, message, session.unread);
      last = message;
    }
    return session.draining.aborted && !session.endsByItself ? CLOSE_GOING_AWAY : CLOSE_NORMAL;
  } catch (error) {
    if (session.signal.aborted) return CLOSE_GOING_AWAY; // The close code is enough.
    if (error instanceof UnfinishedStream) {
      logUnfinished(session, error, session.faults);
      return CLOSE_TRY_AGAIN;
    }
    const fault = sessionFault(error, session);
    for (const message of session.errorMessages(fault, last)) await sendMessage(socket, message, session.unread);
    return fault.status >= 500 ? CLOSE_FAULT : (CLOSE_CODES.get(fault.status) ?? CLOSE_POLICY);
  }
}

function sessionFault(error: unknown, { faults, log, requestId }: Session): ApiError {
  const match = namedFault(error, faults);
  if (match !== null) return match;
  log.error({ err: error, requestId }, "WebSocket session failed");
  return faults.internalError(requestId);
}

/** Returns, or resolves, when the next message may be sent. A message for a closed socket is dropped. */
function sendMessage(socket: WebSocket, message: object, unread: Unread): Promise<void> | void {
  if (socket.readyState !== socket.OPEN) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.send(jsonOf(message), () => resolve());
  if (socket.bufferedAmount <= BUFFERED_BYTES_MAX) return;
  unread.update(socket.bufferedAmount);
  return promise.then(() => unread.update(0));
}

/**
 * Terminates a socket whose client has not answered the last ping. A paused socket is kept, because its answer may be
 * unread.
 */
function pingRegularly(socket: WebSocket, intervalMs: number, onPing: () => void): () => void {
  let hasAnswered = true;
  socket.on("pong", () => {
    hasAnswered = true;
  });
  const timer = setInterval(() => {
    onPing();
    if (!hasAnswered && !socket.isPaused) return socket.terminate();
    hasAnswered = false;
    if (socket.readyState === socket.OPEN) socket.ping();
  }, intervalMs);
  return () => clearInterval(timer);
}
