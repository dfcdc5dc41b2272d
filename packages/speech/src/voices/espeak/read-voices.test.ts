import { expect, test } from "vitest";
import { readVariants, readVoices } from "./read-voices.ts";

const VOICES = `Pty Language       Age/Gender VoiceName          File                 Other Languages
 5  af              --/M      Afrikaans          gmw/af
 2  en-us           --/M      English_(America)  gmw/en-US            (en 3)
 2  en               --/M      English            gmw/en               (zh-cmn 5)(zh 5)
 5  de              --/M      german-mbrola-1    mb/mb-de1
`;
const VARIANTS = `Pty Language       Age/Gender VoiceName          File                 Other Languages
 5  variant         --/M      Alex               !v/Alex
70  variant         --/F      female3            !v/f3
`;

test("voices are named by their languages", () => {
  expect(readVoices(VOICES)).toEqual([
    { name: "af", language: "af", variantOf: null },
    { name: "en", language: "en", variantOf: null },
    { name: "en-us", language: "en-us", variantOf: null },
    { name: "zh", language: "zh", variantOf: null },
    { name: "zh-cmn", language: "zh-cmn", variantOf: null },
  ]);
});

test("variants are named by the part after the plus", () => {
  expect(readVariants(VARIANTS)).toEqual(["Alex", "f3"]);
  expect(readVariants("")).toEqual([]);
});
