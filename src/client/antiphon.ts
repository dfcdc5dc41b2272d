import { ResponsesApiClient } from "../../generated/responses-api/client.ts";
import { type ConnectionOptions, connectionOf } from "./http/connection.ts";
import { createSend } from "./http/send.ts";

const BASE_URL = "http://127.0.0.1:8080";

/** The Responses API, served by Antiphon or by whoever else speaks it. */
export class Antiphon extends ResponsesApiClient {
  constructor(options: ConnectionOptions = {}) {
    super(createSend(connectionOf(options, BASE_URL)));
  }
}
