import type { TestServer } from "../kit/test-server.ts";
import { startReceiver } from "./receiver.ts";

/** An endpoint that answers, on a server that may call this machine, and an event that it was sent. */
export async function makeToldEndpoint(server: Pick<TestServer, "post">) {
  const receiver = await startReceiver();
  const endpoint = { name: "Answers", url: receiver.url, event_types: ["response.completed"] };
  const { id } = Object(await (await server.post("/v1/webhook_endpoints", endpoint)).json());
  await server.post("/v1/responses", { model: "antiphon-built-in", input: "Hi", background: true });
  const { event } = await receiver.arrival(0);
  return { webhook_endpoint_id: String(id), event_id: event.id };
}
