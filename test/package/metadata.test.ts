import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { expect, it } from 'vitest';
import { packedOnce } from '#test/support/install-package.ts';

/** What registries and type checkers make of the tarball's manifest. */

const path = await packedOnce();
const tarball = readFileSync(path);

it('publint finds nothing to improve', async () => {
  const { messages, pkg } = await publint({ pack: { tarball: Uint8Array.from(tarball).buffer }, strict: true });
  expect(messages.map((message) => formatMessage(message, pkg ?? {}))).toEqual([]);
});

it('is published with its provenance, as the version of the checkout', () => {
  const manifest = JSON.parse(execFileSync('tar', ['-xzOf', path, 'package/package.json'], { encoding: 'utf8' }));
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(manifest).toMatchObject({ name: 'stepform', version, publishConfig: { provenance: true } });
  expect(manifest).not.toHaveProperty('private');
});

it('types are found by every way to resolve modules, and are those of the code', async () => {
  const analysis = await checkPackage(createPackageFromTarballData(new Uint8Array(tarball)));
  if (!analysis.types) throw new Error('the package has no types');
  // Node 22.12 and newer load an ES module with `require`, which construct.test.ts does.
  const problems = analysis.problems.filter(({ kind }) => kind !== 'CJSResolvesToESM');
  expect(problems).toEqual([]);
});
