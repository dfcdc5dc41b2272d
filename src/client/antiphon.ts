import { ResponsesApiClient } from "../../generated/responses-api/client.ts";
import { type ConnectionOptions, connectionOf } from "./connection.ts";
import { createSend } from "./send.ts";

const BASE_URL = "http://127.0.0.1:8080";

/** The Responses API, served by Antiphon or by whoever else speaks it. */
export class Antiphon extends ResponsesApiClient {
  constructor(options: ConnectionOptions = {}) {
    super(createSend(connectionOf(options, BASE_URL)));
  }
}
