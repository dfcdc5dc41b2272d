import { useEffect, useRef, useState } from "react";
import { useClient } from "../api/session.ts";
import { sentenceOf } from "../api/use-call.ts";
import type { Members } from "../base/members.ts";
import { VoicePlayer } from "../items/voice-player.ts";
import { ask, newTurn, type Turn } from "./chat.ts";

export interface Chat {
  readonly turns: readonly Turn[];
  readonly isBusy: boolean;
  /** The sound of each spoken turn, by the turn's key. */
  readonly voices: ReadonlyMap<number, VoicePlayer>;
  /** Sends input with these settings, after the turns before. */
  readonly send: (settings: Members, input: readonly Members[]) => void;
  /** The body of the request that `send` would make. Without input, of the last one that was made. */
  readonly bodyFor: (settings: Members, input: readonly Members[]) => Members;
  readonly stop: () => void;
  readonly clear: () => void;
}

/** A chat whose turns continue one another. `start` is the response that the first turn continues. */
export function useChat(start: string | null): Chat {
  const client = useClient();
  const [turns, setTurns] = useState<readonly Turn[]>([]);
  const asking = useRef<AbortController | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const voices = useRef(new Map<number, VoicePlayer>());
  const last = turns.at(-1);

  useEffect(() => () => silence(asking.current, voices.current), []);

  const replace = (turn: Turn): void =>
    setTurns((before) => before.map((other) => (other.key === turn.key ? turn : other)));

  const run = async (settings: Members, input: readonly Members[]): Promise<void> => {
    const controller = new AbortController();
    asking.current = controller;
    const turn = newTurn(turns.length, input);
    let latest = turn;
    const show = (grown: Turn): void => {
      latest = grown;
      replace(grown);
    };
    setTurns([...turns, turn]);
    setIsBusy(true);
    const hear = (base64: string): void => {
      const voice = voices.current.get(turn.key) ?? new VoicePlayer();
      voices.current.set(turn.key, voice);
      voice.add(base64);
    };
    try {
      const body = { ...settings, input, ...continued(turns, settings, start) };
      replace(await ask(client, { body, turn, signal: controller.signal, show, hear }));
    } catch (error) {
      if (controller.signal.aborted) replace({ ...latest, status: "stopped" });
      else replace({ ...latest, status: "failed", error: sentenceOf(error) });
    } finally {
      setIsBusy(false);
      voices.current.get(turn.key)?.finish();
    }
  };

  return {
    turns,
    isBusy,
    voices: voices.current,
    send: (settings, input) => void run(settings, input),
    bodyFor: (settings, input) =>
      input.length > 0 || last === undefined
        ? { ...settings, input, ...continued(turns, settings, start) }
        : { ...settings, input: last.input, ...continued(turns.slice(0, -1), settings, start) },
    stop: () => {
      silence(asking.current, voices.current);
      // Only a response in the background needs to be cancelled; for others the server refuses.
      if (last?.status === "asking" && last.responseId !== null) client.cancelResponse(last.responseId).catch(() => {});
    },
    clear: () => {
      silence(asking.current, voices.current);
      voices.current.clear();
      setTurns([]);
    },
  };
}

function silence(asking: AbortController | null, voices: ReadonlyMap<number, VoicePlayer>): void {
  asking?.abort();
  for (const voice of voices.values()) void voice.stop();
}

/** What ties a request to the turns before it. Without a store, their items are sent again. */
function continued(turns: readonly Turn[], settings: Members, start: string | null): Members {
  if (settings["store"] === false) return {};
  const before = turns.findLast(({ status, responseId }) => status === "completed" && responseId !== null)?.responseId;
  const previous = before ?? start;
  return previous === null ? {} : { previous_response_id: previous };
}
