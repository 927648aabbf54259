import { basename, dirname, join } from 'node:path';
import type { JobVariable } from '#run/protocols/runner.ts';
import { PhaseError } from '../errors.ts';
import { Folder } from '../workspace/door.ts';
import { readHcl } from './hcl.ts';

/** Of several variables with the same key the last wins (protocol.ts: rising precedence), at its position. */
export const effective = (variables: JobVariable[], category: JobVariable['category']): JobVariable[] => {
  const byKey = new Map<string, JobVariable>();
  for (const variable of variables) {
    if (variable.category !== category) continue;
    byKey.delete(variable.key);
    byKey.set(variable.key, variable);
  }
  return [...byKey.values()];
};

const identifier = /^[\p{ID_Start}_][\p{ID_Continue}-]*$/u;

/** Rejects a value whose lines could also set other variables unnoticed. @throws {PhaseError} */
const checkAlone = ({ key, value }: JobVariable): void => {
  const { attributes, blocks, repeated } = readHcl(`The value of the HCL variable "${key}"`, `${key} = ${value}\n`);
  if (Object.keys(attributes).length <= 1 && blocks.length === 0 && repeated.length === 0) return;
  throw new PhaseError(
    `The value of the HCL variable "${key}" is more than one expression: it would set other variables too. Set each in a variable of its own.`,
  );
};

interface VariableFile {
  path: string;
  content: string;
}

/**
 * In rising precedence, because a later file wins. So even an HCL value that sets other variables unnoticed cannot
 * override a variable set with priority.
 */
const filesFor = (directory: string, variables: JobVariable[]): VariableFile[] => {
  const files: VariableFile[] = [];
  let plain: Record<string, string> = Object.create(null);
  const close = (): void => {
    if (Object.keys(plain).length === 0) return;
    const name = `workspace${files.length || ''}.tfvars.json`;
    files.push({ path: join(directory, name), content: JSON.stringify(plain) });
    plain = Object.create(null);
  };
  for (const { key, value, hcl } of variables) {
    if (!hcl) plain[key] = value;
    else {
      close();
      files.push({ path: join(directory, `${key}.tfvars`), content: `${key} = ${value}\n` });
    }
  }
  close();
  return files;
};

/**
 * Writes Terraform variables into files, because other users can read command lines: plain strings as JSON, and each
 * HCL expression in a file named after its variable, so that Terraform's error names it.
 * @param only names to write; absent: all
 * @returns paths for `-var-file`
 * @throws {PhaseError} for an invalid variable name, and for an HCL value that contains more than one value
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
  for (const variable of written) if (variable.hcl) checkAlone(variable);
  const files = filesFor(directory, written);
  Folder.at(dirname(directory), (above) => {
    // The folder of an earlier attempt belongs to Terraform's user.
    above.remove(basename(directory));
    above.makeFolder(basename(directory), 0o700);
    above.within(basename(directory), (folder) => {
      for (const { path, content } of files) folder.write(basename(path), content, 0o600);
    });
  });
  return files.map(({ path }) => path);
};
