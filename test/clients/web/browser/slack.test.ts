import { expect, it } from 'vitest';
import { newName } from '#test/e2e/support/world.ts';
import { startSlack } from '#test/support/slack.ts';
import { wrongWith } from './support/accessibility.ts';
import { client, platform, visit } from './support/reader.ts';

/** An owner sets up the Slack app of the organization, and connects a Slack account. */

it('an owner sets up Slack, connects an account and disconnects it', async () => {
  const slack = await startSlack();
  const organization = newName('slack');
  await client.create('/organizations', 'organizations', { name: organization, email: 'a@b.test' });
  const app = `/organizations/${organization}/slack-app`;
  const page = await visit(`/app/${organization}/settings/general`);
  const panel = page.getByRole('region', { name: 'Slack app' });
  await panel.getByRole('button', { name: 'Set up Slack app' }).click();
  const form = page.getByRole('dialog', { name: 'Slack app' });
  const { url: address, ...fields } = slack.app;
  await form.getByLabel('Workspace ID').fill('wrong');
  await form.getByLabel('Client ID').fill(fields['client-id'] ?? '');
  await form.getByLabel('Client secret').fill(fields['client-secret'] ?? '');
  await form.getByLabel('Signing secret').fill(fields['signing-secret'] ?? '');
  await form.getByRole('button', { name: 'Save' }).click();
  await form.getByRole('alert').getByText('must be the id of a Slack workspace').waitFor();
  await form.getByLabel('Workspace ID').fill(fields['team-id'] ?? '');
  await form.getByRole('button', { name: 'Save' }).click();
  await panel.getByText(/\/slack\/slackapp-\w+\/interactions$/).waitFor();
  expect(await wrongWith(page, 'Slack app')).toEqual([]);
  // Slack itself cannot be reached from here: the stand-in takes its address.
  const { data } = await client.call('PUT', app, { data: { attributes: { ...fields, url: address } } });
  slack.issuer.trust(data.attributes['redirect-url']);

  slack.signIn('U1', 'T9999');
  await page.goto('/app/settings/tokens');
  const accounts = page.getByRole('region', { name: 'Slack accounts' });
  await accounts.getByRole('button', { name: 'Connect Slack' }).click();
  await page.getByText('another Slack workspace').waitFor();
  slack.signIn('U1');
  await page.goto('/app/settings/tokens');
  await accounts.getByRole('button', { name: 'Connect Slack' }).click();
  await accounts.getByText(/U1 of workspace T0001 · connected/).waitFor();
  expect(page.url()).toBe(`${platform.url}/app/settings/tokens`);
  expect(await wrongWith(page, 'Slack accounts')).toEqual([]);
  await accounts.getByRole('button', { name: 'Disconnect' }).click();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /Disconnect|Delete/ })
    .click();
  await accounts.getByRole('button', { name: 'Connect Slack' }).waitFor();
  await page.goto(`/app/${organization}/settings/general`);
  await panel.getByRole('button', { name: 'Remove' }).click();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /Remove|Delete/ })
    .click();
  await panel.getByRole('button', { name: 'Set up Slack app' }).waitFor();
  await expect(client.call('GET', app)).rejects.toThrow('no Slack app');
});
