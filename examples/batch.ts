// Sends requests as a batch, waits for its end, and prints the answers by their names.
import { setTimeout as sleep } from "node:timers/promises";
import OpenAI, { toFile } from "openai";

const client = new OpenAI();
const model = process.env["MODEL"] ?? "antiphon-built-in";
const questions = { tide: "Repeat this: high tide", sum: "What is 6 * 7?" };
const lines = Object.entries(questions).map(([custom_id, input]) =>
  JSON.stringify({ custom_id, method: "POST", url: "/v1/responses", body: { model, input } }),
);
const file = await client.files.create({
  file: await toFile(Buffer.from(lines.join("\n")), "questions.jsonl"),
  purpose: "batch",
});
// The same key makes the same batch, however often this program is started after a crash.
let batch = await client.batches.create(
  { input_file_id: file.id, endpoint: "/v1/responses", completion_window: "24h" },
  { headers: { "Idempotency-Key": `questions-${file.id}` } },
);
while (["validating", "in_progress", "finalizing"].includes(batch.status)) {
  await sleep(200); // A webhook can tell of the end instead: see webhooks.ts.
  batch = await client.batches.retrieve(batch.id);
}
console.log(`${batch.status}: ${batch.request_counts?.completed} of ${batch.request_counts?.total}`);
const output =
  batch.output_file_id === undefined ? "" : await (await client.files.content(batch.output_file_id)).text();
for (const line of output.split("\n").filter((text) => text !== "")) {
  const { custom_id, response } = JSON.parse(line);
  const message = response.body.output.find((item: { type: string }) => item.type === "message");
  console.log(`${custom_id}: ${message.content[0].text}`);
}
