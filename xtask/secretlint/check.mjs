// Reads [{name, text}] from standard input, writes for each the ids of the secretlint rules that speak up.
import { readFileSync } from "node:fs";
import { extname } from "node:path";
import { lintSource } from "@secretlint/core";
import { creator as preset } from "@secretlint/secretlint-rule-preset-recommend";

const id = "@secretlint/secretlint-rule-preset-recommend";
const config = { rules: [{ id, rule: preset, options: {} }] };
const cases = JSON.parse(readFileSync(0, "utf8"));
const answers = [];
for (const { name, text } of cases) {
    // Some of its rules look only into files of certain names.
    const file = name.startsWith("npm:") ? ".npmrc" : text.startsWith("{") ? "case.json" : "case.txt";
    const source = { filePath: `/case/${file}`, content: text, contentType: "text", ext: extname(file) };
    const { messages } = await lintSource({ source, options: { config, noPhysicFilePath: true } });
    const rules = messages.map((message) => message.ruleId.replace("@secretlint/secretlint-rule-", ""));
    answers.push([...new Set(rules)].sort());
}
process.stdout.write(JSON.stringify(answers));
