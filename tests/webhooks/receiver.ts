import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { serveHttp } from "../kit/http-server.ts";

/** One event that arrived, as it was sent. */
export interface Arrival {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly event: { readonly id: string; readonly type: string; readonly data: { readonly id: string } };
}

/** A server of a client's that gets events. */
export interface Receiver {
  readonly url: string;
  readonly arrivals: readonly Arrival[];
  /** The arrival of this number, from 0 on, once it is there. */
  arrival(index: number): Promise<Arrival>;
}

/** Answers with 204. */
export function accept(response: ServerResponse): void {
  response.writeHead(204).end();
}

/** Answers each event in the way that `answer` chooses for its number. */
export async function startReceiver(
  answer: (response: ServerResponse, index: number, arrival: Arrival) => void = accept,
  path = "/webhooks",
): Promise<Receiver> {
  const arrivals: Arrival[] = [];
  const waiting = new Map<number, PromiseWithResolvers<Arrival>>();
  const arrival = (index: number): Promise<Arrival> => {
    const known = arrivals[index];
    if (known !== undefined) return Promise.resolve(known);
    const promised = waiting.get(index) ?? Promise.withResolvers<Arrival>();
    waiting.set(index, promised);
    return promised.promise;
  };
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    const next = { headers: request.headers, body, event: JSON.parse(body) };
    const index = arrivals.push(next) - 1;
    waiting.get(index)?.resolve(next);
    answer(response, index, next);
  };
  const { url } = await serveHttp((request, response) => void receive(request, response));
  return { url: url + path, arrivals, arrival };
}
