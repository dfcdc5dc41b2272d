// Starts a response in the background, loses its connection, and takes it up behind the last event that it has seen.
import OpenAI from "openai";

const LOST_AFTER = 10;

const client = new OpenAI();
const model = process.env["MODEL"] ?? "antiphon-built-in";
const stream = await client.responses.create({ model, input: "Count to 30", background: true, stream: true });
let [id, last] = ["", 0];
for await (const event of stream) {
  if (event.type === "response.created") id = event.response.id;
  last = event.sequence_number;
  if (last >= LOST_AFTER) break;
}
console.log(`lost after event ${last}`);

const rest = await client.responses.retrieve(id, { stream: true, starting_after: last });
let first: number | null = null;
for await (const event of rest) {
  first ??= event.sequence_number;
  if (event.type === "response.completed") console.log(`taken up at event ${first}: ${event.response.status}`);
}
console.log((await client.responses.retrieve(id)).output_text);
