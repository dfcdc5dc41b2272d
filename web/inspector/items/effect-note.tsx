import { useState } from "react";
import { sentenceOf } from "../api/use-call.ts";
import { asWords, formatFullMoment, formatMs } from "../base/format.ts";
import { type Effect, type Effects, type SettledState, useEffectOf } from "./effects.ts";
import type { ShownItem } from "./fold-events.ts";

/** What became of a call that may change something: its attempts, and two buttons if nobody knows. */
export function EffectNote({ item }: { readonly item: ShownItem }) {
  const entry = useEffectOf(item);
  if (entry === null) return null;
  const { effect, settle } = entry;
  return (
    <section className="effect" aria-label="Attempts">
      <ol>
        {effect.attempts.map((attempt, index) => (
          <li key={index}>
            <span className="tag" data-effect={attempt.state}>
              {asWords(attempt.state)}
            </span>{" "}
            <span className="hint">{attemptText(attempt)}</span>
          </li>
        ))}
      </ol>
      {effect.settlement === null ? null : <p className="hint">{settlementText(effect.settlement)}</p>}
      {effect.state === "unknown" ? <SettleButtons effect={effect} settle={settle} /> : null}
    </section>
  );
}

function attemptText({ started_at_ms: startedAt, ended_at_ms: endedAt, node }: Effect["attempts"][number]): string {
  const duration = endedAt == null || startedAt == null ? "" : `, ${formatMs(endedAt - startedAt)}`;
  return `${startedAt == null ? "" : formatFullMoment(Math.floor(startedAt / 1000))} on ${node}${duration}`;
}

function settlementText({ state, key, note }: NonNullable<Effect["settlement"]>): string {
  const finding = state === "done" ? "It took effect" : "It did not take effect";
  const words = note == null || note === "" ? "." : `: ${note}`;
  return `${finding}, says ${key?.name ?? key?.id ?? "a person"}${words}`;
}

interface SettleProps {
  readonly effect: Effect;
  readonly settle: Effects["settle"];
}

function SettleButtons({ effect, settle }: SettleProps) {
  const [trouble, setTrouble] = useState("");
  const [isSending, setIsSending] = useState(false);
  const send = (state: SettledState) => (): void => {
    setIsSending(true);
    settle(effect, state)
      .catch((error: unknown) => setTrouble(sentenceOf(error)))
      .finally(() => setIsSending(false));
  };
  return (
    <>
      <p className="hint">Nobody knows whether it took effect. If you have found out:</p>
      <p className="effect-choice">
        <button type="button" disabled={isSending} onClick={send("done")}>
          It took effect
        </button>
        <button type="button" disabled={isSending} onClick={send("failed")}>
          It did not
        </button>
      </p>
      <p className="trouble" role="alert">
        {trouble}
      </p>
    </>
  );
}
