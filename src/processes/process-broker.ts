import type { Broker } from "../bus/ports.ts";
import type { JoinedProcess } from "./joined-process.ts";

/** Texts of at least this many bytes are written at once. */
const TEXT_BYTES_MAX = 256 * 1024;
/** The maximum characters of texts waiting to be written. */
const UNSENT_CHARACTERS_MAX = 8 * 1024 * 1024;

/** Relays messages between worker processes through the primary. */
export class ProcessBroker implements Broker {
  readonly textBytesMax = TEXT_BYTES_MAX;
  /** Always connected: the process exits when its primary does. */
  readonly isConnected = true;
  readonly #joinedProcess: JoinedProcess;
  #unsent = 0;

  constructor(joinedProcess: JoinedProcess) {
    this.#joinedProcess = joinedProcess;
  }

  open(hear: (text: string) => void): void {
    this.#joinedProcess.accept({ hear });
  }

  join(channel: string): void {
    this.#joinedProcess.joinChannel(channel);
  }

  leave(channel: string): void {
    this.#joinedProcess.leaveChannel(channel);
  }

  send(channel: string, text: string): boolean {
    if (this.#unsent + text.length > UNSENT_CHARACTERS_MAX) return false;
    this.#unsent += text.length;
    this.#joinedProcess.sendText(channel, text, () => (this.#unsent -= text.length));
    return true;
  }

  async close(): Promise<void> {
    this.#joinedProcess.accept({ hear: () => {} });
  }
}
