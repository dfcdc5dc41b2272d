import { useState } from "react";
import type { ResponsesApi } from "../../../src/client/index.ts";
import { useClient } from "../api/session.ts";
import { sentenceOf, useCall } from "../api/use-call.ts";
import { formatBytes, formatMs } from "../base/format.ts";
import { indentedJson } from "../base/members.ts";
import { Json, JsonText } from "../items/json.tsx";
import { Disclosure } from "../shell/disclosure.tsx";
import { Icon } from "../shell/icons.tsx";

const KINDS: Readonly<Record<ResponsesApi.ResponseExchange["kind"], string>> = {
  mcp: "MCP server",
  model: "Model server",
  web_search: "Search provider",
};

/** What this server asked others for a run, and what it left out or made up itself. */
export function ExchangesTab({ id }: { readonly id: string }) {
  const client = useClient();
  const [version, setVersion] = useState(0);
  const [trouble, setTrouble] = useState("");
  const { reply, error } = useCall((signal) => client.listResponseExchanges(id, { signal }), [client, id, version]);
  if (reply === null) return <p className="empty">{error ?? "Loading…"}</p>;
  const remove = (): void => {
    client.deleteResponseExchanges(id).then(
      () => setVersion(version + 1),
      (failure: unknown) => setTrouble(sentenceOf(failure)),
    );
  };
  return (
    <>
      <Notes notes={reply.notes} />
      <section aria-label="Exchanges">
        <div className="section-head">
          <h2>Exchanges</h2>
          {reply.data.length === 0 ? null : (
            <button type="button" onClick={remove}>
              <Icon name="trash" /> Delete what is kept
            </button>
          )}
        </div>
        {reply.is_complete ? null : (
          <p className="hint">Some exchanges were too large or too many, and were not kept.</p>
        )}
        <p className="trouble" role="alert">
          {trouble}
        </p>
        {reply.data.length === 0 ? <NothingKept isKept={reply.is_kept} /> : null}
        {reply.data.map((exchange) => (
          <Exchange key={exchange.id} exchange={exchange} />
        ))}
      </section>
    </>
  );
}

function NothingKept({ isKept }: { readonly isKept: boolean }) {
  return isKept ? (
    <p className="empty">No other server was asked for this run, or what was kept has expired.</p>
  ) : (
    <p className="empty">
      This server keeps no exchanges. Set <code>KEEP_EXCHANGES</code> to see the requests to model servers and tools,
      byte by byte and without their secrets.
    </p>
  );
}

function Notes({ notes }: { readonly notes: readonly ResponsesApi.ResponseNote[] }) {
  return (
    <section aria-label="Omitted and emulated">
      <h2>Omitted and emulated</h2>
      {notes.length === 0 ? (
        <p className="hint">Nothing is known to have been left out or imitated.</p>
      ) : (
        <ul className="notes">
          {notes.map(({ kind, what, why }, index) => (
            <li key={index}>
              <span className="tag" data-status={kind}>
                {kind}
              </span>{" "}
              <code>{what}</code> {why}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Exchange({ exchange }: { readonly exchange: ResponsesApi.ResponseExchange }) {
  const { kind, turn, request, response: reply, first_byte_ms: firstByteMs, duration_ms: durationMs, error } = exchange;
  return (
    <Disclosure
      className="exchange card"
      summary={
        <>
          <span className="exchange-kind">{KINDS[kind]}</span>
          <code className="exchange-url">
            {request.method} {request.url}
          </code>
          {turn === null ? null : <span className="tag">turn {turn}</span>}
          <span className="tag" data-status={reply === null || reply.status >= 400 ? "failed" : "completed"}>
            {reply?.status ?? "no reply"}
          </span>
          <span className="hint">
            {formatMs(firstByteMs)} to the first byte, {formatMs(durationMs)} in all
          </span>
        </>
      }
    >
      {() => (
        <>
          {error === null ? null : <p className="trouble">{error}</p>}
          <div className="pair">
            <Side title="Request" headers={request.headers} body={request.body} />
            {reply === null ? null : <Side title="Reply" headers={reply.headers} body={reply.body} />}
          </div>
        </>
      )}
    </Disclosure>
  );
}

interface SideProps {
  readonly title: string;
  readonly headers: ResponsesApi.ExchangeHeaders;
  readonly body: ResponsesApi.ExchangeBody;
}

function Side({ title, headers, body }: SideProps) {
  return (
    <div>
      <h3>{title}</h3>
      <details>
        <summary>Headers</summary>
        <Json value={headers} label={`Headers of the ${title.toLowerCase()}`} />
      </details>
      <p className="hint">
        {formatBytes(body.bytes)}
        {body.encoding === "base64" ? ", shown as base64" : ""}
        {body.is_truncated ? ", the rest was not kept" : ""}
      </p>
      <JsonText text={indentedJson(body.text)} label={`Body of the ${title.toLowerCase()}`} />
    </div>
  );
}
