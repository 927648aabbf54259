import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';

/**
 * The release command in a clone of this checkout that is thrown away. Description and package are as small as they can
 * be: those of this checkout are tested in test/infra/openapi.test.ts and beside this file.
 */

const folder = join(mkdtempSync(join(tmpdir(), 'stepform-release-')), 'clone');
afterAll(() => rmSync(dirname(folder), { recursive: true, force: true, maxRetries: 5 }));

const author = Object.fromEntries(
  ['AUTHOR', 'COMMITTER'].flatMap((who) => [
    [`GIT_${who}_NAME`, 'A'],
    [`GIT_${who}_EMAIL`, 'a@example.com'],
  ]),
);
const run = async (program: string, ...args: string[]): Promise<string> => {
  const PATH = `${dirname(process.execPath)}:${process.env.PATH}`;
  const { stdout } = await promisify(execFile)(program, args, {
    cwd: existsSync(folder) ? folder : undefined,
    env: { ...process.env, ...author, PATH },
  });
  return stdout.trim();
};
const release = (...args: string[]) => run(process.execPath, 'infra/build/release.ts', ...args);
const text = (path: string) => readFileSync(join(folder, path), 'utf8');

await run('git', 'clone', '--quiet', '--depth=1', `file://${resolve('.')}`, folder);
symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
// A release needs a change; the checkout may have none since its last one.
const heading = '## [Unreleased]\n';
const changes = {
  'CHANGELOG.md': text('CHANGELOG.md').replace(heading, `${heading}\nWith a change.\n\n### Added\n\n- A.\n`),
  'infra/docs/generate.ts': `import { readFileSync, writeFileSync } from 'node:fs';
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
writeFileSync('infra/docs/openapi.json', JSON.stringify({ info: { version } }));`,
  'infra/build/package.ts': `import { execFileSync } from 'node:child_process';
execFileSync('npm', ['pack', '--pack-destination', process.argv[2]]);`,
  '.npmignore': '*',
};
for (const [name, content] of Object.entries(changes)) writeFileSync(join(folder, name), content);
await run('git', 'add', '.npmignore');
await run('git', 'commit', '--quiet', '--all', '--message', 'Add a change');
const tags = await run('git', 'tag');

it('refuses changes that are not committed, and a version that is not newer', async () => {
  writeFileSync(join(folder, 'forgotten.txt'), '');
  await expect(release()).rejects.toMatchObject({ stderr: expect.stringContaining('?? forgotten.txt') });
  rmSync(join(folder, 'forgotten.txt'));
  await expect(release('0.0.9')).rejects.toMatchObject({ stderr: expect.stringContaining('not newer than') });
  expect(await run('git', 'tag')).toBe(tags);
});

it('leaves a commit, a tag and files that belong together, and pushes nothing', async () => {
  await release('7.8.9');
  expect(await run('git', 'status', '--porcelain')).toBe('');
  expect(await run('git', 'log', '-1', '--format=%s', 'v7.8.9')).toBe('Release 7.8.9');
  expect(
    await run('git', 'diff', '--name-only', 'HEAD~1').catch(() => run('git', 'show', '--name-only', '--format=')),
  ).toContain('CHANGELOG.md');
  expect(await run('git', 'ls-remote', '--tags', 'origin', 'v7.8.9')).toBe('');
  const [, date] = /^## \[7\.8\.9\] - (\S+)$/m.exec(text('CHANGELOG.md')) ?? [];
  expect(Math.abs(Date.parse(String(date)) - Date.now())).toBeLessThan(2 * 86_400_000);
  const { packages } = JSON.parse(text('package-lock.json'));
  expect([JSON.parse(text('package.json')).version, packages[''].version]).toEqual(['7.8.9', '7.8.9']);

  expect(JSON.parse(text('infra/docs/openapi.json')).info.version).toBe('7.8.9');

  const files = join(folder, '.build/release');
  expect(readdirSync(files).sort()).toEqual([
    'NOTES.md',
    'SHA256SUMS',
    'stepform-7.8.9.cdx.json',
    'stepform-7.8.9.tgz',
  ]);
  const checked = await run('sh', '-c', 'cd .build/release && sha256sum --check --strict SHA256SUMS');
  expect(checked.split('\n')).toHaveLength(2);
  const manifest = JSON.parse(await run('tar', '-xzOf', join(files, 'stepform-7.8.9.tgz'), 'package/package.json'));
  expect(manifest).toMatchObject({ name: 'stepform', version: '7.8.9' });
  const { bomFormat, components, metadata } = JSON.parse(readFileSync(join(files, 'stepform-7.8.9.cdx.json'), 'utf8'));
  expect(bomFormat).toBe('CycloneDX');
  expect(metadata.component).toMatchObject({ name: 'stepform', version: '7.8.9' });
  const names = components.map(({ name }: { name: string }) => name);
  expect(names).toEqual(expect.arrayContaining(['preact', 'tar-stream']));
  expect(names).not.toContain('vitest');
  expect(readFileSync(join(files, 'NOTES.md'), 'utf8')).toMatch(/^[^#][\s\S]*### Added/);
  // The next one has nothing to release yet.
  await expect(release()).rejects.toMatchObject({ stderr: expect.stringContaining('nothing to release') });
});
