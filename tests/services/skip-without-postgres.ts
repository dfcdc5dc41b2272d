/** Vitest loads this before each file of the tests on PostgreSQL. Where there is none, reports show them as skipped. */

import { beforeEach } from "vitest";
import { whyNoPostgres } from "./postgres-server.ts";

const why = whyNoPostgres();
if (why !== undefined) beforeEach(({ skip }) => skip(why));
