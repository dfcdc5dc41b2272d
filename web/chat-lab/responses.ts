import { Antiphon, type AnyStreamEvent, APIConnectionError } from "../../src/client/index.ts";
import { Conversation } from "./conversation.ts";
import { byId, setText } from "./elements.ts";

/**
 * A conversation with a Responses API that the user chooses. The key is kept in this page and sent only to that API.
 */
export function openResponses(takeText: () => string): Conversation {
  let previousId: string | null = null;
  const baseUrl = byId("responses-url", HTMLInputElement);
  const key = byId("responses-key", HTMLInputElement);
  const model = byId("responses-model", HTMLInputElement);
  const client = (): Antiphon => new Antiphon({ baseUrl: baseUrl.value, apiKey: key.value.trim(), retriesMax: 1 });
  for (const input of [baseUrl, key]) {
    input.addEventListener("change", () => {
      previousId = null;
      void listModels(client, model);
    });
  }

  async function* ask(question: string, signal: AbortSignal): AsyncGenerator<string, string> {
    const stream = await client()
      .createResponse(
        { model: model.value.trim(), input: question, stream: true, previous_response_id: previousId },
        { signal },
      )
      .catch((error: unknown) => {
        throw error instanceof APIConnectionError ? new Error(unreachable(baseUrl.value), { cause: error }) : error;
      });
    for await (const event of stream) {
      const text = textOf(event);
      if (text !== "") yield text;
      if (event.type !== "response.completed" && event.type !== "response.incomplete") continue;
      previousId = event.response.id;
      return noteOf(event);
    }
    throw new Error("The answer failed.");
  }

  return new Conversation({
    id: "responses",
    takeText,
    ask,
    forget: () => {
      previousId = null;
    },
  });
}

function textOf(event: AnyStreamEvent): string {
  if (event.type === "response.output_text.delta" || event.type === "response.refusal.delta") return event.delta;
  return "";
}

function noteOf({ response }: Extract<AnyStreamEvent, { type: "response.completed" | "response.incomplete" }>): string {
  const { usage, model, incomplete_details: cut } = response;
  const tokens = usage === null ? "" : `, ${usage.output_tokens} tokens`;
  return cut === null ? `Answered by ${model}${tokens}.` : `Cut short (${cut.reason ?? "no reason given"})${tokens}.`;
}

/** Origins that the page's content security policy has blocked. */
const forbidden = new Set<string>();

document.addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI }) => {
  if (effectiveDirective === "connect-src") forbidden.add(originOf(blockedURI));
});

function unreachable(baseUrl: string): string {
  const origin = originOf(baseUrl);
  if (forbidden.has(origin))
    return `This page may not send to ${origin}. To allow it, add the origin to CHAT_LAB_SERVERS.`;
  return `${origin} does not answer this page. Is it running, and does its CORS_ORIGINS list ${window.location.origin}?`;
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url;
}

/** Offers the server's models, if it can be reached. A model can also be typed. */
async function listModels(client: () => Antiphon, model: HTMLInputElement): Promise<void> {
  const note = byId("responses-models-note", HTMLElement);
  try {
    const { data } = await client().listModels({ retriesMax: 0 });
    const options = data.map(({ id }) => {
      const option = document.createElement("option");
      option.value = id;
      return option;
    });
    byId("responses-models", HTMLElement).replaceChildren(...options);
    if (model.value === "" && data[0] !== undefined) model.value = data[0].id;
    setText(note, data.length === 1 ? "1 model." : `${data.length} models.`);
  } catch {
    setText(note, ""); // A failure is shown when a question is sent.
  }
}
