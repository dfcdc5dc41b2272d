import type { Logger } from "../base/logger.ts";
import type { TraceContext } from "../base/trace-context.ts";
import type { RequestHead } from "./request-head.ts";

/** What the contract says a caller may send, read and checked. */
export interface OperationRequest {
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** What a handler knows about its request beyond the contract. */
export interface RequestContext<P> {
  readonly requestId: string;
  readonly clientRequestId: string | null;
  readonly principal: P;
  /** Who is at the other end, for handlers that judge for themselves who may ask. */
  readonly peer: RequestHead;
  /** The trace that calls made for the request belong to. */
  readonly trace: TraceContext | null;
  /** Aborts when the client leaves, and when a stopping server has waited long enough. */
  readonly signal: AbortSignal;
  readonly operationId: string;
  /** Milliseconds since 1970. */
  readonly receivedAt: number;
  readonly log: Logger;
}

/** A part of a form that came with a file name. */
export interface UploadedFile {
  /** As the client named it; not to be trusted, like the type. */
  readonly filename: string;
  readonly mimeType: string;
  readonly size: number;
  /** The content from its beginning, as often as it is asked for while the request is served. */
  read(): AsyncIterable<Uint8Array>;
}

export type ReplyHeaders = Readonly<Record<string, string>>;

interface ReplyStart {
  readonly status: number;
  readonly headers?: ReplyHeaders;
}

export interface EventsReply extends ReplyStart {
  readonly events: AsyncIterable<StreamEvent>;
}

export interface LinesReply extends ReplyStart {
  readonly lines: AsyncIterable<object>;
}

export interface BodyReply extends ReplyStart {
  readonly body: unknown;
}

export interface TextReply extends ReplyStart {
  readonly text: string;
  /** `text/plain; charset=utf-8` unless said otherwise. */
  readonly contentType?: string;
}

/** Bytes that are read while they are written. The source is told to return when the client leaves. */
export interface ByteStream {
  readonly size: number;
  readonly chunks: AsyncIterable<Uint8Array>;
}

export interface BytesReply extends ReplyStart {
  readonly bytes: Uint8Array | ByteStream;
  readonly contentType: string;
}

export type Reply = EventsReply | LinesReply | BodyReply | TextReply | BytesReply | ReplyStart;

export interface StreamEvent {
  readonly type: string;
}

/**
 * Written as a method because a handler takes the types of its own operation, which the contract's checks have
 * established by then.
 */
interface Operation<P> {
  serve(request: OperationRequest, context: RequestContext<P>): Promise<Reply>;
}

export type Handler<P> = Operation<P>["serve"];

/** By operation. */
export type HandlerTable<P> = Readonly<Record<string, Handler<P>>>;
