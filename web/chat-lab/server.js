/** What the server says of itself; null where it does not answer. */
export async function fetchHealth() {
  try {
    const reply = await fetch("/healthz", { signal: AbortSignal.timeout(5000) });
    return reply.ok ? await reply.json() : null;
  } catch {
    return null;
  }
}

/** The words of a recording. Throws an error whose message may be shown. */
export async function transcribe(file) {
  const form = new FormData();
  form.set("audio", file);
  return readReply(await send("/transcribe", { method: "POST", body: form }));
}

/** `{text, raw_text, formatted, warning}`. Throws an error whose message may be shown. */
export async function format(request) {
  return readReply(await send("/format", postOf(request)));
}

/** The pieces of the answer to a chat. Throws an error whose message may be shown. */
export async function* chat(messages) {
  const reply = await send("/demo/chat", postOf({ messages, stream: true }));
  if (!reply.ok) await readReply(reply);
  for await (const line of linesOf(reply.body)) {
    const message = JSON.parse(line);
    if (message.type === "error") throw new Error(message.message);
    if (message.type === "chat.delta") yield message.text;
  }
}

function postOf(body) {
  return { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
}

async function send(path, init) {
  try {
    return await fetch(path, init);
  } catch {
    throw new Error("The server does not answer.");
  }
}

async function readReply(reply) {
  const body = await reply.json().catch(() => null);
  if (reply.ok && body !== null) return body;
  throw new Error(body?.error?.message ?? `The server answered with status ${reply.status}.`);
}

async function* linesOf(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let begun = "";
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    const lines = (begun + next.value).split("\n");
    begun = lines.pop() ?? "";
    yield* lines.filter((line) => line !== "");
  }
  if (begun !== "") yield begun;
}
