import { expect, test } from "vitest";
import { readActivatedSockets } from "./activated-sockets.ts";

const IDS = { pid: 20, ppid: 10 };
const LISTENING = { LISTEN_PID: "20", LISTEN_FDS: "3", LISTEN_FDNAMES: "speech:responses-api:speech" };

function read(environment: Readonly<Record<string, string>>) {
  const problems: string[] = [];
  return { ...readActivatedSockets(environment, IDS, problems), problems };
}

test("sockets are found by their names", () => {
  expect(read(LISTENING)).toEqual({
    responsesApi: { fd: 4, isOwn: true },
    speech: [
      { fd: 3, isOwn: true },
      { fd: 5, isOwn: true },
    ],
    sttCloud: null,
    fds: [3, 4, 5],
    problems: [],
  });
});

test("one of several processes asks its primary for the Responses API, and has the speech sockets itself", () => {
  const { responsesApi, speech } = read({ ...LISTENING, LISTEN_PID: "10" });
  expect(responsesApi).toEqual({ fd: 4, isOwn: false });
  expect(speech.map(({ fd }) => fd)).toEqual([4, 6]);
});

test("a single socket needs no name", () => {
  expect(read({ LISTEN_PID: "20", LISTEN_FDS: "1" }).responsesApi).toEqual({ fd: 3, isOwn: true });
  expect(read({ LISTEN_PID: "20", LISTEN_FDS: "1", LISTEN_FDNAMES: "stt-cloud" }).sttCloud).toEqual({
    fd: 3,
    isOwn: true,
  });
});

test("sockets that are meant for another process are left alone", () => {
  expect(read({ ...LISTENING, LISTEN_PID: "30" }).fds).toEqual([]);
  expect(read({}).fds).toEqual([]);
});

test("several sockets need names that are known", () => {
  expect(read({ LISTEN_PID: "20", LISTEN_FDS: "2", LISTEN_FDNAMES: "speech:web" }).problems).toEqual([
    "LISTEN_FDNAMES has 'web', which is none of responses-api, speech, stt-cloud: set FileDescriptorName of each socket.",
  ]);
});
