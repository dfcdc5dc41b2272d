import { currentRelease } from "./release.ts";
import { isSuccessionWord, type OtherPrimary, type SuccessionWord } from "./succession.ts";

/** Set for a successor: the number of its predecessor's process. */
const PREDECESSOR_VARIABLE = "ANTIPHON_PREDECESSOR";

/** The command that starts the current release with this process's arguments, as its successor. */
export function successorCommand() {
  const { node, main } = currentRelease();
  return {
    command: [node, ...process.execArgv, main, ...process.argv.slice(2)],
    variables: { [PREDECESSOR_VARIABLE]: String(process.pid) },
  };
}

/** The primary that this process succeeds; null if there is none. */
export function predecessorOf(environment: Readonly<Record<string, string | undefined>>): OtherPrimary | null {
  const isSuccessor = process.connected && environment[PREDECESSOR_VARIABLE] !== undefined;
  return isSuccessor ? otherPrimary(process) : null;
}

/** The common interface of a process and of a program that it started. */
type ChannelEnd = Pick<NodeJS.Process, "connected" | "send"> & {
  on(event: "disconnect" | "error" | "message", listener: (value: unknown) => void): unknown;
};

/** The primary at the other end of a channel: a successor started in the background, or the predecessor. */
export function otherPrimary(end: ChannelEnd): OtherPrimary {
  const { promise: exit, resolve } = Promise.withResolvers<void>();
  end.on("disconnect", () => resolve());
  end.on("error", () => resolve());
  return {
    exit,
    send: (word: SuccessionWord) => {
      if (end.connected) end.send?.(word, undefined, {}, () => {});
    },
    onWord: (listener) => {
      end.on("message", (word: unknown) => {
        if (isSuccessionWord(word)) listener(word);
      });
    },
  };
}
