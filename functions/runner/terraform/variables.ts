import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JobVariable } from '../../protocols/runner.ts';
import { PhaseError } from '../errors.ts';

/** Of several variables with one key the last wins (protocol.ts: rising precedence). */
export const effective = (variables: JobVariable[], category: JobVariable['category']): JobVariable[] => [
  ...new Map(
    variables.filter((variable) => variable.category === category).map((variable) => [variable.key, variable]),
  ).values(),
];

const identifier = /^[\p{ID_Start}_][\p{ID_Continue}-]*$/u;

/**
 * Writes Terraform variables into files, because command lines are readable by others: plain strings together as JSON,
 * each HCL expression in a file named after its variable, so that Terraform's error names it.
 * @param only names to write; absent: all
 * @returns paths for `-var-file`
 * @throws {PhaseError} for an invalid variable name
 */
export const writeVariables = async (
  directory: string,
  variables: JobVariable[],
  only?: ReadonlySet<string>,
): Promise<string[]> => {
  const written = effective(variables, 'terraform').filter(({ key }) => !only || only.has(key));
  if (written.length === 0) return [];
  const invalid = written.find(({ key }) => !identifier.test(key));
  if (invalid) {
    throw new PhaseError(
      `"${invalid.key}" is not a valid name for a Terraform variable. Rename or remove it in the workspace.`,
    );
  }
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const plain = written.filter(({ hcl }) => !hcl);
  const files = written
    .filter(({ hcl }) => hcl)
    .map(({ key, value }) => ({ path: join(directory, `${key}.tfvars`), content: `${key} = ${value}\n` }));
  if (plain.length) {
    const content = JSON.stringify(Object.fromEntries(plain.map(({ key, value }) => [key, value])));
    files.push({ path: join(directory, 'workspace.tfvars.json'), content });
  }
  await Promise.all(files.map(({ path, content }) => writeFile(path, content, { mode: 0o600 })));
  return files.map(({ path }) => path);
};
