import { useCallback, useEffect, useRef, useState } from "react";
import { useClient } from "../api/session.ts";
import { sentenceOf, useCall } from "../api/use-call.ts";
import type { Members } from "../base/members.ts";
import { Icon } from "../shell/icons.tsx";
import { Link } from "../shell/link.tsx";
import { navigate, PLAYGROUND_ROUTE, runRoute } from "../shell/route.ts";
import { historyOf, type Turn } from "./chat.ts";
import { ChatLog } from "./chat-log.tsx";
import { CodeDialog } from "./code-dialog.tsx";
import { Composer } from "./composer.tsx";
import { type Draft, EMPTY_DRAFT, otherModels, readDraft } from "./draft.ts";
import { OtherChat, type SentMessage } from "./other-chat.tsx";
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
  const [text, setText] = useState(seed.text);
  const [items, setItems] = useState(seed.items);
  const [code, setCode] = useState<Members | null>(null);
  const asking = useAsking(seed);
  const { chat, many, draft, setDraft, settings, troubles } = asking;
  const isNew = chat.turns.length === 0;
  const inputOf = (message: Members | null): readonly Members[] => [
    ...(isNew ? items : []),
    ...(message === null ? [] : [message]),
  ];
  return (
    <div className="playground">
      <section className="chat" aria-label="Playground" data-new={isNew ? "" : undefined}>
        <ChatHead origin={origin} isNew={isNew} onClear={asking.clear} />
        {isNew ? <SeedItems items={items} onChange={setItems} /> : null}
        {isNew && items.length === 0 ? <Welcome /> : null}
        <ChatColumns asking={asking} start={seed.previousId} origin={origin} />
        <ChatEnd turns={chat.turns} />
        <div className="compose">
          {troubles.map((says) => (
            <p key={says} className="trouble">
              {says}
            </p>
          ))}
          <Composer
            text={text}
            onText={setText}
            isBusy={chat.isBusy || many.isBusy}
            mayBeEmpty={isNew && items.length > 0}
            onSend={(message) => asking.send(inputOf(message))}
            onStop={asking.stop}
            onCode={(message) => setCode(chat.bodyFor(settings, asking.withHistory(inputOf(message))))}
          />
        </div>
      </section>
      <SettingsSide draft={draft} onChange={(changed) => setDraft({ ...draft, ...changed })} />
      {code === null ? null : <CodeDialog request={code} isStreamed={draft.isStreamed} onClose={() => setCode(null)} />}
    </div>
  );
}

/** Keeps the end of the conversation in sight. */
function ChatEnd({ turns }: { readonly turns: readonly Turn[] }) {
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    end.current?.scrollIntoView({ block: "nearest" });
  }, [turns]);
  return <div ref={end} className="chat-end" />;
}

interface ChatColumnsProps {
  readonly asking: ReturnType<typeof useAsking>;
  /** The response that the first turns continue. */
  readonly start: string | null;
  readonly origin: string | null;
}

/** The conversation; with other models, theirs beside it. */
function ChatColumns({ asking: { chat, many, model, others, streamed }, start, origin }: ChatColumnsProps) {
  const log = (
    <ChatLog turns={chat.turns} voices={chat.voices} origin={origin} onAnswer={(input) => chat.send(streamed, input)} />
  );
  if (others.length === 0) return log;
  return (
    <div className="side-by-side">
      <section className="chat-column" aria-label={model}>
        <h2>{model}</h2>
        {log}
      </section>
      {others.map((other) => (
        <OtherChat key={`${many.chat} ${other}`} model={other} start={start} sent={many.sent} onBusy={many.setBusy} />
      ))}
    </div>
  );
}

/** The draft of a request, and the chats that it is sent to. */
function useAsking(seed: Seed) {
  const client = useClient();
  const models = useCall((signal) => client.listModels({ signal }), [client]);
  const [draft, setDraft] = useState<Draft>(seed.draft);
  const chat = useChat(seed.previousId);
  const many = useOtherChats();
  const model = draft.model || (models.reply?.data[0]?.id ?? "");
  const { settings, troubles } = readDraft({ ...draft, model });
  const streamed: Members = { ...settings, ...(draft.isStreamed ? { stream: true } : {}) };
  /** The input with all turns before it, if the server does not store them. */
  const withHistory = (input: readonly Members[]): readonly Members[] =>
    settings["store"] === false && input.length > 0 ? [...historyOf(chat.turns), ...input] : input;
  return {
    chat,
    many,
    draft,
    setDraft,
    model,
    others: otherModels(draft, model),
    settings,
    streamed,
    troubles,
    withHistory,
    send: (input: readonly Members[]): void => {
      chat.send(streamed, withHistory(input));
      many.send(streamed, input);
    },
    stop: (): void => {
      chat.stop();
      many.stop();
    },
    clear: (): void => {
      chat.clear();
      many.clear();
    },
  };
}

/** What the chats with other models have in common. */
function useOtherChats() {
  const [sent, setSent] = useState<SentMessage | null>(null);
  const [stops, setStops] = useState<ReadonlyMap<string, () => void>>(new Map());
  const [chat, setChat] = useState(0);
  const setBusy = useCallback((model: string, stop: (() => void) | null): void => {
    setStops((before) => {
      const others = [...before].filter(([name]) => name !== model);
      return new Map(stop === null ? others : [...others, [model, stop]]);
    });
  }, []);
  return {
    sent,
    /** Rises when the chats begin anew. */
    chat,
    isBusy: stops.size > 0,
    setBusy,
    send: (settings: Members, input: readonly Members[]): void =>
      setSent((before) => ({ key: (before?.key ?? 0) + 1, settings, input })),
    stop: (): void => stops.forEach((stop) => stop()),
    clear: (): void => setChat(chat + 1),
  };
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

/** Stands beside the chat where there is room, and below it on a phone, closed. */
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
