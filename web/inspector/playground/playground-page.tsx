import { useEffect, useRef, useState } from "react";
import { useClient } from "../api/session.ts";
import { sentenceOf, useCall } from "../api/use-call.ts";
import { type Members, textAt } from "../base/members.ts";
import { Icon } from "../shell/icons.tsx";
import { Link } from "../shell/link.tsx";
import { navigate, PLAYGROUND_ROUTE, runRoute } from "../shell/route.ts";
import { ChatLog } from "./chat-log.tsx";
import { Composer } from "./composer.tsx";
import { type Draft, EMPTY_DRAFT, readDraft } from "./draft.ts";
import { readSeed, type Seed } from "./seed.ts";
import { SeedItems } from "./seed-items.tsx";
import { SettingsPanel } from "./settings-panel.tsx";
import { useChat } from "./use-chat.ts";

const EMPTY_SEED: Seed = { draft: EMPTY_DRAFT, previousId: null, items: [], text: "" };

/** Tries a model with any settings; with `from` it begins as a fork of that run, after `item`. */
export function PlaygroundPage({ from, item }: { readonly from: string | null; readonly item: string | null }) {
  const client = useClient();
  const [seed, setSeed] = useState<Seed | null>(from === null ? EMPTY_SEED : null);
  const [trouble, setTrouble] = useState("");
  useEffect(() => {
    if (from === null) return undefined;
    const controller = new AbortController();
    readSeed(client, { from, item, signal: controller.signal }).then(setSeed, (error: unknown) => {
      if (!controller.signal.aborted) setTrouble(sentenceOf(error));
    });
    return () => controller.abort();
  }, [client, from, item]);
  if (seed === null)
    return trouble === "" ? (
      <p className="loading" role="status">
        Loading the run…
      </p>
    ) : (
      <p className="trouble" role="alert">
        {trouble}
      </p>
    );
  return <Playground seed={seed} origin={from} />;
}

function Playground({ seed, origin }: { readonly seed: Seed; readonly origin: string | null }) {
  const client = useClient();
  const models = useCall((signal) => client.listModels({ signal }), [client]);
  const [draft, setDraft] = useState<Draft>(seed.draft);
  const [text, setText] = useState(seed.text);
  const [items, setItems] = useState(seed.items);
  const chat = useChat(seed.previousId);
  const end = useRef<HTMLDivElement>(null);
  const isNew = chat.turns.length === 0;
  const { settings, troubles } = readDraft({ ...draft, model: draft.model || (models.reply?.data[0]?.id ?? "") });
  const send = (input: readonly Members[]): void =>
    chat.send({ ...settings, ...(draft.isStreamed ? { stream: true } : {}) }, input);
  const sendMessage = (message: Members | null): void => {
    const before = settings["store"] === false ? historyOf(chat.turns) : [];
    send([...(isNew ? items : before), ...(message === null ? [] : [message])]);
  };
  useEffect(() => {
    end.current?.scrollIntoView({ block: "nearest" });
  }, [chat.turns]);
  return (
    <div className="playground">
      <section className="chat" aria-label="Playground">
        <ChatHead origin={origin} isNew={isNew} onClear={chat.clear} />
        {isNew ? <SeedItems items={items} onChange={setItems} /> : null}
        {isNew && items.length === 0 ? <Welcome /> : null}
        <ChatLog turns={chat.turns} voices={chat.voices} origin={origin} onAnswer={send} />
        <div ref={end} className="chat-end" />
        <div className="compose">
          {troubles.map((says) => (
            <p key={says} className="trouble">
              {says}
            </p>
          ))}
          <Composer
            text={text}
            onText={setText}
            isBusy={chat.isBusy}
            mayBeEmpty={isNew && items.length > 0}
            onSend={sendMessage}
            onStop={chat.stop}
          />
        </div>
      </section>
      <SettingsSide draft={draft} onChange={(changed) => setDraft({ ...draft, ...changed })} />
    </div>
  );
}

interface ChatHeadProps {
  readonly origin: string | null;
  readonly isNew: boolean;
  readonly onClear: () => void;
}

function ChatHead({ origin, isNew, onClear }: ChatHeadProps) {
  const startAnew = (): void => {
    onClear();
    if (origin !== null) navigate(PLAYGROUND_ROUTE);
  };
  return (
    <div className="page-head">
      <h1>{origin === null ? "Playground" : "Fork"}</h1>
      {origin === null ? null : (
        <span className="hint">
          of <Link to={runRoute(origin)}>{origin}</Link>
        </span>
      )}
      {isNew && origin === null ? null : (
        <button type="button" onClick={startAnew}>
          New chat
        </button>
      )}
    </div>
  );
}

interface SettingsSideProps {
  readonly draft: Draft;
  readonly onChange: (changed: Partial<Draft>) => void;
}

/** Stands beside the chat where there is room, and above it on a phone, closed. */
function SettingsSide({ draft, onChange }: SettingsSideProps) {
  const [isOpen, setIsOpen] = useState(innerWidth >= WIDE_PIXELS);
  return (
    <aside className="settings-side" aria-label="Settings of the request">
      <details open={isOpen} onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
        <summary>
          <Icon name="settings" /> Settings
        </summary>
        <SettingsPanel draft={draft} onChange={onChange} />
      </details>
    </aside>
  );
}

/** From this width on, the settings stand beside the chat and are open. */
const WIDE_PIXELS = 960;

/** All items so far, for servers that do not store them. */
function historyOf(turns: ReturnType<typeof useChat>["turns"]): readonly Members[] {
  return turns
    .filter(({ status }) => status === "completed")
    .flatMap(({ input, output }) => [...input, ...output])
    .filter((item) => textAt(item, "type") !== "");
}

function Welcome() {
  return (
    <div className="welcome">
      <p>Try a model with every setting the API has.</p>
      <p className="hint">
        Each answer is a run that you can inspect, fork and export. Calls of your own tools, and approvals of MCP calls,
        are asked here in place.
      </p>
    </div>
  );
}
