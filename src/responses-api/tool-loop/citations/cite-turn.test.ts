import type { Citable } from "@antiphon/domain/hosted-tool.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import fc from "fast-check";
import { expect, test } from "vitest";
import { verifies } from "../../../../tests/verifies.ts";
import { RunLost } from "../../../runs/ports/store-faults.ts";
import { citeTurn } from "./cite-turn.ts";
import { Sources } from "./sources.ts";

const PAGE = { type: "web", number: 3, url: "https://www.example.com/a_(b)", title: "A page" } as const;
const OTHER = { type: "web", number: 4, url: "https://other.test/", title: "Another" } as const;
const FILE = { type: "file", number: 2, fileId: "file-1", filename: "a.pdf" } as const;

const CITABLE: readonly Citable[] = [PAGE, OTHER, FILE];

async function cited(pieces: readonly string[], isData = false, citable = CITABLE) {
  const sources = new Sources();
  sources.add(citable);
  const turn = async function* (): AsyncGenerator<readonly ModelEvent[]> {
    for (const text of pieces) yield [{ type: "text_delta", text }];
    yield [{ type: "finished", reason: "stop" }];
  };
  let text = "";
  const annotations: object[] = [];
  for await (const batch of citeTurn(turn(), sources, isData)) {
    for (const event of batch) {
      if (event.type === "text_delta") {
        expect(event.text.isWellFormed()).toBe(true);
        text += event.text;
      }
      if (event.type === "annotation") annotations.push({ ...event.annotation, after: text });
    }
  }
  return { text, annotations };
}

const LINK = "([example.com](https://www.example.com/a_%28b%29))";

test("a web marker becomes a link, annotated over exactly its characters", async () => {
  verifies("tools.web.citation-indexes");
  expect(await cited(["It is so.【web:3】 Yes."])).toEqual({
    text: `It is so. ${LINK} Yes.`,
    annotations: [
      {
        type: "url_citation",
        start_index: 10,
        end_index: 10 + LINK.length,
        title: PAGE.title,
        url: PAGE.url,
        after: `It is so. ${LINK}`,
      },
    ],
  });
});

test("a file marker vanishes, and its annotation names the length of the text so far", async () => {
  expect(await cited(["😀 so.【file:2】 Yes."])).toEqual({
    text: "😀 so. Yes.",
    annotations: [{ type: "file_citation", file_id: "file-1", filename: "a.pdf", index: 5, after: "😀 so." }],
  });
});

test("unknown numbers vanish; what is no marker stays", async () => {
  expect((await cited(["a【web:9】b【見出し】c【web:3"])).text).toBe("ab【見出し】c");
  expect((await cited([`【${"x".repeat(90)}】`])).text).toBe(`【${"x".repeat(90)}】`);
  expect((await cited(["【one\nline】"])).text).toBe("【one\nline】");
});

test("a known page that the model links by itself is annotated", async () => {
  const { text, annotations } = await cited(["See [it](https://other.test) and [no](https://else.test)."]);
  expect(text).toBe("See [it](https://other.test) and [no](https://else.test).");
  expect(annotations).toEqual([
    { type: "url_citation", start_index: 4, end_index: 28, title: "Another", url: OTHER.url, after: text.slice(0, 28) },
  ]);
});

test("in JSON markers are only removed", async () => {
  expect(await cited(['{"a":"b【web:3】"}'], true)).toEqual({ text: '{"a":"b"}', annotations: [] });
});

test("every cut of a text gives the same citations", async () => {
  const text =
    "😀 One【web:3】【file:2, web:4】 two 【web:77】three [it](https://www.example.com/a_(b)) 【見 【web:4】 😀 end【web:";
  const whole = await cited([text]);
  expect(whole.annotations).toHaveLength(5);
  for (let at = 0; at <= text.length; at += 1) expect(await cited([text.slice(0, at), text.slice(at)])).toEqual(whole);
  expect(await cited(text.split(""))).toEqual(whole);
});

const FILE_AT = (index: number) => ({ type: "file_citation", file_id: "file-1", filename: "a.pdf", index });

test.each([
  ["They wait [file:2].", "They wait.", [9]],
  ["They wait.[file:2]", "They wait.", [10]],
  ["They wait【file:2】, and [file:2][ file:2 ] fish [file:2, file:9†L1].", "They wait, and fish.", [9, 14, 14, 19]],
  ["[file:2] They wait", " They wait", [0]],
  ["They wait [file:2]", "They wait", [9]],
  ["「見 [file:2]」 【見 [file:2]】", "「見」 【見】", [2, 6]],
  ["Unknown [file:77] and【web:77】 numbers vanish [file:", "Unknown and numbers vanish", []],
])("a label of a result is a marker: %j", async (said, text, indexes) => {
  verifies("tools.citations.by-label");
  const { text: shown, annotations } = await cited([said]);
  expect(shown).toBe(text);
  expect(annotations).toEqual(indexes.map((index) => expect.objectContaining(FILE_AT(index))));
});

