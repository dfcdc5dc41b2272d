import OpenAI from "openai";
import type { WebhookCreateParams } from "openai/resources/webhooks/webhooks";
import { startTestServer, type TestServer, type TestServerOptions } from "../kit/test-server.ts";
import type { Receiver } from "./receiver.ts";

/** Receivers of tests are on this machine, which the guard calls only if the operator allows it. */
export const REACHES_RECEIVERS = { EGRESS_ALLOW: "127.0.0.1" };

export interface WebhookServer {
  readonly server: TestServer;
  readonly client: OpenAI;
}

/** A server that may call receivers on this machine. */
export async function startWebhookServer(options: TestServerOptions = {}): Promise<WebhookServer> {
  const server = await startTestServer({ ...options, env: { ...REACHES_RECEIVERS, ...options.env } });
  return { server, client: clientOf(server) };
}

export function clientOf({ url, apiKey }: Pick<TestServer, "url" | "apiKey">): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });
}

/** Starts a background response, and resolves to its id. */
export async function startRun(client: OpenAI, input = "Hi"): Promise<string> {
  return (await client.responses.create({ model: "antiphon-built-in", input, background: true })).id;
}

/** An endpoint at this receiver, with its secret. */
export function endpoint(client: OpenAI, { url }: Receiver, ...event_types: WebhookCreateParams["event_types"]) {
  return client.webhooks.create({ name: "Test", url, event_types });
}

export interface ShownDelivery {
  readonly id: string;
  readonly status: string;
  readonly attempt_count: number;
  readonly attempts: readonly { readonly error: string | null; readonly status_code: number | null }[];
  readonly event_type: string;
  readonly data: { readonly id: string };
  readonly next_attempt_at: number | null;
}

/** What an endpoint was sent, newest first. */
export async function deliveries(client: OpenAI, endpointId: string): Promise<readonly ShownDelivery[]> {
  const page = await client.get<{ data: ShownDelivery[] }>(`/webhook_endpoints/${endpointId}/deliveries?limit=100`);
  return page.data;
}
