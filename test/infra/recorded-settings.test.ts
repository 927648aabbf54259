import { expect, it } from 'vitest';
import { dataFormat } from '#infra/settings/data-format.ts';
import { SettingsError } from '#infra/settings/settings.ts';
import { stackWith } from './stack-with.ts';
import { templates } from './template.ts';

it('both stacks record the settings of the operator, and refuse a deployment with others', () => {
  const { template, dataTemplate } = stackWith({ stackName: 'Second', warmRunners: '2', readySeconds: '60' });
  const settings = '{"readySeconds":60,"warmRunners":2}';
  for (const { Parameters, Rules, Outputs } of [template().toJSON(), dataTemplate().toJSON()]) {
    expect(Parameters.ConfirmedSettings).toMatchObject({ Type: 'String', Default: settings });
    expect(Rules.SettingsUnchanged.Assertions).toEqual([
      {
        Assert: { 'Fn::Equals': [{ Ref: 'ConfirmedSettings' }, settings] },
        AssertDescription: expect.stringContaining('npx stepform deploy'),
      },
    ]);
    expect(Outputs.DeployedSettings).toEqual({ Value: settings });
  }
});

it('both stacks refuse a version with another format of the data, and name the way out', () => {
  // biome-ignore lint/suspicious/noExplicitAny: documents are looked into at any depth
  for (const { Parameters, Rules, Outputs } of templates.map(({ template }): any => template)) {
    const format = String(dataFormat);
    expect(Parameters.ConfirmedDataFormat).toMatchObject({ Type: 'String', Default: format });
    expect(Rules.DataFormatUnchanged.Assertions).toEqual([
      {
        Assert: { 'Fn::Equals': [{ Ref: 'ConfirmedDataFormat' }, format] },
        AssertDescription: expect.stringContaining('restore the table to a time before the upgrade'),
      },
    ]);
    expect(Outputs.DataFormat).toEqual({ Value: format });
  }
});

it('settings that exceed a parameter are refused', () => {
  const signInGroupOrganizations = Array.from({ length: 200 }, (_, n) => `organization-number-${n}`);
  const signIn = { signInIssuer: 'https://id.example.com', signInClientId: 'a', signInGroupsClaim: 'groups' };
  expect(() => stackWith({ ...signIn, signInGroupOrganizations })).toThrow(SettingsError);
});
