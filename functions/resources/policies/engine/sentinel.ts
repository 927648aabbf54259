import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runBounded } from './child.ts';
import type { Engine, EvaluationRequest, EvaluationResult, PolicyAnswer } from './engine.ts';

/**
 * Sentinel, if the operator provides its binary, which its license does not allow the platform to download. A
 * policy's query is its file. HCP Terraform's imports `tfplan/v2` and `tfrun` are passed as static ones (Sentinel
 * docs: configuration).
 */

interface Plan {
  resource_changes?: { address: string }[];
  output_changes?: Record<string, unknown>;
  planned_values?: unknown;
  variables?: unknown;
  terraform_version?: string;
}

/** HCP docs: import tfplan/v2. */
const tfplan = (plan: Plan): unknown => ({
  terraform_version: plan.terraform_version ?? '',
  variables: plan.variables ?? {},
  planned_values: plan.planned_values ?? {},
  resource_changes: Object.fromEntries((plan.resource_changes ?? []).map((change) => [change.address, change])),
  output_changes: plan.output_changes ?? {},
  raw: plan,
});

const quoted = (text: string): string =>
  JSON.stringify(text).replaceAll(/[$%]\{/g, (marker) => `${marker[0]}${marker}`);

const configuration = (parameters: Record<string, string>): string =>
  [
    ...['tfplan/v2', 'tfrun'].map(
      (name) => `import "static" "${name}" {\n  source = "./${name.split('/')[0]}.json"\n  format = "json"\n}`,
    ),
    ...Object.entries(parameters).map(([key, value]) => `param ${quoted(key)} {\n  value = ${quoted(value)}\n}`),
  ].join('\n');

/** Sentinel CLI: exit codes of apply. */
const failed = 1;

const judged = async (
  binary: string,
  directory: string,
  query: string,
  question: EvaluationRequest,
): Promise<PolicyAnswer> => {
  const { limits } = question;
  const seconds = Math.min(limits.seconds, (limits.deadline - Date.now()) / 1000);
  if (seconds <= 0) return { error: 'the time limit for all policies of the run was reached before it was evaluated' };
  const parameters = ['apply', '-color=false', '-config=sentinel.hcl', join('files', query)];
  const ended = await runBounded(binary, parameters, directory, { ...limits, seconds });
  if (ended.exceeded) return { error: `it exceeded its ${ended.exceeded} limit` };
  if (ended.exitCode === 0) return { value: true };
  const lines = `${ended.stdout}\n${ended.stderr}`
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  if (ended.exitCode === failed) return { value: lines.length ? lines : false };
  return { error: lines.slice(0, 5).join('; ') || `Sentinel ended with ${ended.exitCode ?? 'a signal'}` };
};

/** @throws {Error} when the binary cannot be started */
export const openSentinel = async (binary: string): Promise<Engine> => {
  const versionOutput = await runBounded(binary, ['version'], tmpdir(), {
    seconds: 20,
    memoryMiB: 512,
    outputBytes: 10_000,
  });
  const version = /v?(\d+\.\d+\.\d+)/.exec(versionOutput.stdout)?.[1] ?? '';
  return { version, evaluate: (question) => ask(binary, question) };
};

const ask = async (binary: string, question: EvaluationRequest): Promise<EvaluationResult> => {
  const directory = await mkdtemp(join(tmpdir(), 'policies-'));
  try {
    const { plan, run } = JSON.parse(await readFile(question.input.path, 'utf8')) as { plan: Plan; run: unknown };
    await writeFile(join(directory, 'tfplan.json'), JSON.stringify(tfplan(plan)));
    await writeFile(join(directory, 'tfrun.json'), JSON.stringify(run));
    await writeFile(join(directory, 'sentinel.hcl'), configuration(question.parameters));
    for (const { path, content } of question.files) {
      const file = join(directory, 'files', path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, content, { flag: 'wx' });
    }
    const answers: PolicyAnswer[] = [];
    for (const { query } of question.policies) answers.push(await judged(binary, directory, query, question));
    return { answers, warnings: [] };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
};
