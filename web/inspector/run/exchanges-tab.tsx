import { useState } from "react";
import type { Response, ResponsesApi } from "../../../packages/client/src/index.ts";
import { useClient } from "../api/session.ts";
import { sentenceOf, useCall } from "../api/use-call.ts";
import { formatBytes, formatMs } from "../base/format.ts";
import { indentedJson } from "../base/members.ts";
import { doorRequest } from "../exports/door-request.ts";
import { requestOf } from "../exports/request-of.ts";
import type { ShownItem } from "../items/fold-events.ts";
import { Json, JsonText } from "../items/json.tsx";
import { CopyButton } from "../shell/copy-button.tsx";
import { Disclosure } from "../shell/disclosure.tsx";
import { Icon } from "../shell/icons.tsx";
import { Notes } from "./notes.tsx";

const KINDS: Readonly<Record<ResponsesApi.ResponseExchange["kind"], string>> = {
  embeddings: "Model server for embeddings",
  mcp: "MCP server",
  model: "Model server",
  ranks: "Model server for ranks",
  web_search: "Search provider",
};

interface ExchangesTabProps {
  readonly response: Response;
  readonly input: readonly ShownItem[];
  /** The door that the run came by. */
  readonly face: ResponsesApi.ResponseSummary["face"];
}

/** What this server was asked beside what it asked others, and what it left out or imitated. */
export function ExchangesTab({ response, input, face }: ExchangesTabProps) {
  const { id } = response;
  const client = useClient();
  const [version, setVersion] = useState(0);
  const [trouble, setTrouble] = useState("");
  const { reply, error } = useCall((signal) => client.listResponseExchanges(id, { signal }), [client, id, version]);
  if (reply === null) return <p className="empty">{error ?? "Loading…"}</p>;
  const { data, notes } = reply;
  const remove = (): void => {
    client.deleteResponseExchanges(id).then(
      () => setVersion(version + 1),
      (failure: unknown) => setTrouble(sentenceOf(failure)),
    );
  };
  return (
    <div className="upstream">
      <section className="upstream-asked" aria-label="Request">
        <h2>This server was asked</h2>
        <Json value={doorRequest(requestOf(response, input), face).body} label="The request" />
      </section>
      <section aria-label="Exchanges">
        <Notes notes={notes} />
        <div className="section-head">
          <h2>It asked others</h2>
          {data.length === 0 ? null : (
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
        {data.length === 0 ? <NothingKept isKept={reply.is_kept} /> : null}
        {data.map((exchange) => (
          <Exchange key={exchange.id} exchange={exchange} isOpenAtFirst={data.length === 1} />
        ))}
      </section>
    </div>
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

interface ExchangeProps {
  readonly exchange: ResponsesApi.ResponseExchange;
  readonly isOpenAtFirst: boolean;
}

function Exchange({ exchange, isOpenAtFirst }: ExchangeProps) {
  const { kind, turn, request, response: reply, first_byte_ms: firstByteMs, duration_ms: durationMs, error } = exchange;
  return (
    <Disclosure
      className="exchange card"
      isOpenAtFirst={isOpenAtFirst}
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
          <Side title="Request" headers={request.headers} body={request.body} />
          {reply === null ? null : <Side title="Reply" headers={reply.headers} body={reply.body} />}
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
    <div className="exchange-side">
      <div className="exchange-head">
        <h3>{title}</h3>
        <span className="hint">
          {formatBytes(body.bytes)}
          {body.encoding === "base64" ? ", shown as base64" : ""}
          {body.is_truncated ? ", the rest was not kept" : ""}
        </span>
        <CopyButton text={body.text} label={`Copy the ${title.toLowerCase()}`} />
      </div>
      <details>
        <summary className="hint">Headers</summary>
        <Json value={headers} label={`Headers of the ${title.toLowerCase()}`} />
      </details>
      <JsonText text={indentedJson(body.text)} label={`Body of the ${title.toLowerCase()}`} />
    </div>
  );
}
