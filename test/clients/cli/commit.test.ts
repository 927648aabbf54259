import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { commitOf, webAddressOf } from '#clients/cli/commit.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stepform-commit-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const git = (...args: string[]): string => execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8' }).trim();

const checkout = (): void => {
  git('init', '-q', '-b', 'trunk');
  git('config', 'user.name', 'Ada');
  git('config', 'user.email', 'ada@example.com');
  git('remote', 'add', 'origin', 'git@github.com:acme/network.git');
  writeFileSync(join(folder, 'main.tf'), '');
  git('add', '.');
  git('-c', 'commit.gpgsign=false', 'commit', '-q', '-m', 'First network', '-m', 'And why.');
};

it('the commit of a run is the checked-out commit, with its URL', async () => {
  checkout();
  const sha = git('rev-parse', 'HEAD');
  expect(await commitOf(folder)).toEqual({
    'commit-sha': sha,
    'commit-message': 'First network',
    'commit-url': `https://github.com/acme/network/commit/${sha}`,
    branch: 'trunk',
    identifier: 'acme/network',
    'clone-url': 'https://github.com/acme/network',
    'sender-username': 'Ada',
  });
});

it('the commit of a run is absent for uncommitted changes and for repositories without commits', async () => {
  expect(await commitOf(folder)).toBeUndefined();
  checkout();
  writeFileSync(join(folder, 'more.tf'), '');
  expect(await commitOf(folder)).toBeUndefined();
});

it.each([
  ['https://user:secret@gitlab.example.com/a/b/c.git', 'https://gitlab.example.com/a/b/c'],
  ['ssh://git@git.example.com:2222/a/b.git', 'https://git.example.com/a/b'],
  ['git@bitbucket.org:a/b', 'https://bitbucket.org/a/b'],
  ['/srv/git/network.git', undefined],
])('a commit of %s has the URL %s, without credentials', (remote, address) => {
  expect(webAddressOf(remote)).toBe(address);
});
