import type { JobProviderSet } from '#run/protocols/runner.ts';
import type { Phase } from './phase.ts';
import type { Prepared } from './prepared.ts';
import { inWorkingDirectory, readLockFile } from './workspace/record.ts';

/**
 * Configures providers from the organization's provider sets, once `terraform init` shows which ones the module
 * needs: a set alone does not download a provider. Written as an override file, so that it replaces a block of the
 * configuration.
 */

const overrideFile = 'stepform_provider_sets_override.tf';
const variablesFile = 'stepform_provider_sets.tf';

/** Addresses in the lock file, which lists every provider of every module. */
const providersIn = (lockFile: string): Set<string> =>
  new Set([...lockFile.matchAll(/^provider\s+"([^"]+)"/gm)].map(([, address = '']) => address));

export interface Choice {
  used: JobProviderSet[];
  /** Sets that have no effect, with the reason for users. */
  unused: { name: string; why: string }[];
}

export const choose = (sets: JobProviderSet[], lockFile: string): Choice => {
  const required = providersIn(lockFile);
  const choice: Choice = { used: [], unused: [] };
  for (const set of sets) {
    const { name, source, localName } = set;
    const conflicting = choice.used.find((used) => used.localName === localName);
    if (!required.has(source)) choice.unused.push({ name, why: `the configuration does not use ${source}` });
    else if (conflicting)
      choice.unused.push({ name, why: `"${localName}" is configured by provider set ${conflicting.name}` });
    else choice.used.push(set);
  }
  return choice;
};

export const overrideText = (sets: JobProviderSet[]): string =>
  [
    'terraform {',
    '  required_providers {',
    ...sets.map(({ localName, source }) => `    ${localName} = { source = ${JSON.stringify(source)} }`),
    '  }',
    '}',
    ...sets.map(({ configuration }) => `\n${configuration.trim()}`),
    '',
  ].join('\n');

const declarations = (names: string[]): string => names.map((name) => `variable ${JSON.stringify(name)} {}\n`).join('');

/** Call it before variable values are written, because it adds the variables that the sets refer to. */
export const useProviderSets = (phase: Phase, prepared: Prepared): void => {
  const { job, log, user } = phase;
  if (!job.providerSets?.length) return;
  const lockFile = inWorkingDirectory(phase, prepared, (folder) => readLockFile(folder, user.owner));
  const { used, unused } = choose(job.providerSets, lockFile?.toString('utf8') ?? '');
  for (const { name, why: reason } of unused) log.note(`Provider set ${name} is not used: ${reason}.\n`);
  for (const { name, source } of used) log.note(`Provider set ${name} configures ${source}.\n`);
  if (used.length === 0) return;
  const missing = [...new Set(used.flatMap(({ variables }) => variables))].filter(
    (name) => !prepared.module.variables.includes(name),
  );
  const files = { [overrideFile]: overrideText(used), [variablesFile]: declarations(missing) };
  inWorkingDirectory(phase, prepared, (folder) => {
    for (const [name, text] of Object.entries(files)) folder.write(name, text, 0o600, user.owner);
  });
  prepared.module.variables.push(...missing);
};
