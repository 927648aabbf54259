import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import { Bench, jobFor } from './support.ts';

/**
 * The output of terraform show comes from a process that has loaded providers, so it is compared with the plan file.
 * test/runner/plan-file has all differences.
 */

const bench = Bench.use();
const real = execFileSync('sh', ['-c', 'command -v terraform'], { encoding: 'utf8' }).trim();

/** A Terraform whose JSON of a plan is changed after it was printed. @param edit for sed */
const forging = (edit: string): Record<string, string> => {
  const folder = join(bench.directory, 'bin');
  const program = join(folder, 'terraform');
  mkdirSync(folder);
  writeFileSync(
    program,
    `#!/bin/sh\ncase "$1" in show) '${real}' "$@" | sed '${edit}' ;; *) exec '${real}' "$@" ;; esac\n`,
  );
  for (const path of [folder, program]) chmodSync(path, 0o755);
  // If Terraform runs as a separate user, it must be a native program, not a script.
  return { PATH: `${folder}:${process.env.PATH}`, STEPFORM_TERRAFORM_USERS: 'none' };
};

const configuration = async () =>
  Buffer.from(
    await packFiles({
      'main.tf':
        'variable "open" {}\nresource "terraform_data" "harmful" {\n  input = "0.0.0.0/0"\n}\noutput "open" {\n  value = "0.0.0.0/0"\n}\n',
    }),
  );

const variables = [{ key: 'open', value: 'all' }];

describe('the comparison of a plan and its JSON', () => {
  it.each([
    ['an action', 's/"actions":\\["create"\\]/"actions":["no-op"]/', /terraform_data\.harmful: .*action create.*no-op/],
    ['a value', 's/"input":"0.0.0.0/"input":"10.0.0.0/g', /terraform_data\.harmful: values after .*\(input\)/],
    ['all of it', 's/.*/{"format_version":"1.2","resource_changes":[]}/', /terraform_data\.harmful: .*not in the JSON/],
  ])('ends the run for %s', async (_, edit, where) => {
    const { report, log } = await bench.run(jobFor(bench.plane, await configuration(), { variables }), forging(edit));
    expect(report).toMatchObject({ outcome: 'errored', message: expect.stringMatching(where) });
    expect(log).toContain('The plan in JSON does not match the plan that would be applied');
    expect(report?.artifacts).not.toHaveProperty('plan-json');
    expect(report?.message).not.toContain('0.0.0.0');
  });

  it('stores the JSON as it was compared, without duplicate members', async () => {
    const { report } = await bench.run(
      jobFor(bench.plane, await configuration(), { variables }),
      forging('s/^{/{"resource_changes":[{"forged":true}],/'),
    );
    expect(report).toMatchObject({ outcome: 'finished' });
    const stored = bench.artifact('plan', 'plan-json')?.toString() ?? '';
    expect(stored).toContain('terraform_data.harmful');
    expect(stored).not.toContain('forged');
  });
});
