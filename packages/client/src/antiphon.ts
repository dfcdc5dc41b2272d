import { ResponsesApiClient } from "@antiphon/contracts/responses-api/client.ts";
import { type ConnectionOptions, connectionOf } from "./http/connection.ts";
import { createSend } from "./http/send.ts";

const BASE_URL = "http://127.0.0.1:8080";

/**
 * A client of the Responses API, for Antiphon and compatible servers. By default it calls `http://127.0.0.1:8080`.
 * Calls reject with an `AntiphonError`: an `APIError` if the server refused or failed, an `APIConnectionError` if no
 * complete reply came.
 */
export class Antiphon extends ResponsesApiClient {
  constructor(options: ConnectionOptions = {}) {
    super(createSend(connectionOf(options, BASE_URL)));
  }
}
