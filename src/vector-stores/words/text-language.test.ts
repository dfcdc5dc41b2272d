import { expect, test } from "vitest";
import { formsOfText } from "./text-language.ts";
import { wordsOf } from "./words.ts";

const HERONS = {
  eng: "The heron waits in shallow water and strikes at the fish that pass. It does not move for a long time.",
  deu: "Der Reiher wartet im flachen Wasser und stößt nach den Fischen, die vorbeischwimmen. Er bewegt sich lange nicht.",
  fra: "Le héron attend dans l'eau peu profonde et frappe les poissons qui passent. Il ne bouge pas pendant longtemps.",
  spa: "La garza espera en aguas poco profundas y ataca a los peces que pasan. No se mueve durante mucho tiempo.",
  rus: "Цапля ждёт на мелководье и бьёт рыбу, которая проплывает мимо. Она долго не двигается, и её не видно.",
  ita: "L'airone aspetta nell'acqua bassa e colpisce i pesci che passano. Non si muove per molto tempo e non si vede.",
  nld: "De reiger wacht in het ondiepe water en slaat toe als de vissen langs komen. Hij beweegt lang niet.",
} as const;

test.each(Object.entries(HERONS))("a text in %s is known as such, also one that is long", async (language, text) => {
  expect((await formsOfText(text)).language).toBe(language);
  expect((await formsOfText(`${text}\n`.repeat(2_000))).language).toBe(language);
});

test.each([
  ["a table of German names", "Name;Ort\nMüller;Köln\nSchröder;Gießen\nKäßler;Nürnberg\n".repeat(20)],
  ["code", "function readFile(path) { return fs.read(path); }\n".repeat(20)],
  ["Japanese", "東京は日本の首都です。人口が多いです。"],
  ["nothing", ""],
])("%s has English forms", async (_name, text) => {
  expect((await formsOfText(text)).language).toBe("eng");
});

test("the words of a text are found by any form in its own language", async () => {
  const german = await formsOfText(HERONS.deu);
  for (const [one, other] of [
    ["Häuser", "Haus"],
    ["Fischen", "Fisches"],
    ["Brücken", "BRÜCKE"],
  ] as const)
    expect([...wordsOf(one, german)], one).toEqual([...wordsOf(other, german)]);
  expect([...wordsOf("Stoß 4711 №5 x", german)]).toEqual(["stoss", "4711", "5", "x"]);
});