test("the label of a page becomes a link behind one blank", async () => {
  for (const said of ["So [web:3].", "So[web:3].", "So 【web:3】."])
    expect((await cited([said])).text).toBe(`So ${LINK}.`);
  expect((await cited(["So [file:2, web:3]."])).annotations).toMatchObject([FILE_AT(2), { start_index: 3 }]);
});

test.each([
  "[file:2](https://else.test) and [see](https://else.test), [1], a[fi] and [file:x]",
  "files[file: 2] and [file:2\n] and [profile:2] [file2] [ [[file",
  "[file:2 and [web: x and [file:1x",
  "one  two \u00a0 three \n\n  four   ",
  "    ".repeat(100),
])("what is no label stays: %j", async (text) => {
  verifies("tools.citations.by-label", "tools.citations.no-blank-left");
  expect(await cited([text])).toEqual({ text, annotations: [] });
});

test("all blanks before a marker that is removed go with it, also in JSON", async () => {
  verifies("tools.citations.no-blank-left");
  for (const blanks of [" ", "  ", "\u00a0", "\u202f "]) {
    expect((await cited([`It is so${blanks}【file:2】.`])).text).toBe("It is so.");
    expect((await cited([`{"a":"b${blanks}[file:2]."}`], true)).text).toBe('{"a":"b."}');
  }
});

test("labels and blanks may be cut at any places", async () => {
  verifies("tools.citations.no-blank-left");
  const long = "😀 One [web:3] 【file:2】 two  [file:2][file:9 †x].[file:2](x) 【見 [file:2] 😀 [f [file:";
  const whole = await cited([long]);
  expect(whole.annotations).toHaveLength(4);
  for (let from = 0; from <= long.length; from += 1)
    for (let to = from; to <= long.length; to += 1)
      expect(await cited([long.slice(0, from), long.slice(from, to), long.slice(to)])).toEqual(whole);
  for (const short of ["a [file:2].", "a 【file:2】."])
    for (let cuts = 0; cuts < 2 ** (short.length - 1); cuts += 1) {
      const pieces = [...short].map((sign, index) => (cuts & (1 << index) ? `${sign}|` : sign)).join("");
      expect((await cited(pieces.split("|"))).text).toBe("a.");
    }
});

test("labels and blanks may be cut into any pieces, and any text without a marker stays", async () => {
  verifies("tools.citations.no-blank-left");
  const word = fc.constantFrom(
    " ",
    "  ",
    "\u00a0",
    "\n",
    "a",
    "😀",
    "[",
    "]",
    "(",
    "【",
    "】",
    "[file:2]",
    "【file:2】",
  );
  const more = fc.constantFrom(
    "[web:3]",
    "[file:9]",
    "file:",
    "fi",
    "[file:",
    "2",
    ",",
    "†",
    ")",
    "](https://other.test)",
  );
  const texts = fc.array(fc.oneof(word, more), { maxLength: 12 }).map((words) => words.join(""));
  await fc.assert(
    fc.asyncProperty(texts, fc.array(fc.nat(60), { maxLength: 8 }), async (text, places) => {
      const cuts = [0, ...places.toSorted((one, other) => one - other), text.length];
      const pieces = cuts.slice(1).map((cut, index) => text.slice(cuts[index], cut));
      expect(await cited(pieces)).toEqual(await cited([text]));
      expect(await cited(text.split(""))).toEqual(await cited([text]));
      if (!/(?:web|file):/.test(text)) expect((await cited(pieces)).text).toBe(text);
    }),
    { numRuns: 500 },
  );
});

/** The events of a turn with these sources. A fault ends it, if there is one; it may end without an event. */
async function shownOf(
  events: readonly ModelEvent[],
  citable: readonly Citable[] | Sources,
  fault: Error | null = null,
) {
  const sources = citable instanceof Sources ? citable : new Sources();
  if (!(citable instanceof Sources)) sources.add(citable);
  const turn = async function* (): AsyncGenerator<readonly ModelEvent[]> {
    for (const event of events) yield [event];
    if (fault !== null) throw fault;
  };
  const seen: ModelEvent[] = [];
  try {
    for await (const batch of citeTurn(turn(), sources, false)) seen.push(...batch);
  } catch (error) {
    expect(error).toBe(fault);
  }
  return seen;
}

const said = (text: string): ModelEvent => ({ type: "text_delta", text });

test("without results to cite every delta stays as it is, and labels are text", async () => {
  verifies("tools.citations.no-blank-left");
  const events = ["They ", " ", "wait [", "file:1] ", "[", "file:1", "]"].map(said);
  expect(await shownOf(events, [])).toEqual(events);
  expect(await shownOf(events, [CHART])).toEqual(events);
});

