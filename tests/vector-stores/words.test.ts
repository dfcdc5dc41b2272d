import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { pdfOfLines } from "../responses/media-samples.ts";
import { verifies } from "../verifies.ts";
import { createStore, search, takeIn, takenIn, upload } from "./store-client.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

/** A store with these files by their names. */
async function storeOf(files: Readonly<Record<string, string>>): Promise<string> {
  const ids: string[] = [];
  for (const [name, content] of Object.entries(files)) ids.push(await upload(server, name, content));
  const id = await createStore(server, ids);
  expect((await takenIn(server, id)).file_counts).toMatchObject({ completed: ids.length, failed: 0 });
  return id;
}

async function namesFound(storeId: string, question: string): Promise<readonly string[]> {
  return (await search(server, storeId, question)).map(({ filename }) => filename);
}

test("a file is found by its name, whole or in part", async () => {
  verifies("vector-stores.search.by-name");
  const id = await storeOf({
    "Q3-report_final.v2.txt": "Sales rose in most towns.",
    "q2-report_final.v2.txt": "Sales fell in all towns.",
    "budgetPlan2024.md": "# Costs\n\nRent and wages.",
    "notes.txt": "A report on the weather, final or not.",
  });
  expect((await namesFound(id, "Q3-report_final.v2.txt"))[0]).toBe("Q3-report_final.v2.txt");
  expect((await namesFound(id, "What does q2-report_final say?"))[0]).toBe("q2-report_final.v2.txt");
  expect((await namesFound(id, "the budget plan of 2024"))[0]).toBe("budgetPlan2024.md");
});

test("a file is found by its path and title, if its attributes name them", async () => {
  verifies("vector-stores.search.by-name");
  const id = await createStore(server, []);
  for (const [path, title] of [
    ["guide/install.md", "First steps"],
    ["reference/install.md", "All settings"],
  ] as const) {
    const file_id = await upload(server, "install.md", "Unpack the archive.");
    await server.post(`/v1/vector_stores/${id}/files`, { file_id, attributes: { path, title, owner: "zebra" } });
  }
  await takenIn(server, id);
  const found = async (query: string) => {
    const reply = await server.post(`/v1/vector_stores/${id}/search`, { query });
    const { data }: { readonly data: readonly { readonly attributes: { readonly path: string } }[] } =
      await reply.json();
    return data.map(({ attributes }) => attributes.path);
  };
  expect((await found("guide/install.md"))[0]).toBe("guide/install.md");
  expect(await found("all settings")).toEqual(["reference/install.md"]);
  expect(await found("zebra")).toEqual([]);
});

test("a piece is found by the title of its page and by its headings, and its text is that of the page", async () => {
  verifies("vector-stores.search.context-of-pieces");
  const body = "<h2>Feeding</h2><p>They wait in shallow water.</p>";
  const id = await storeOf({
    "a.html": `<title>Handbook of herons</title>${body}`,
    "b.html": `<title>Handbook of ducks</title>${body}`,
  });
  const found = await search(server, id, "herons handbook feeding");
  expect(found[0]).toMatchObject({
    filename: "a.html",
    content: [{ text: "## Feeding\n\nThey wait in shallow water." }],
  });
});

test("a PDF loses running lines and hyphens, and its headings and title lead to its pieces", async () => {
  verifies("vector-stores.ingest.pdf-lines", "vector-stores.search.context-of-pieces");
  const chapter = (name: string, page: number) =>
    [
      [8, "Yearbook of the society"],
      [16, name],
      [10, `${name} live by the shal-`],
      [10, `low water of the lake. There are ${page * page + 3} of them.`],
      [8, `Page ${page}`],
    ] as const;
  const pdf = pdfOfLines(
    "Birds of the lake",
    ["Herons", "Ducks", "Swans", "Owls"].map((name, index) => chapter(name, index + 1)),
  );
  const { text, storeId } = await takeIn(server, "a.pdf", pdf);
  expect(text).toBe(
    ["Herons", "Ducks", "Swans", "Owls"]
      .map(
        (name, index) =>
          `# ${name}\n${name} live by the shallow water of the lake. There are ${(index + 1) ** 2 + 3} of them.`,
      )
      .join("\n\n"),
  );
  expect(await namesFound(storeId, "birds")).toEqual(["a.pdf"]);
  expect(await namesFound(storeId, "society")).toEqual([]);
});

const GERMAN = {
  "bruecke.txt":
    "Über den Fluss führt eine alte Brücke. Sie ist für Fußgänger und nicht für Autos, denn sie ist schmal.",
  "stadt.txt": "Die Stadt hat viele Häuser und einen Markt. Auf dem Markt gibt es Fisch und Brot, aber keine Blumen.",
};

test.each([
  ["Wo sind die alten Brücken?", "bruecke.txt"],
  ["Gibt es in der Stadt ein Haus?", "stadt.txt"],
  ["Which town has a Markt?", "stadt.txt"],
  ["What does the heron hunt?", "heron.txt"],
  ["hunting herons", "heron.txt"],
])("in a store of several languages, %s finds %s", async (question, name) => {
  verifies("vector-stores.search.by-language");
  const id = await storeOf({
    ...GERMAN,
    "heron.txt": "The heron hunts in shallow water, and it is not afraid of the people who pass by on the bridge.",
  });
  expect((await namesFound(id, question))[0]).toBe(name);
});

test("words that say nothing count little beside words that do", async () => {
  verifies("vector-stores.search.by-language");
  const id = await storeOf({ ...GERMAN });
  const found = await search(server, id, "Wo ist der Markt, und ist sie für die Autos?");
  expect(found[0]).toMatchObject({ filename: "bruecke.txt" });
  expect((await search(server, id, "Wo ist der Markt?")).map(({ filename, score }) => [filename, score > 0])).toEqual([
    ["stadt.txt", true],
    ["bruecke.txt", false],
  ]);
  expect(await namesFound(id, "die ist")).toHaveLength(2);
});

test("a threshold between 0.3 and 0.5 leaves what answers, in a small and in a large store", async () => {
  verifies("vector-stores.search.score-scale");
  const answer = { "answer.txt": "The harbour opens at six in the morning. Ships wait for the pilot." };
  const others = Object.fromEntries(
    Array.from({ length: 120 }, (_, index) => [
      `note-${index}.txt`,
      `Note ${index}: the market of town ${index % 7} opens ${index % 3 === 0 ? "in the morning" : "at noon"}.`,
    ]),
  );
  for (const id of [await storeOf(answer), await storeOf({ ...answer, ...others })]) {
    const found = await search(server, id, "When does the harbour open for ships?");
    const kept = found.filter(({ score }) => score >= 0.5).map(({ filename }) => filename);
    expect(kept).toEqual(["answer.txt"]);
    expect(found.filter(({ score }) => score >= 0.3)).toHaveLength(1);
  }
});
