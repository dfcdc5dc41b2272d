import { useState } from "react";
import { formatCount, formatMs } from "../base/format.ts";
import { indentedJson, type Members, numberAt, textAt } from "../base/members.ts";
import { BlobAudio } from "../items/blob-audio.tsx";
import { asShownItem, type ShownItem } from "../items/fold-events.ts";
import { ItemCard } from "../items/item-card.tsx";
import { itemTitle } from "../items/item-title.ts";
import { ResponseAudio } from "../items/response-audio.tsx";
import { VOICE_SAMPLE_RATE, type VoicePlayer } from "../items/voice-player.ts";
import { wavOf } from "../items/wav.ts";
import { Link } from "../shell/link.tsx";
import { runRoute } from "../shell/route.ts";
import { StatusPill } from "../shell/status-pill.tsx";
import { answerTo, approvalOf, callKey, pendingCalls, type Turn } from "./chat.ts";

interface ChatLogProps {
  readonly turns: readonly Turn[];
  readonly voices: ReadonlyMap<number, VoicePlayer>;
  /** The run that was forked; null if there is none. */
  readonly origin: string | null;
  readonly onAnswer: (answers: readonly Members[]) => void;
}

/** The turns of the playground, with what a call asks of the person in its place. */
export function ChatLog({ turns, voices, origin, onAnswer }: ChatLogProps) {
  return (
    <ol className="chat-log" aria-label="Conversation">
      {turns.map((turn, index) => (
        <li key={turn.key} className="chat-turn">
          {turn.input
            .flatMap((item) => asShownItem(item) ?? [])
            .map((item, place) => (
              <ItemCard key={`in-${place}`} item={item} isInput={item.type !== "message"} />
            ))}
          {turn.output.map((item, place) => (
            <ItemCard key={`out-${place}`} item={item} />
          ))}
          {turn.hasSound && turn.status !== "asking" ? (
            <Spoken voice={voices.get(turn.key)} responseId={turn.responseId} />
          ) : null}
          {index === turns.length - 1 ? <PendingCalls key={turn.responseId} turn={turn} onAnswer={onAnswer} /> : null}
          <TurnEnd turn={turn} origin={index === 0 ? origin : null} />
        </li>
      ))}
    </ol>
  );
}

interface SpokenProps {
  readonly voice: VoicePlayer | undefined;
  readonly responseId: string | null;
}

/** The sound that was streamed; of a plain reply, what the server keeps. */
function Spoken({ voice, responseId }: SpokenProps) {
  if (voice !== undefined)
    return <BlobAudio bytes={wavOf(voice.pieces, VOICE_SAMPLE_RATE)} type="audio/wav" label="Spoken answer" />;
  return responseId === null ? null : <ResponseAudio id={responseId} />;
}

function TurnEnd({ turn, origin }: { readonly turn: Turn; readonly origin: string | null }) {
  const { status, responseId, usage, firstTokenMs, durationMs, error } = turn;
  if (status === "asking")
    return (
      <p className="turn-end" role="status">
        <span className="pulse" aria-hidden="true" /> Answering…
      </p>
    );
  return (
    <>
      {error === null ? null : (
        <p className="trouble" role="alert">
          {error}
        </p>
      )}
      <p className="turn-end">
        <StatusPill status={status} />
        {firstTokenMs === null ? null : <span>first token {formatMs(firstTokenMs)}</span>}
        {durationMs === null ? null : <span>{formatMs(durationMs)}</span>}
        {usage === null ? null : (
          <span>
            {formatCount(numberAt(usage, "input_tokens"))} → {formatCount(numberAt(usage, "output_tokens"))} tokens
          </span>
        )}
        {responseId === null ? null : <Link to={runRoute(responseId)}>Inspect</Link>}
        {origin === null || responseId === null ? null : (
          <Link to={{ page: "compare", left: origin, right: responseId }}>Compare with the original</Link>
        )}
      </p>
    </>
  );
}

interface PendingCallsProps {
  readonly turn: Turn;
  readonly onAnswer: (answers: readonly Members[]) => void;
}

/** Answers go out together once every call of the turn has one. */
function PendingCalls({ turn, onAnswer }: PendingCallsProps) {
  const calls = pendingCalls(turn);
  const [answers, setAnswers] = useState<ReadonlyMap<string, Members>>(new Map());
  const answer = (call: ShownItem, item: Members): void => {
    const given = new Map([...answers, [callKey(call), item]]);
    setAnswers(given);
    if (calls.every((other) => given.has(callKey(other)))) onAnswer([...given.values()]);
  };
  return calls.map((call) =>
    answers.has(callKey(call)) ? (
      <p key={callKey(call)} className="hint">
        Answered. The others wait.
      </p>
    ) : call.type === "mcp_approval_request" ? (
      <Approval key={callKey(call)} request={call} onAnswer={(item) => answer(call, item)} />
    ) : (
      <ClientAnswer key={callKey(call)} call={call} onAnswer={(item) => answer(call, item)} />
    ),
  );
}

interface AnswerProps {
  readonly onAnswer: (item: Members) => void;
}

function Approval({ request, onAnswer }: AnswerProps & { readonly request: ShownItem }) {
  return (
    <div className="pending" role="group" aria-label={`Approve ${textAt(request, "name")}`}>
      <p>
        May the server call <strong>{textAt(request, "name")}</strong> of {textAt(request, "server_label")}?
      </p>
      <button type="button" className="main" onClick={() => onAnswer(approvalOf(request, true))}>
        Approve
      </button>
      <button type="button" onClick={() => onAnswer(approvalOf(request, false))}>
        Refuse
      </button>
    </div>
  );
}

function ClientAnswer({ call, onAnswer }: AnswerProps & { readonly call: ShownItem }) {
  const [text, setText] = useState("");
  return (
    <form
      className="pending"
      aria-label={`Answer ${itemTitle(call)}`}
      onSubmit={(event) => {
        event.preventDefault();
        onAnswer(answerTo(call, text));
      }}
    >
      <label className="field">
        <span>{call.type === "computer_call" ? "URL of the screenshot" : `Output of ${itemTitle(call)}`}</span>
        <textarea
          className="mono"
          rows={2}
          value={text}
          onChange={({ target }) => setText(target.value)}
          onBlur={() => setText(indentedJson(text))}
        />
      </label>
      <button type="submit" className="main">
        Send the output
      </button>
    </form>
  );
}