test("labels of results from before a crash vanish", async () => {
  const sources = new Sources();
  sources.goOn();
  expect(await shownOf([said("They wait [file:1].")], sources)).toEqual([said("They wait.")]);
});

test("a run that goes on elsewhere shows no more here", async () => {
  expect(await shownOf([said("They [fi")], [FILE], new RunLost("elsewhere"))).toEqual([said("They")]);
});

test.each(["They wait  ", "They wait [", "They wait [fi", "They wait 【見 ", "They wait [[file:2"])(
  "what may belong to a marker is shown when the text ends in any way: %j",
  async (text) => {
    const whole = text.replace(/\[file:2$/, "");
    const ends: readonly (readonly ModelEvent[])[] = [
      [],
      [{ type: "message_finished" }],
      [{ type: "turn_cut" }],
      [{ type: "finished", reason: "length" }],
      [{ type: "call_started", kind: "function", callId: "call_1", name: "f" }],
    ];
    for (const fault of [null, new Error("it broke off")])
      for (const end of ends) {
        const seen = await shownOf([...text].map(said).concat(end), [FILE], fault);
        expect(seen.flatMap((event) => (event.type === "text_delta" ? [event.text] : [])).join("")).toBe(whole);
        expect(seen.slice(seen.length - end.length)).toEqual(end);
      }
  },
);

test("log probabilities stay with text that waits for the next delta", async () => {
  const likely = (token: string): ModelEvent => ({
    type: "text_delta",
    text: token,
    logprobs: [{ token, logprob: -1, bytes: [], top_logprobs: [] }],
  });
  const seen = await shownOf(
    [likely("They "), likely(" "), likely("wait "), likely("["), likely("a]("), said("[file:2]")],
    [FILE],
  );
  const tokens = seen.map((event) =>
    event.type === "text_delta" ? [event.text, (event.logprobs ?? []).map(({ token }) => token)] : event.type,
  );
  expect(tokens).toEqual([["They", ["They "]], ["  wait", [" ", "wait "]], [" [a](", ["[", "a]("]], "annotation"]);
});

const CHART = {
  type: "container_file",
  containerId: "cntr_1",
  fileId: "cfile_1",
  path: "/mnt/data/chart (1) ü.png",
  shownBy: "ci_1",
} as const;
const SHOWN: ModelEvent = {
  type: "item_finished",
  item: {
    id: "ci_1",
    type: "code_interpreter_call",
    status: "completed",
    code: "",
    container_id: "cntr_1",
    outputs: null,
  },
};

/** The annotations of each text, and the events between which they stand. */
async function citedFiles(events: readonly ModelEvent[], isData = false): Promise<readonly string[]> {
  const sources = new Sources();
  sources.add([CHART]);
  const turn = async function* (): AsyncGenerator<readonly ModelEvent[]> {
    for (const event of events) yield [event];
  };
  const seen: string[] = [];
  for await (const batch of citeTurn(turn(), sources, isData))
    for (const event of batch)
      seen.push(
        event.type === "annotation" && event.annotation.type === "container_file_citation"
          ? `${event.annotation.filename} ${event.annotation.start_index} ${event.annotation.end_index}`
          : event.type,
      );
  return seen;
}

test.each([`sandbox:${CHART.path}`, `sandbox:${encodeURI(CHART.path)}`])(
  "a link to %s is annotated over the address, behind the last delta",
  async (address) => {
    const text = `😀 [it](${address}) and ${address} and [x](sandbox:/mnt/data/other).`;
    const start = "😀 [it](".length - 1;
    const citation = `chart (1) ü.png ${start} ${start + address.length}`;
    const pieces = Array.from(text, (sign): ModelEvent => ({ type: "text_delta", text: sign }));
    const seen = await citedFiles([...pieces, { type: "message_finished" }]);
    expect(seen.filter((one) => one !== "text_delta")).toEqual([citation, "message_finished"]);
    expect(seen.at(-2)).toBe(citation);
  },
);

test("a picture is cited as a whole by the first text after it, once", async () => {
  const text: ModelEvent = { type: "text_delta", text: "So." };
  const end: ModelEvent = { type: "message_finished" };
  const expected = ["text_delta", "message_finished", "item_finished", "text_delta"];
  const seen = [...expected, "chart (1) ü.png 0 0", "message_finished", "text_delta", "message_finished"];
  for (const isData of [false, true])
    expect(await citedFiles([text, end, SHOWN, text, end, text, end], isData)).toEqual(seen);
});

test("JSON has no links", async () => {
  const text: ModelEvent = { type: "text_delta", text: `{"a":"[it](sandbox:${CHART.path})"}` };
  expect(await citedFiles([text, { type: "message_finished" }], true)).toEqual(["text_delta", "message_finished"]);
});
