import type { IncomingHttpHeaders } from "node:http";

/** The facts about a request before its body is read. */
export interface RequestHead {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly remoteAddress: string;
  /** The ports of both ends; 0 if the connection is already closed. */
  readonly remotePort: number;
  readonly localPort: number;
}
