import { expect, it } from 'vitest';
import { readSettings } from '#infra/settings/settings.ts';
import { localGithubAppVariable } from '#infra/stack/github-app.ts';

/** Settings of the GitHub App. */

const app = {
  githubAppId: '77',
  githubAppSlug: 'stepform-acme',
  githubAppClientId: 'Iv1.x',
  githubAppKeyParameter: '/stepform/github-app-key',
  githubAppClientSecretParameter: '/stepform/github-app-client-secret',
  githubAppWebhookSecretParameter: '/stepform/github-app-webhook-secret',
};

it('the GitHub App needs all settings or none', () => {
  expect(readSettings({ ...app }).githubAppId).toBe(77);
  expect(readSettings({}).githubAppId).toBeUndefined();
  for (const name of Object.keys(app)) {
    const { [name as keyof typeof app]: _, ...rest } = app;
    expect(() => readSettings(rest), name).toThrow(`${name}: is needed with`);
  }
});

it.each([
  ['an id that is no number', { githubAppId: 'x' }, 'githubAppId'],
  ['http', { githubAppUrl: 'http://git.example', githubAppApiUrl: 'https://git.example/api/v3' }, 'githubAppUrl'],
  ['one URL of two', { githubAppUrl: 'https://git.example' }, 'set both'],
  ['a secret in place of a name', { githubAppKeyParameter: '-----BEGIN KEY' }, 'githubAppKeyParameter'],
])('a GitHub App is rejected with %s', (_, change, words) => {
  expect(() => readSettings({ ...app, ...change })).toThrow(words);
});

it('the error for an invalid file names the variable of the local platform', () => {
  expect(localGithubAppVariable({})).toBe('');
  expect(() => localGithubAppVariable({ STEPFORM_GITHUB_APP: '/nowhere.json' })).toThrow('STEPFORM_GITHUB_APP');
});
