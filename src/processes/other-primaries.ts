import { currentRelease } from "./release.ts";
import { isSuccessionWord, type OtherPrimary, type SuccessionWord } from "./succession.ts";

/** Tells a program that it is the successor of the process with this number. */
const PREDECESSOR_VARIABLE = "ANTIPHON_PREDECESSOR";

/** How to start the current release with the arguments of this process, as its successor. */
export function successorCommand() {
  const { node, main } = currentRelease();
  return {
    command: [node, ...process.execArgv, main, ...process.argv.slice(2)],
    variables: { [PREDECESSOR_VARIABLE]: String(process.pid) },
  };
}

/** The primary whose place this process takes; null if it takes none. */
export function predecessorOf(environment: Readonly<Record<string, string | undefined>>): OtherPrimary | null {
  const isSuccessor = process.connected && environment[PREDECESSOR_VARIABLE] !== undefined;
  return isSuccessor ? otherPrimary(process) : null;
}

/** What a process and a program that it started have in common. */
type ChannelEnd = Pick<NodeJS.Process, "connected" | "send"> & {
  on(event: "disconnect" | "error" | "message", listener: (value: unknown) => void): unknown;
};

/** The primary at the other end of a channel, which is started in the background or is the one before. */
export function otherPrimary(end: ChannelEnd): OtherPrimary {
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  end.on("disconnect", () => resolve());
  end.on("error", () => resolve());
  return {
    ended,
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
