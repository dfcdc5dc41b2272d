import type { ClientRequest, ClientSend, RequestOptions } from "@antiphon/contracts/local-stt/client.ts";
import { CallWatch } from "../http/call-watch.ts";
import type { Connection } from "../http/connection.ts";
import { cancelIterator, isAsyncIterable, SPEECH_MESSAGES } from "../http/line-stream.ts";
import { ReplyStream } from "../http/reply-stream.ts";
import { trustReply } from "../http/trust-reply.ts";
import { writeQuery } from "../http/write-query.ts";
import { type OpenSocket, type Socket, SocketInbox } from "./socket-inbox.ts";

const SOCKET_PATH = "/ws/transcribe";
const BUFFERED_BYTES_MAX = 1024 * 1024;
/** No message is sent while more replies than this wait to be read. */
const UNREAD_MESSAGES_MAX = 256;
/** WebSockets emit no event when their buffer drains, so it is polled. */
const ROOM_POLL_MS = 10;

/** Sends streams over a WebSocket, and all other requests by `send`. */
export function sendStreamsBySocket(send: ClientSend, connection: Connection, openSocket: OpenSocket): ClientSend {
  return async <Reply>(request: ClientRequest, options: RequestOptions = {}): Promise<Reply> => {
    if (request.accept !== "lines" || !isAsyncIterable(request.body)) return send(request, options);
    const watch = new CallWatch({ signal: options.signal, timeoutMs: options.timeoutMs ?? connection.timeoutMs });
    watch.signal.throwIfAborted();
    const socket = openSocket(connection.baseUrl.replace(/^http/, "ws") + SOCKET_PATH + writeQuery(request.query));
    return trustReply(await openStream(socket, request.body, watch));
  };
}

async function openStream(socket: Socket, messages: AsyncIterable<unknown>, watch: CallWatch): Promise<ReplyStream> {
  const inbox = new SocketInbox(socket, watch);
  await inbox.open();
  const iterator = messages[Symbol.asyncIterator]();
  watch.whenOver(() => cancelIterator(iterator));
  sendMessages(socket, iterator, inbox).catch((error: unknown) => watch.end(error));
  return new ReplyStream(inbox.read(), { watch, kind: SPEECH_MESSAGES, headers: new Headers() });
}

async function sendMessages(socket: Socket, iterator: AsyncIterator<unknown>, inbox: SocketInbox): Promise<void> {
  for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
    if (!(await waitForRoom(socket, inbox))) return cancelIterator(iterator);
    socket.send(JSON.stringify(next.value));
  }
}

/** Resolves to true once another message can be sent, and to false if the socket closes before that. */
export async function waitForRoom(socket: Socket, inbox: SocketInbox): Promise<boolean> {
  while (inbox.isOpen && (inbox.unread > UNREAD_MESSAGES_MAX || socket.bufferedAmount > BUFFERED_BYTES_MAX)) {
    await new Promise((resolve) => setTimeout(resolve, ROOM_POLL_MS));
  }
  return inbox.isOpen;
}
