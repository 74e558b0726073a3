// Reads [{name, text}] from standard input, writes for each the ids of the secretlint rules that speak up.
import { readFileSync } from "node:fs";
import { lintSource } from "@secretlint/core";
import { creator as preset } from "@secretlint/secretlint-rule-preset-recommend";

const id = "@secretlint/secretlint-rule-preset-recommend";
const config = { rules: [{ id, rule: preset, options: {} }] };
const cases = JSON.parse(readFileSync(0, "utf8"));
const answers = [];
for (const { text } of cases) {
    const isJson = text.startsWith("{");
    const source = {
        filePath: isJson ? "/case/case.json" : "/case/case.txt",
        content: text,
        contentType: "text",
        ext: isJson ? ".json" : ".txt",
    };
    const { messages } = await lintSource({ source, options: { config, noPhysicFilePath: true } });
    const rules = messages.map((message) => message.ruleId.replace("@secretlint/secretlint-rule-", ""));
    answers.push([...new Set(rules)].sort());
}
process.stdout.write(JSON.stringify(answers));
