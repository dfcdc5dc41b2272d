// Asks for one response by two tries of one intention, as a program does that lost a reply, and gets it once.
import OpenAI from "openai";

const client = new OpenAI();
const model = process.env["MODEL"] ?? "antiphon-built-in";
const intention = process.argv[2] ?? `report-${crypto.randomUUID()}`; // Kept by the program, such as with its order.

async function ask(input: string) {
  return await client.responses.create({ model, input }, { headers: { "Idempotency-Key": intention } }).withResponse();
}

const first = await ask("Repeat this: the report is ready");
const second = await ask("Repeat this: the report is ready");
console.log(first.data.output_text);
console.log(`the same response: ${first.data.id === second.data.id}`);
console.log(`told as a repetition: ${second.response.headers.get("idempotent-replayed")}`);

try {
  await ask("Repeat this: another report");
} catch (error) {
  if (!(error instanceof OpenAI.UnprocessableEntityError)) throw error;
  console.log(`another request under the same key: ${error.code}`);
}
