// Prints an answer while the model writes it. OPENAI_BASE_URL and OPENAI_API_KEY name the server.
import OpenAI from "openai";

const stream = await new OpenAI().responses.create({
  model: process.env["MODEL"] ?? "antiphon-built-in",
  input: process.argv[2] ?? "Write a sentence about the sea",
  stream: true,
});
for await (const event of stream) {
  if (event.type === "response.output_text.delta") process.stdout.write(event.delta);
  if (event.type === "response.completed") console.log(`\n(${event.response.usage?.output_tokens} tokens)`);
}
