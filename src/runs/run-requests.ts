import type { RunRequests } from "./ports/run-ledger.ts";

/** What clients ask of the runs of this process, as last read from the store. */
export class KnownRequests {
  #requests: Map<string, RunRequests> = new Map();
  #onChange: (responseId: string) => Promise<void> = async () => {};

  /** `listener` is called with runs of which a client asks something. Must not reject. */
  onChange(listener: (responseId: string) => Promise<void>): void {
    this.#onChange = listener;
  }

  /** Call after storing what a client asks of a run. Resolves once a run of this process heeds it. */
  async tell(responseId: string): Promise<void> {
    await this.#onChange(responseId);
  }

  /** `requests`: those of all runs of this process. */
  replace(requests: readonly RunRequests[]): void {
    this.#requests = new Map(requests.map((one) => [one.responseId, one]));
  }

  /** `requests`: those of a run that this process has just claimed. */
  add(requests: RunRequests): void {
    this.#requests.set(requests.responseId, requests);
  }

  pauses(responseId: string): boolean {
    const requests = this.#requests.get(responseId);
    return requests?.pauses === true && !requests.stops;
  }

  isSteered(responseId: string): boolean {
    return this.#requests.get(responseId)?.isSteered === true;
  }
}
