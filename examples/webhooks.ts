// Starts a response in the background, and is told by a webhook when it has ended.
import { once } from "node:events";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import OpenAI from "openai";

const client = new OpenAI();
const model = process.env["MODEL"] ?? "antiphon-built-in";
const receiver = createServer();
receiver.listen(0, "127.0.0.1");
await once(receiver, "listening");
const address = receiver.address();
const port = typeof address === "object" ? address?.port : address;

const url = `http://127.0.0.1:${port}/webhooks`;
const event_types: ["response.completed", "response.failed"] = ["response.completed", "response.failed"];
const endpoint = await client.webhooks.create({ name: "Example", url, event_types });
const { id } = await client.responses.create({ model, input: "Repeat this: high tide", background: true });

const [request, response] = await once(receiver, "request");
const event = await client.webhooks.unwrap(await text(request), request.headers, endpoint.signing_secret);
response.writeHead(204).end(); // At once: what takes longer comes afterwards.
if (event.type === "response.completed" && event.data.id === id)
  console.log(`${event.type}: ${(await client.responses.retrieve(id)).output_text}`);

await client.webhooks.delete(endpoint.id);
receiver.close();
