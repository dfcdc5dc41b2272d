import type { Logger } from "@antiphon/base/logger.ts";
import type { TraceContext } from "@antiphon/base/trace-context.ts";
import type { RequestHead } from "./request-head.ts";

/** The parts of a request that the contract describes, parsed and checked. */
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
  /** The calling connection, for handlers that check it themselves. */
  readonly peer: RequestHead;
  /** The trace context for calls that are made for this request. */
  readonly trace: TraceContext | null;
  /** Aborts when the client leaves, and when a stopping server has waited long enough. */
  readonly signal: AbortSignal;
  readonly operationId: string;
  readonly log: Logger;
}

/** A part of a form that came with a file name. */
export interface UploadedFile {
  /** As sent by the client: untrusted, like the type. */
  readonly filename: string;
  /** The file name with its folders, as the client sent it. */
  readonly path: string;
  readonly mimeType: string;
  readonly size: number;
  /** The content from its beginning. Can be called several times while the request is served. */
  read(): AsyncIterable<Uint8Array>;
}

export type ReplyHeaders = Readonly<Record<string, string>>;

export interface ReplyStart {
  readonly status: number;
  readonly headers?: ReplyHeaders;
}

export interface EventsReply extends ReplyStart {
  /** `EventFrames` are written unchanged. */
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
  /** `text/plain; charset=utf-8` by default. */
  readonly contentType?: string;
}

/** Bytes that are read while they are written. When the client leaves, `return` of the source is called. */
export interface ByteStream {
  /** Null if it is not known before the end. */
  readonly size: number | null;
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
 * A method, so that a handler may declare the narrower types of its own operation, which the contract's checks
 * guarantee.
 */
interface Operation<P> {
  serve(request: OperationRequest, context: RequestContext<P>): Promise<Reply>;
}

export type Handler<P> = Operation<P>["serve"];

/** By operation. */
export type HandlerTable<P> = Readonly<Record<string, Handler<P>>>;
