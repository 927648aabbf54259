import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { covers } from '#runner/program/schemas.ts';
import { archive, Bench, jobFor } from './support.ts';

const builtin = 'terraform.io/builtin/terraform';
const plain = 'resource "terraform_data" "a" {}\n';

it('schemas cover a plan if they have all its providers', () => {
  const plan = {
    format_version: '1.2',
    resource_changes: [{ type: 'a', provider_name: 'one', change: { actions: ['create'] } }],
    prior_state: { values: { root_module: { resources: [{ type: 'b', provider_name: 'two' }] } } },
  };
  const of = (...names: string[]) => Object.fromEntries(names.map((name) => [name, {}]));
  expect(covers({ format_version: '1.0', provider_schemas: of('one', 'two', 'three') }, plan)).toBe(true);
  expect(covers({ format_version: '1.0', provider_schemas: of('one') }, plan)).toBe(false);
  expect(covers({ format_version: '1.0' }, plan)).toBe(false);
  expect(covers({ format_version: '1.0' }, { format_version: '1.2' })).toBe(true);
});

/** Schemas are cached only if Terraform runs as a separate user. */
describe.runIf(process.platform === 'linux' && process.getuid?.() === 0)(
  'schemas on a machine that outlives its runners',
  () => {
    const bench = Bench.use();
    const kept = () => {
      try {
        return readdirSync(join(bench.directory, 'cache', 'schemas')).map((name) =>
          join(bench.directory, 'cache', 'schemas', name),
        );
      } catch {
        return [];
      }
    };
    /** Stored schemas, those shown by the command line, and whether Terraform printed them before the report. */
    const plan = async (main: string, environment: Record<string, string> = {}, files: Record<string, string> = {}) => {
      const job = jobFor(bench.plane, await archive({ 'main.tf': main, ...files }), { structuredOutput: true });
      bench.plane.objects.delete(`${job.runId}/plan/provider-schemas`);
      bench.plane.objects.delete(`${job.runId}/plan/plan-json-redacted`);
      bench.plane.takesLater = true;
      const { report } = await bench.run(job, {
        STEPFORM_PROVIDER_CACHE: join(bench.directory, 'providers'),
        ...environment,
      });
      const json = (name: string) =>
        JSON.parse(bench.artifact('plan', name)?.toString() ?? '{}').provider_schemas ?? {};
      return {
        stored: json('provider-schemas'),
        shown: json('plan-json-redacted'),
        asked: report?.steps?.took.schemas !== undefined,
        outcome: report?.outcome,
      };
    };

    it('are read from Terraform once for a lock file, and again if a provider is missing or the file is damaged', async () => {
      // Lock files do not list Terraform's built-in provider.
      expect(await plan('output "a" { value = 1 }\n')).toMatchObject({ asked: true, shown: {} });
      const [file = ''] = kept();
      expect(JSON.parse(readFileSync(file, 'utf8')).provider_schemas ?? {}).toEqual({});
      const whole = await plan(plain);
      const all = { [builtin]: { resource_schemas: { terraform_data: {} } } };
      expect(whole).toMatchObject({ asked: true, stored: all, shown: all });
      const second = plain.replace('"a"', '"b"');
      expect(await plan(second)).toEqual({ ...whole, asked: false });
      writeFileSync(file, readFileSync(file).subarray(0, 1000));
      expect(await plan(plain)).toEqual(whole);
      expect(await plan(second)).toEqual({ ...whole, asked: false });
      expect(kept()).toEqual([file]);
      // Another lock file has its own schemas.
      expect((await plan(plain, {}, { '.terraform.lock.hcl': '# of another\n' })).asked).toBe(true);
      expect(kept()).toHaveLength(2);
      // Terraform that runs as the runner's user could change the file: it is neither read nor written.
      const marked = `${readFileSync(file, 'utf8')} `;
      writeFileSync(file, marked);
      const asOne = await plan(plain, { STEPFORM_TERRAFORM_USERS: 'none' });
      expect(asOne).toMatchObject({ outcome: 'finished', asked: true, stored: all });
      expect(readFileSync(file, 'utf8')).toBe(marked);
      expect(await plan(plain)).toEqual({ ...whole, asked: false });
    });

    it('are not required: a run that cannot cache them succeeds', async () => {
      const folder = join(bench.directory, 'cache', 'schemas');
      mkdirSync(dirname(folder), { recursive: true });
      writeFileSync(folder, '');
      chmodSync(folder, 0o600);
      expect(await plan(plain)).toMatchObject({ outcome: 'finished', asked: true, stored: { [builtin]: {} } });
    });
  },
);
