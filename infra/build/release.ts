import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '#platform/program.ts';
import { nextVersion, released, sectionOf } from './changelog.ts';
import { build } from './stamps.ts';

/**
 * `npm run release [version]`, from a clean tree: the version by the changelog's kinds of changes, or the given one; the dated
 * section in CHANGELOG.md; a commit and a tag `v<version>`, which are not pushed; and in `.build/release` the package, its
 * software bill of materials (CycloneDX), checksums and release notes. Nothing is published. A failure leaves the tree as it was.
 */

const run = (program: string, ...args: string[]): string =>
  execFileSync(program, args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 2 ** 20 }).trim();
const git = (...args: string[]): string => run('git', ...args);

const changed = ['CHANGELOG.md', 'package.json', 'package-lock.json', 'infra/docs/openapi.json'];
const folder = join(build, 'release');
const file = (name: string): string => join(root, name);

/** @throws {Error} for a version that is not newer, or whose tag exists */
const chooseVersion = (changelog: string, requested: string | undefined): string => {
  const { version: current } = JSON.parse(readFileSync(file('package.json'), 'utf8')) as { version: string };
  const version = requested ?? nextVersion(current, changelog);
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error(`${version} is not a version such as 0.2.0`);
  const isNewer = version.localeCompare(current, 'en', { numeric: true }) > 0;
  if (!isNewer) throw new Error(`${version} is not newer than ${current}, the version in package.json`);
  if (git('tag', '--list', `v${version}`)) throw new Error(`the tag v${version} exists`);
  return version;
};

/** For a tool of the reader's choice; also of what only a build needs, because bundles are made with it. */
const writeBill = (name: string): void => {
  const bill = JSON.parse(run('npm', 'sbom', '--sbom-format=cyclonedx', '--omit=dev', '--package-lock-only'));
  // npm writes the name of the folder of the checkout.
  bill.metadata.component.name = 'stepform';
  writeFileSync(join(folder, name), `${JSON.stringify(bill, null, 2)}\n`);
};

/** `sha256sum --check SHA256SUMS` verifies the files. */
const writeChecksums = (): void => {
  const lines = readdirSync(folder)
    .sort()
    .map(
      (name) =>
        `${createHash('sha256')
          .update(readFileSync(join(folder, name)))
          .digest('hex')}  ${name}\n`,
    );
  writeFileSync(join(folder, 'SHA256SUMS'), lines.join(''));
};

const release = (requested: string | undefined): void => {
  const dirty = git('status', '--porcelain');
  if (dirty) throw new Error(`the tree has changes; commit or remove them:\n${dirty}`);
  const before = readFileSync(file('CHANGELOG.md'), 'utf8');
  const version = chooseVersion(before, requested);
  const changelog = released(before, version, new Date().toISOString().slice(0, 10));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  try {
    writeFileSync(file('CHANGELOG.md'), changelog);
    run('npm', 'version', version, '--no-git-tag-version', '--ignore-scripts');
    // The description of the API has the version.
    run(process.execPath, 'infra/docs/generate.ts');
    run(process.execPath, 'infra/build/package.ts', folder);
    writeBill(`stepform-${version}.cdx.json`);
    writeChecksums();
    writeFileSync(join(folder, 'NOTES.md'), `${sectionOf(changelog, version)}\n`);
    git('commit', '--quiet', '--message', `Release ${version}`, '--', ...changed);
    git('tag', '--annotate', `v${version}`, '--message', `stepform ${version}`);
  } catch (error) {
    git('checkout', '--quiet', '--', ...changed);
    throw error;
  }
  console.log(`\
stepform ${version} is committed and tagged as v${version}. .build/release has ${readdirSync(folder).join(', ')}.
After CI passed for this commit:

  git push --follow-tags
  npm publish .build/release/stepform-${version}.tgz

To take it back before the push: git tag --delete v${version} && git reset --hard HEAD~1`);
};

try {
  release(process.argv[2]);
} catch (error) {
  console.error(`Nothing is released: ${(error as Error).message}`);
  process.exitCode = 1;
}
