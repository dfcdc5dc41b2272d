import { type FormEvent, useState } from "react";
import type { ResponsesApi } from "../../../packages/client/src/index.ts";
import { sentenceOf } from "../api/use-call.ts";
import { EVENT_TYPES, isEventType } from "./event-types.ts";

/** What the form of an endpoint has in its fields. */
export interface EndpointFields {
  readonly name: string;
  readonly url: string;
  readonly event_types: ResponsesApi.WebhookEventType[];
  readonly status: ResponsesApi.WebhookEndpoint["status"];
}

interface EndpointFormProps {
  /** The endpoint that changes; null for a new one. */
  readonly known: ResponsesApi.WebhookEndpoint | null;
  readonly onSend: (fields: EndpointFields) => Promise<void>;
}

/** The name, the URL and the events of an endpoint; of a known one also whether it is told. */
export function EndpointForm({ known, onSend }: EndpointFormProps) {
  const [trouble, setTrouble] = useState("");
  const [isSending, setIsSending] = useState(false);
  const send = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    setIsSending(true);
    onSend(fieldsOf(new FormData(event.currentTarget), known)).catch((error: unknown) => {
      setTrouble(sentenceOf(error));
      setIsSending(false);
    });
  };
  return (
    <form className="key-form" onSubmit={send}>
      <label className="field">
        <span>Name</span>
        <input name="name" required maxLength={100} defaultValue={known?.name ?? ""} />
      </label>
      <label className="field">
        <span>URL</span>
        <input name="url" type="url" required defaultValue={known?.url ?? ""} />
      </label>
      <fieldset>
        <legend>Events</legend>
        {EVENT_TYPES.map((type) => (
          <label key={type}>
            <input
              type="checkbox"
              name="event_types"
              value={type}
              defaultChecked={known === null || known.event_types.includes(type)}
            />{" "}
            {type}
          </label>
        ))}
      </fieldset>
      {known === null ? null : (
        <label>
          <input type="checkbox" name="enabled" defaultChecked={known.status === "enabled"} /> is told
        </label>
      )}
      <button className="main" type="submit" disabled={isSending}>
        {known === null ? "Make the endpoint" : "Save"}
      </button>
      <p className="trouble" role="alert">
        {trouble}
      </p>
    </form>
  );
}

function fieldsOf(form: FormData, known: ResponsesApi.WebhookEndpoint | null): EndpointFields {
  const text = (name: string): string => {
    const value = form.get(name);
    return typeof value === "string" ? value.trim() : "";
  };
  return {
    name: text("name"),
    url: text("url"),
    event_types: form.getAll("event_types").filter(isEventType),
    status: known === null || form.get("enabled") !== null ? "enabled" : "disabled",
  };
}
