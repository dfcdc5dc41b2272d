import {
  Antiphon,
  type AntiphonSpeech,
  type AnyStreamEvent,
  APIConnectionError,
} from "../../packages/client/src/index.ts";
import { Conversation } from "./conversation.ts";
import { byId, setText } from "./elements.ts";
import { keep, keepField, keptText } from "./kept.ts";
import { LentKey } from "./lent-key.ts";

const PREVIOUS = "responses-previous";
const RUNNING = "responses-running";

type Answer = AsyncGenerator<string, string>;
type MakeClient = () => Antiphon;

/**
 * A conversation with a Responses API that the user chooses. The key is kept in this tab and sent only to that API. On
 * this machine, answers go on when the page is reloaded.
 */
export function openResponses(speech: AntiphonSpeech, takeText: () => string): Conversation {
  const baseUrl = byId("responses-url", HTMLInputElement);
  const key = byId("responses-key", HTMLInputElement);
  const model = byId("responses-model", HTMLInputElement);
  for (const field of [baseUrl, key, model]) keepField(field);
  const lent = new LentKey(speech, { baseUrl, key });
  const client: MakeClient = () => new Antiphon({ baseUrl: baseUrl.value, apiKey: lent.keyToSend(), retriesMax: 1 });
  const list = (): void => {
    lent.show();
    if (lent.keyToSend() !== "") void listModels(client, model);
  };
  for (const input of [baseUrl, key])
    input.addEventListener("change", () => {
      keep(PREVIOUS, "");
      list();
    });
  void lent.ask().then(list);
  return new Conversation({
    id: "responses",
    takeText,
    ask: (question, signal) => ask(client, { question, model: model.value.trim(), baseUrl: baseUrl.value }, signal),
    resume: () => {
      const running = keptText(RUNNING);
      return running === "" ? null : (signal) => takeUp(client, { running, lent }, signal);
    },
    forget: () => keep(PREVIOUS, ""),
  });
}

interface Question {
  readonly question: string;
  readonly model: string;
  readonly baseUrl: string;
}

async function* ask(client: MakeClient, { question, model, baseUrl }: Question, signal: AbortSignal): Answer {
  const previous = keptText(PREVIOUS);
  const request = {
    model,
    input: question,
    stream: true,
    previous_response_id: previous === "" ? null : previous,
    // Other servers may not have background responses.
    ...(isOfThisMachine(baseUrl) ? { background: true } : {}),
  } as const;
  const stream = await client()
    .createResponse(request, { signal })
    .catch((error: unknown) => {
      throw error instanceof APIConnectionError ? new Error(unreachable(baseUrl), { cause: error }) : error;
    });
  return yield* read(client, stream, signal);
}

/** The answer that went on while the page was reloaded, from its beginning. */
async function* takeUp(
  client: MakeClient,
  { running, lent }: { readonly running: string; readonly lent: LentKey },
  signal: AbortSignal,
): Answer {
  await lent.ask();
  const events = await client().streamResponseEvents(running, { dialect: "reference" }, { signal });
  return yield* read(client, events, signal);
}

async function* read(client: MakeClient, events: AsyncIterable<AnyStreamEvent>, signal: AbortSignal): Answer {
  try {
    for await (const event of events) {
      if (event.type === "response.created" && event.response.background === true) keep(RUNNING, event.response.id);
      const text = textOf(event);
      if (text !== "") yield text;
      if (event.type !== "response.completed" && event.type !== "response.incomplete") continue;
      keep(PREVIOUS, event.response.id);
      return noteOf(event);
    }
  } finally {
    const running = keptText(RUNNING);
    keep(RUNNING, "");
    if (signal.aborted && running !== "") await cancel(client, running);
  }
  throw new Error("The answer failed.");
}

async function cancel(client: MakeClient, responseId: string): Promise<void> {
  await client()
    .cancelResponse(responseId)
    .catch(() => {}); // It has ended meanwhile.
}

function isOfThisMachine(url: string): boolean {
  return URL.canParse(url) && ["127.0.0.1", "localhost", "[::1]"].includes(new URL(url).hostname);
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
async function listModels(client: MakeClient, model: HTMLInputElement): Promise<void> {
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
