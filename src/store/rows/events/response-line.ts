import type { Response, ResponseStreamEvent } from "@antiphon/contracts/responses-api/types.ts";
import { RecordedWhole } from "../../../runs/recorded-event.ts";
import { storedJson } from "../../database/stored-json.ts";

/**
 * An event that repeats the response stored beside it is stored as the differing members: `["=", type, number,
 * members]`. Three events of a short answer repeat it, with three quarters of its text.
 */
type ResponseLine = readonly [mark: string, type: string, number: number, members: Partial<Response>];

/** The beginning of such a line. */
export const RESPONSE_LINE = '["=",';

/** Writes the lines of events that repeat one stored response. */
export class ResponseLines {
  readonly #storedResponse: Response;
  readonly #storedNames: readonly string[];
  /** The first events of a run have one response. */
  #latest: { readonly response: Response; readonly members: string | null } | null = null;

  constructor(storedResponse: Response) {
    this.#storedResponse = storedResponse;
    this.#storedNames = Object.keys(storedResponse);
  }

  /** Null if the event repeats no response, or one whose members have other names or another order. */
  lineOf(event: ResponseStreamEvent): string | null {
    if (!("response" in event)) return null;
    const { response } = event;
    if (this.#latest?.response !== response) this.#latest = { response, members: this.#membersOf(response) };
    const { members } = this.#latest;
    return members === null ? null : `${RESPONSE_LINE}"${event.type}",${event.sequence_number},${members}]`;
  }

  /** The JSON of the members that differ from the stored response. */
  #membersOf(shownResponse: Response): string | null {
    if (shownResponse === this.#storedResponse) return "{}";
    const [values, storedValues]: readonly ValuesByName[] = [shownResponse, this.#storedResponse];
    const names = Object.keys(shownResponse);
    if (values === undefined || storedValues === undefined || names.length !== this.#storedNames.length) return null;
    const members: Record<string, unknown> = {};
    for (const [index, name] of names.entries()) {
      if (name !== this.#storedNames[index]) return null;
      if (values[name] === storedValues[name]) continue;
      if (values[name] === undefined || storedValues[name] === undefined) return null; // JSON has no undefined members.
      members[name] = values[name];
    }
    return JSON.stringify(members);
  }
}

type ValuesByName = Readonly<Record<string, unknown>>;

/** The event of a line. `body`: the JSON of the response stored beside it. */
export function readResponseLine(line: string, body: string): RecordedWhole {
  const [, type, number, members] = storedJson<ResponseLine>(line);
  const response =
    Object.keys(members).length === 0 ? body : JSON.stringify({ ...storedJson<Response>(body), ...members });
  return RecordedWhole.fromJson(number, `{"type":"${type}","response":${response},"sequence_number":${number}}`);
}
