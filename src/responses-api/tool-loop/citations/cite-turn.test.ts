import { expect, test } from "vitest";
import { verifies } from "../../../../tests/verifies.ts";
import type { ModelEvent } from "../../../runs/ports.ts";
import type { Citable } from "../../hosted-tool.ts";
import { citeTurn } from "./cite-turn.ts";
import { Sources } from "./sources.ts";

const PAGE = { type: "web", number: 3, url: "https://www.example.com/a_(b)", title: "A page" } as const;
const OTHER = { type: "web", number: 4, url: "https://other.test/", title: "Another" } as const;
const FILE = { type: "file", number: 2, fileId: "file-1", filename: "a.pdf" } as const;

async function cited(pieces: readonly string[], isData = false) {
  const sources = new Sources();
  sources.add([PAGE, OTHER, FILE] satisfies readonly Citable[]);
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
