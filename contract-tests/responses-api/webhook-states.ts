import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import OpenAI from "openai";
import type { Service } from "../providers.fixture.ts";
import { POLL_MS } from "./wait-for-end.ts";

/** The discard port: nothing is sent there. */
const NOWHERE = "http://127.0.0.1:9/";

/** The states of a provider that has endpoints of webhooks. */
export function webhookStates({ url, apiKey }: Pick<Service, "url" | "apiKey">) {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey });
  const newEndpoint = async (address: string): Promise<string> => {
    const event_types = ["response.completed" as const];
    return (await client.webhooks.create({ name: "Answers", url: address, event_types })).id;
  };
  return {
    "a webhook endpoint": async () => ({ webhook_endpoint_id: await newEndpoint(NOWHERE) }),
  };
}

/** States of a server that may call this machine. */
export function stagedWebhookStates({ url, apiKey, model }: Service) {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey });
  const receiver = createServer((request, response) => {
    request.resume();
    response.end();
  });
  const stopped = webhookStates({ url, apiKey });
  return {
    "a webhook endpoint that answers": {
      setup: async () => {
        receiver.listen(0, "127.0.0.1");
        await once(receiver, "listening");
        const address = `http://127.0.0.1:${portOf(receiver.address())}/`;
        const event_types = ["response.completed" as const];
        return {
          webhook_endpoint_id: (await client.webhooks.create({ name: "Answers", url: address, event_types })).id,
        };
      },
      teardown: async () => {
        receiver.closeAllConnections();
        receiver.close();
      },
    },
    "a webhook endpoint that was sent two events": async () => {
      const { webhook_endpoint_id } = await stopped["a webhook endpoint"]();
      for (const input of ["One", "Two"]) await client.responses.create({ model, input, background: true });
      const path = `/webhook_endpoints/${webhook_endpoint_id}/deliveries`;
      for (;;) {
        const { data } = await client.get<{ readonly data: readonly { readonly id: string }[] }>(path);
        const [event, other] = data;
        if (event !== undefined && other !== undefined) return { webhook_endpoint_id, event_id: event.id };
        await sleep(POLL_MS);
      }
    },
  };
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === "string") throw new Error("the receiver has no port");
  return address.port;
}
