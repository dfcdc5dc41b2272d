import { STATUS_CODES } from "node:http";
import { NO_SNIFFING } from "./exchange.ts";

/** The text of a whole HTTP reply with `connection: close`, for connections that have no response object. */
export function rawReply(status: number, headers: Readonly<Record<string, string>>, body: object): string {
  const json = JSON.stringify(body);
  const all = {
    ...NO_SNIFFING,
    ...headers,
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(json)),
    connection: "close",
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${lines.join("")}\r\n${json}`;
}
