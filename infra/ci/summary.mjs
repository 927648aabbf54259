// Prints a run's events, as `stepform runs start --watch --json` writes them, as Markdown for people or outputs for GitHub.
import { readFileSync } from 'node:fs';

const [file = '', mode] = process.argv.slice(2);
const events = readFileSync(file, 'utf8')
  .split('\n')
  .flatMap((line) => {
    try {
      return [JSON.parse(line)];
    } catch {
      return [];
    }
  });
const of = (name) => events.filter(({ event }) => event === name);
const run = of('end').at(-1)?.run ?? of('run').at(-1)?.run;
const end = of('end').at(-1);

/** Within a fence longer than any in the text, so that output cannot end it. */
const fenced = (text) => {
  const fence = '`'.repeat(Math.max(2, ...(text.match(/`+/g) ?? []).map(({ length }) => length)) + 1);
  return `${fence}\n${text}\n${fence}`;
};

/** GitHub rejects comments of more than 65,536 characters. */
const maxOutput = 50_000;
const shortened = (text) => (text.length > maxOutput ? `…\n${text.slice(-maxOutput)}` : text);

const resultOf = () => {
  const { changes } = of('stage').findLast((stage) => stage.changes) ?? {};
  const name = end?.name ?? 'The run could not be started';
  if (!changes) return name;
  const imports = changes.imports ? `${changes.imports} to import, ` : '';
  return `${name}: ${imports}${changes.additions} to add, ${changes.changes} to change, ${changes.destructions} to destroy`;
};

if (mode === '--outputs') {
  if (run?.id) console.log(`run-id=${run.id}`);
  if (run?.attributes?.status) console.log(`status=${run.attributes.status}`);
} else {
  const address = run && process.env.TFE_ADDRESS ? new URL(process.env.TFE_ADDRESS).origin : '';
  const link = run
    ? `[${run.id}](${address}/app/${process.env.ORGANIZATION}/workspaces/${process.env.WORKSPACE}/runs/${run.id})`
    : '';
  const output = of('log')
    .map(({ line }) => line)
    .join('\n');
  console.log(`### ${mode === '--plan-only' ? 'Plan' : 'Apply'} of ${process.env.WORKSPACE}\n\n${resultOf()} ${link}`);
  if (output) console.log(`\n<details><summary>Output</summary>\n\n${fenced(shortened(output))}\n\n</details>`);
}
