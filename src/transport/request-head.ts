import type { IncomingHttpHeaders } from "node:http";

/** A request as the doors see it: nothing of its body has been read. */
export interface RequestHead {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly remoteAddress: string;
}
