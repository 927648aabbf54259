import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { archiveLimits, readArchive } from '#resources/policies/engine/archive.ts';
import { bundleOf } from '#resources/policies/engine/bundle.ts';
import { readPoliciesFile } from '#resources/policies/engine/policies-file.ts';
import { maxPolicies } from '#resources/policies/engine/policy-blocks.ts';
import { archive, policyFiles } from '#test/support/policies.ts';

/** Uploaded archives of policy set versions. */

const paths = async (packed: Buffer, root = '') => (await readArchive(packed, root)).map(({ path }) => path);

describe('an archive', () => {
  it('returns its policies and their data only', async () => {
    const packed = await archive({
      './policies.hcl': 'x',
      'lib/./a.rego': 'package a',
      'lib/a_test.rego': 'package a',
      'config/data.yaml': 'x: 1',
      'plan.json': '{}',
      'README.md': '',
      'leak.rego': { type: 'symlink', linkname: '/etc/passwd' },
    });
    expect(await paths(packed)).toEqual(['config/data.yaml', 'lib/a.rego', 'policies.hcl']);
  });

  it('returns the policies of one folder on request', async () => {
    const packed = await archive({
      'policies.hcl': 'x',
      'net/policies.hcl': 'y',
      'net/a.rego': '',
      'network/b.rego': '',
    });
    expect(await readArchive(packed, './net/')).toEqual([
      { path: 'a.rego', content: '' },
      { path: 'policies.hcl', content: 'y' },
    ]);
    await expect(readArchive(packed, '../net')).rejects.toThrow(/is outside the policy set/);
  });

  it.each(['../evil.rego', '/etc/evil.rego', 'a/../../evil.rego', 'a\\..\\..\\evil.rego'])(
    'is rejected for the entry %s',
    async (name) => {
      await expect(readArchive(await archive({ [name]: 'package a' }), '')).rejects.toThrow(
        /is outside the policy set/,
      );
    },
  );

  it('is rejected when it is invalid, truncated, a bomb, has too many files or no text', async () => {
    const whole = await archive({ 'a.rego': 'package a\n'.repeat(10_000) });
    await expect(readArchive(Buffer.from('PK\x03\x04'), '')).rejects.toThrow(/gzip-compressed tar/);
    await expect(readArchive(gzipSync('not a tar'.repeat(200)), '')).rejects.toThrow(/gzip-compressed tar/);
    await expect(readArchive(whole.subarray(0, whole.length - 20), '')).rejects.toThrow(/gzip-compressed tar/);
    const bomb = await archive({ 'a.rego': '0'.repeat(archiveLimits.unpackedBytes + 1) });
    await expect(readArchive(bomb, '')).rejects.toThrow(/unpacks to more than 50 MiB/);
    const many = Object.fromEntries(Array.from({ length: archiveLimits.files + 1 }, (_, i) => [`${i}.rego`, '']));
    await expect(readArchive(await archive(many), '')).rejects.toThrow(/more than 2000 entries/);
    const binary = gzipSync(
      Buffer.concat([(await import('node:zlib')).gunzipSync(await archive({ 'a.rego': 'ab' }))]).map((byte, i) =>
        i === 512 ? 0xff : byte,
      ),
    );
    await expect(readArchive(binary, '')).rejects.toThrow(/a.rego is not UTF-8/);
  });

  it('needs a declaration, and policies', async () => {
    const files = async (...names: string[]) =>
      names.map((path) => ({ path, content: policyFiles('deny := []')['policies.hcl'] ?? '' }));
    expect(() => bundleOf([], 'opa', '')).toThrow(/no policies.hcl at its top/);
    expect(() => bundleOf([], 'sentinel', 'net')).toThrow(/no policies.hcl \(or sentinel.hcl\) in its folder net/);
    const declared = await files('policies.hcl');
    expect(() => bundleOf(declared, 'opa', '')).toThrow(/no .rego file/);
  });

  it('may contain Sentinel policies', () => {
    const content = 'policy "a" {\n source = "./lib/a.sentinel"\n enforcement_level = "soft-mandatory"\n}';
    const files = [
      { path: 'sentinel.hcl', content },
      { path: 'lib/a.sentinel', content: 'main = rule { true }' },
    ];
    expect(bundleOf(files, 'sentinel', '')).toEqual({
      language: 'sentinel',
      policies: [{ name: 'a', description: '', enforcementLevel: 'soft-mandatory', source: 'lib/a.sentinel' }],
      files: [files[1]],
    });
    expect(() => bundleOf(files.slice(0, 1), 'sentinel', '')).toThrow(/sentinel.hcl line 2: .*not in the archive/);
  });
});

