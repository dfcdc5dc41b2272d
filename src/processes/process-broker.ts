import type { Broker } from "../bus/ports.ts";
import type { JoinedProcess } from "./joined-process.ts";

/** A text of this many bytes is written at once. */
const TEXT_BYTES_MAX = 256 * 1024;
/** How many characters of texts wait to be written at most. */
const UNSENT_CHARACTERS_MAX = 8 * 1024 * 1024;

/** Carries texts between the processes of one primary, through that. */
export class ProcessBroker implements Broker {
  readonly textBytesMax = TEXT_BYTES_MAX;
  /** A process whose primary is gone ends. */
  readonly isConnected = true;
  readonly #joined: JoinedProcess;
  #unsent = 0;

  constructor(joined: JoinedProcess) {
    this.#joined = joined;
  }

  open(hear: (text: string) => void): void {
    this.#joined.accept({ hear });
  }

  join(channel: string): void {
    this.#joined.joinChannel(channel);
  }

  leave(channel: string): void {
    this.#joined.leaveChannel(channel);
  }

  send(channel: string, text: string): boolean {
    if (this.#unsent + text.length > UNSENT_CHARACTERS_MAX) return false;
    this.#unsent += text.length;
    this.#joined.sendText(channel, text, () => (this.#unsent -= text.length));
    return true;
  }

  async close(): Promise<void> {
    this.#joined.accept({ hear: () => {} });
  }
}
