import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { JobProviderSet } from '#run/protocols/runner.ts';
import { choose, overrideText } from '#runner/program/provider-sets.ts';
import { archive, Bench, jobFor } from './support.ts';

/** Providers that the organization configures, for a configuration without provider blocks. */

const source = 'registry.terraform.io/coder/coder';
const set = (change: Partial<JobProviderSet> = {}): JobProviderSet => ({
  name: 'of all',
  source,
  configuration: 'provider "coder" {\n  url = var.access_url\n}',
  localName: 'coder',
  variables: ['access_url'],
  ...change,
});

describe('the sets of a run', () => {
  const lock = (...addresses: string[]) =>
    addresses.map((address) => `provider "${address}" {\n  version = "1.0.0"\n}\n`).join('\n');

  it('are used for required providers', () => {
    expect(choose([set()], lock(source))).toEqual({ used: [set()], unused: [] });
    expect(choose([set()], lock('registry.terraform.io/hashicorp/null'))).toEqual({
      used: [],
      unused: [{ name: 'of all', why: `the configuration does not use ${source}` }],
    });
    expect(choose([set()], '').used).toEqual([]);
  });

  it('have unique names in the configuration', () => {
    const other = set({ name: 'other', source: 'registry.terraform.io/acme/coder' });
    expect(choose([set(), other], lock(source, other.source))).toEqual({
      used: [set()],
      unused: [{ name: 'other', why: '"coder" is configured by provider set of all' }],
    });
  });

  it('declare the sources of their providers', () => {
    expect(overrideText([set()])).toBe(
      `terraform {\n  required_providers {\n    coder = { source = "${source}" }\n  }\n}\n\nprovider "coder" {\n  url = var.access_url\n}\n`,
    );
  });
});

describe.skipIf(!existsSync('/usr/local/share/terraform/plugins/registry.terraform.io/coder/coder'))(
  'with a real provider',
  () => {
    const bench = Bench.use();
    const module =
      'terraform {\n  required_providers {\n    mine = { source = "coder/coder" }\n  }\n}\ndata "coder_workspace" "me" {\n  provider = mine\n}\noutput "url" {\n  value = data.coder_workspace.me.access_url\n}\n';
    const configuration = (more = '') =>
      archive({
        'main.tf': `module "a" {\n  source = "./a"\n}\noutput "url" {\n  value = module.a.url\n}\n${more}`,
        'a/main.tf': module,
      });
    const variable = { key: 'access_url', value: 'https://of-the-set.test' };
    const plan = async (content: Buffer, sets: JobProviderSet[], variables = [variable]) =>
      bench.run({ ...jobFor(bench.plane, content, { variables }), providerSets: sets });

    it('configures a provider for modules with a variable, reports an unused set, and installs nothing for it', async () => {
      const aws = { name: 'of aws', source: 'registry.terraform.io/hashicorp/aws', localName: 'aws' };
      const { log, report } = await plan(await configuration(), [set(), set(aws)]);
      expect(log).toContain(`Provider set of all configures ${source}.`);
      expect(log).toContain('https://of-the-set.test');
      expect(log).toContain(
        'Provider set of aws is not used: the configuration does not use registry.terraform.io/hashicorp/aws.',
      );
      expect(log).not.toMatch(/Installing hashicorp\/aws/);
      expect(report).toMatchObject({ outcome: 'finished' });
    });

    it('overrides a block of the configuration', async () => {
      const own =
        'terraform {\n  required_providers {\n    coder = { source = "coder/coder" }\n  }\n}\nprovider "coder" {\n  url = "https://own.test"\n}\n';
      const { log } = await plan(await configuration(own), [set()]);
      expect(log).toContain('https://of-the-set.test');
      expect(log).not.toContain('https://own.test');
    });

    it('fails when a variable that it refers to has no value, naming it', async () => {
      const { log, report } = await plan(await configuration(), [set()], []);
      expect(report).toMatchObject({ outcome: 'errored' });
      expect(log).toContain('access_url');
    });
  },
);