describe('policies.hcl', () => {
  it('declares policies', () => {
    const content = `# all of them
policy "one" {
  query             = "data.terraform.policies.one.deny"
  enforcement_level = "mandatory"
  description       = "Says \\"no\\" — \\u00e9 $\${x}"
}
policy "two" { query = "data.two.deny" }
`;
    expect(readPoliciesFile(content, 'opa')).toEqual([
      {
        name: 'one',
        query: 'data.terraform.policies.one.deny',
        enforcementLevel: 'mandatory',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: HCL's template, escaped
        description: 'Says "no" — é ${x}',
      },
      { name: 'two', query: 'data.two.deny', enforcementLevel: 'advisory', description: '' },
    ]);
    expect(
      readPoliciesFile('policy "a" {\nquery = "q"\nenforcement_level = "hard-mandatory"\n}', 'sentinel'),
    ).toMatchObject([{ enforcementLevel: 'hard-mandatory' }]);
  });

  const q = 'query = "data.a.deny"';
  it.each([
    ['', /line 1: it has no policy; add/],
    [`policy "a" { ${q} `, /line 1: this is not valid HCL/],
    [`policy "a" {\n  ${q}\n  query "x"\n}`, /line 3: this is not valid HCL/],
    [`\n\n}`, /line 3: this is not valid HCL/],
    [`policy "a" {\n ${q}\n}\nmodule "x" {}`, /line 4: unknown block "module"/],
    [`policy {\n ${q}\n}`, /line 1: a policy has one name/],
    [`policy "a" "b" {\n ${q}\n}`, /line 1: a policy has one name/],
    [`policy "a" {\n}`, /line 1: policy "a" has no query; add/],
    [`policy "a" {\n query = ""\n}`, /line 1: policy "a" has no query/],
    [`policy "a" {\n ${q}\n level = "x"\n}`, /line 3: a policy has no "level"; it has query, enforcement_level/],
    [`policy "a" {\n ${q}\n nested {}\n}`, /line 3: a policy has no block "nested"/],
    [`policy "a" {\n query = data.a.deny\n}`, /line 2: query must be a quoted string/],
    [`policy "a" {\n query = "x \${1}"\n}`, /line 2: query must be a plain string/],
    [`policy "a" {\n query = "\\q"\n}`, /line 2: query has the unknown escape/],
    [`policy "a" {\n ${q}\n enforcement_level = "hard-mandatory"\n}`, /line 3: .* one of "advisory", "mandatory"/],
    [`policy "a" {\n ${q}\n}\npolicy "a" {\n ${q}\n}`, /line 4: policy "a" is already declared/],
    [`query = "x"`, /line 1: "query" is outside a policy block/],
    [`policy "a" {\n query = "${'x'.repeat(1001)}"\n}`, /line 2: query may have at most 1000/],
    [
      Array.from({ length: maxPolicies + 1 }, (_, i) => `policy "p${i}" { ${q} }`).join('\n'),
      /line 201: a policy set has at most 200/,
    ],
  ])('%j', (content, expected) => {
    expect(() => readPoliciesFile(content, 'opa')).toThrow(expected);
    expect(() => readPoliciesFile(content, 'opa')).toThrow(/^policies.hcl line/);
  });

  it.each(['[', '{', '("${', 'a = "${['])('of a hundred thousand %j is rejected', (bracket) => {
    const hcl = `policy "p" {\n query = ${bracket.repeat(100_000)}`;
    expect(() => readPoliciesFile(hcl, 'opa')).toThrow(/policies\.hcl line \d+: /);
  });

  it('of a megabyte is read in one request', () => {
    const content = Array.from({ length: 40_000 }, (_, i) => `policy "p${i}" { ${q} }`).join('\n');
    expect(() => readPoliciesFile(content, 'opa')).toThrow(/at most 200/);
  });
});
