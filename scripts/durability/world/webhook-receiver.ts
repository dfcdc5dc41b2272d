import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { readJson } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import { cleanUp } from "../../bench/clean-up.ts";

/** An event of a webhook as it arrived, and whether it was accepted. */
export interface Arrival {
  readonly eventId: string;
  readonly responseId: string;
  readonly isAccepted: boolean;
}

export interface WebhookReceiver {
  readonly url: string;
  readonly arrivals: readonly Arrival[];
  stop(): void;
}

/** A receiver that fails the first time for most events: it refuses, or breaks the connection. */
export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const arrivals: Arrival[] = [];
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const event = readJson(await text(request));
    const data = isRecord(event) ? event["data"] : null;
    const eventId = String(request.headers["webhook-id"]);
    const isFirst = !arrivals.some((arrival) => arrival.eventId === eventId);
    const luck = isFirst ? Math.random() : 1;
    arrivals.push({ eventId, responseId: isRecord(data) ? String(data["id"]) : "", isAccepted: luck > FAILS_SHARE });
    if (luck > FAILS_SHARE) response.writeHead(204).end();
    else if (luck > FAILS_SHARE / 2) response.writeHead(500).end();
    else response.destroy();
  };
  const server = createServer((request, response) => void receive(request, response).catch(() => response.destroy()));
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await promise;
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the receiver has no port");
  return { url: `http://127.0.0.1:${address.port}/`, arrivals, stop: cleanUp(() => server.close()) };
}

const FAILS_SHARE = 0.6;
