import { describe, expect, it } from 'vitest';
import { readSettings } from '#infra/settings/settings.ts';
import { stackWith } from './stack-with.ts';
import { templates } from './template.ts';

/** A platform that uses a restored table, or data of another deployment. */

const key = 'arn:aws:kms:eu-central-1:123456789012:key/mrk-0123456789abcdef0123456789abcdef';
const all = { tableName: 'Stepform-restored', bucketName: 'stepform-objects', keyArn: key };
const wholly = { ...all, alarmEmail: 'ops@example.com' };

const platform = (context: Record<string, unknown>) => {
  const stacks = stackWith(context);
  const json = stacks.template().toJSON();
  return { ...stacks, json, text: JSON.stringify(json) };
};

describe('an existing table', () => {
  const { json, text, dataTemplate } = platform({ tableName: all.tableName });

  it('replaces that of the data stack, which stays as it is', () => {
    expect(json.Resources.RunsFunction.Properties.Environment.Variables.TABLE_NAME).toBe(all.tableName);
    // The stack of the data may be updated only after the platform no longer imports its table.
    expect(text).not.toContain('StorageTable');
    expect(text).toContain('ExportsOutputRefStorageBucket');
    type Data = { Resources: object; Outputs: Record<string, { Export?: object }> };
    const data = dataTemplate().toJSON() as Data;
    const before = templates[0]?.template as Data;
    expect(data.Resources).toEqual(before.Resources);
    const exportsOf = ({ Outputs }: Data) => Object.values(Outputs).filter(({ Export }) => Export);
    expect(exportsOf(data)).toEqual(exportsOf(before));
  });

  it('is the only one that functions have rights on', () => {
    const tables = [...text.matchAll(/:table\/([^"/]+)/g)].map(([, name]) => name);
    expect(new Set(tables)).toEqual(new Set([all.tableName]));
    expect(text).toContain(`:table/${all.tableName}/index/due`);
  });
});

describe('data that exists wholly', () => {
  const { app, data, json, text } = platform(wholly);

  it('needs no stack of its own', () => {
    expect(data).toBeUndefined();
    expect(app.synth().stacks.map(({ stackName }) => stackName)).toEqual(['Stepform']);
    expect(text).not.toContain('Fn::ImportValue');
  });

  it('is what functions, events and alarms use', () => {
    const { TABLE_NAME, BUCKET_NAME, KEY_ARN } = json.Resources.RunsFunction.Properties.Environment.Variables;
    expect({ tableName: TABLE_NAME, bucketName: BUCKET_NAME, keyArn: KEY_ARN }).toEqual(all);
    const rules = Object.values(json.Resources as Record<string, { Type: string; Properties: object }>).filter(
      ({ Type }) => Type === 'AWS::Events::Rule',
    );
    const patterns = rules
      .map(({ Properties }) => JSON.stringify(Properties))
      .filter((rule) => rule.includes('aws.s3'));
    expect(patterns.length).toBeGreaterThan(0);
    for (const pattern of patterns) expect(pattern).toContain(all.bucketName);
  });
});

describe('settings of existing data', () => {
  it.each([
    [{ keyArn: key }, 'keyArn: needs tableName and bucketName'],
    [{ keyArn: key, tableName: 'a-table' }, 'keyArn: needs tableName and bucketName'],
    [{ tableName: 'arn:aws:dynamodb:eu-central-1:123456789012:table/t' }, 'must be the name of a table (not its ARN)'],
    [{ ...all, keyArn: 'alias/stepform' }, 'must be the ARN of a key in KMS (not of an alias)'],
    [{ bucketName: 'Upper' }, 'must be the name of a bucket'],
  ])('%j are refused', (context, problem) => {
    expect(() => readSettings(context)).toThrow(problem);
  });
});
